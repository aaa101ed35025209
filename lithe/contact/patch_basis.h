#pragma once

#include "lithe/simd/lanes.h"

namespace lithe::internal {

// Some rows of a matrix T (rows × columns, at most kMostColumns) as a product Q R: Q has orthonormal columns (rows × rank), zero
// on the rows that do not count, and R = Qᵀ T (rank × columns).
//
// Columns of T and Q are `stride` apart, a multiple of kLanes; entry (c, k) of R is R[k·padded(rank) + c].
class PatchBasis {
 public:
  static constexpr int kMostColumns = 12;
  // A column is dependent where what is left of it is below this share of it. The solver is not that strict: it judges the
  // Delassus matrix, where shares are squares. But it shares impulses out in proportion to T, all of it: rows that almost depend
  // on one another, as those of points that are almost one do, still differ, and a basis without that would be wrong by as much.
  static constexpr double kDependent = 1e-10;

  // `counts`: 1 or 0 for each of the `stride` rows. Returns the rank.
  int compute(const double* T, int stride, int columns, const double* counts, double* Q);
  // R of the last compute() into room for columns × padded(rank) numbers.
  void write_R(double* R) const;

 private:
  bool by_gram(const double* T, int stride, const double* counts, double* Q);
  void by_columns(const double* T, int stride, int columns, const double* counts, double* Q);

  int rank_ = 0, columns_ = 0;
  double R_[kMostColumns][kMostColumns] = {};  // by coordinate and column
  AlignedBuffer work_;
};

}  // namespace lithe::internal
