#pragma once

#include "lithe/lcp/boxed_lcp.h"

namespace lithe::internal {

// What of a row's target may contradict others: a positive one of a one-sided row, any of a two-sided one.
inline double doubtful_target(const LcpRow& row, double target) {
  return row.kind == RowKind::two_sided || (row.kind == RowKind::one_sided && target > 0) ? target : 0.0;
}

}  // namespace lithe::internal
