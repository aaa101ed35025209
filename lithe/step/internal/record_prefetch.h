#pragma once

#include "lithe/step/internal/step_tape.h"
#include "lithe/step/step_record.h"

namespace lithe::internal {

// For who takes derivatives of many records and knows which is next: their memory is fetched while another one is worked on.
//
// A processor that is asked for a whole record at once does nothing else until most of it is there. So prefetch_buffers() asks
// for some of what the record points to, and derivatives call prefetch_more() on their way, which asks for some more of what
// this thread announced last.
void prefetch_record(const StepRecord& record);  // itself: for prefetch_buffers(), which reads where its buffers are
void prefetch_buffers(const StepRecord& record);
void prefetch_more();

}  // namespace lithe::internal
