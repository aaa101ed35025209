#pragma once

#include <vector>

#include "lithe/lcp/padded_matrix.h"

namespace lithe {

// LU factors with row exchanges of a regular matrix, which is written into `matrix` first (columns padded with zeros).
class DenseLu {
 public:
  PaddedMatrix matrix;

  // False where a pivot is zero or not finite.
  bool factorize();
  // x ← A⁻¹ x, n entries.
  void solve(double* x) const;

 private:
  std::vector<int> exchanged_;
  AlignedBuffer multipliers_;
};

// A ← A⁻¹ by Gauss–Jordan elimination in place, with row exchanges if `exchange` (a positive definite A needs none).
// False, and A's content lost, where a pivot is zero or not finite.
bool invert(PaddedMatrix& A, bool exchange, std::vector<int>& exchanged);

}  // namespace lithe
