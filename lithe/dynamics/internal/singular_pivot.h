#pragma once

#include <limits>

#include "lithe/spatial/internal/lane_algebra.h"

namespace lithe::internal {

// When a DoF meets no resistance: a gimbal lock of massless links, two joints that do the same, a point mass on its
// own axis. Elimination then leaves a pivot that should be zero and is rounding, of either sign.
//
// A pivot Sᵀ I S counts as rounding below a share of what it was before the DoFs below were eliminated, or of the
// numbers that cancel in it: about the tree's origin, |ω|²·trace(I) and m·|v|² can be far larger than their sum
// with the mixed term.
inline constexpr double kSingularShare = 1e-13;
inline constexpr double kRoundingShare = 64 * std::numeric_limits<double>::epsilon();

// Never negative, whatever inertias the model allows. For four DoFs with their axes S and the composite inertias I of their subtrees.
LITHE_INLINE Pack singular_pivot(const Motion<Pack>& S, const Inertia10<Pack>& I, Pack armature) {
  const Pack diagonal = dot(S, I * S) + armature;
  const Pack moments = absolute(I.xx) + absolute(I.yy) + absolute(I.zz);
  const Pack cancelling = dot(S.w, S.w) * moments + dot(S.v, S.v) * I.m;
  return kSingularShare * absolute(diagonal) + kRoundingShare * cancelling;
}

}  // namespace lithe::internal
