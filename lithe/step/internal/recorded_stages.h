#pragma once

#include "lithe/step/internal/step_stages.h"
#include "lithe/step/step_record.h"

namespace lithe::internal {

// The stages of the record's step. Each thread has those of the step that it took or asked about last at hand; others are
// computed anew, with the same bits. They stay until this thread takes or asks about another step of such a model.
const StepStages& stages_of(const Model& model, const StepRecord& record);
const StepStages& force_stages_of(const Model& model, const StepRecord& record);
const StepStages& mass_stages_of(const Model& model, const StepRecord& record);

// The same, for those who know that this thread asked about this record last.
const StepStages& stages_of(const StepRecord& record);
inline const ContactProblem& problem_of(const StepRecord& record) { return stages_of(record).problem; }

// The LCPs that the step has solved, A and b included, put together once more: for tests and rare questions. Allocates.
ContactProblem lcps_of(const Model& model, const StepRecord& record);

}  // namespace lithe::internal
