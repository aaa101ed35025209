#pragma once

#include <span>
#include <vector>

#include "lithe/linalg/padded_matrix.h"

namespace lithe::internal {

// A square matrix A (m×m) as a product of full-rank factors, A ≈ U V with U m×r and V r×m.
//
// Rows keep their places: a pivot is chosen, never swapped. Entry (i, j) is judged by its share |A_ij| / (s_i s_j) of a
// given scale s > 0 (for a Delassus matrix s_i = √A_ii), so that a finger's rows and a tank's rows, whose entries may
// differ by 1e8, are judged alike. The pivot is the largest share; what remains below `tolerance` ends it.
struct RankFactor {
  PaddedMatrix U;   // m×r
  PaddedMatrix Vt;  // Vᵀ, m×r; empty where A is symmetric: then V = Uᵀ
  int rank = 0;
  double rejected_pivot = 0;  // the first share left out
  double last_pivot = 0;      // the last share taken; 0 where r = 0
  double smallest_pivot = 0;  // as it is

  // A symmetric and positive semidefinite: Cholesky with diagonal pivoting (Higham 2002, §10.3). A is the part of a
  // larger matrix (columns `stride` apart, padded with zeros) that the listed rows and columns make, s_i = √A_ii. Only
  // its diagonal and r of its columns are read.
  void compute_symmetric(const double* matrix, int stride, int matrix_size, std::span<const int> rows,
                         double tolerance);
  // Any A (m×m): LU with complete pivoting.
  void compute_general(const PaddedMatrix& A, const double* inverse_scale, double tolerance);

 private:
  AlignedBuffer remaining_;  // of the diagonal, or of the columns, in shares
  PaddedMatrix work_;        // A less the products taken off it so far
  std::vector<int> open_;    // columns that have not been pivots
};

}  // namespace lithe::internal
