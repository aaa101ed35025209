#pragma once

#include <span>

#include "lithe/lcp/boxed_lcp.h"

namespace lithe::internal {

// What rows at a bound push in a classification: friction rows a share of their normal's impulse, bounded rows their bound.
//
// ±μ of a friction row that slides under a clamping normal, else 0.
inline double share_of_normal(const LcpRow& row, RowMode own, std::span<const RowMode> modes) {
  if (!is_at_bound(own) || row.kind != RowKind::friction || modes[row.normal] != RowMode::clamping) return 0;
  return own == RowMode::at_upper ? row.friction : -row.friction;
}

// The impulse of a bounded row that is at a bound, else 0.
inline double imposed_impulse(const LcpRow& row, RowMode own) {
  if (!is_at_bound(own) || row.kind != RowKind::bounded) return 0;
  return own == RowMode::at_upper ? row.upper : row.lower;
}

}  // namespace lithe::internal
