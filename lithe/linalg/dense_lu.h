#pragma once

#include <vector>

#include "lithe/linalg/padded_matrix.h"

namespace lithe::internal {

// LU factors with row exchanges of a regular matrix, which is written into `matrix` first (columns padded with zeros).
class DenseLu {
 public:
  PaddedMatrix matrix;

  // False where a pivot is zero or not finite.
  bool factorize();
  // x ← A⁻¹ x, n entries.
  void solve(double* x) const;

 private:
  std::vector<int> exchanged_;  // by pivot: the row that came into its place
  AlignedBuffer multipliers_;   // of one pivot, zero up to it: its part of L
};

// A ← A⁻¹ by Gauss–Jordan elimination in place. False, and A's content lost, where a pivot is zero or not finite.
bool invert(PaddedMatrix& A, std::vector<int>& exchanged);
// The same for a symmetric, positive definite A, without exchanges; false where it is not positive.
bool invert_positive(PaddedMatrix& A);

}  // namespace lithe::internal
