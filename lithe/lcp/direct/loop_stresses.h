#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/lcp/modes/prepared_lcp.h"
#include "lithe/lcp/modes/tolerances.h"

namespace lithe::internal {

// Two-sided rows that others of their kind imply, as those of loops that close in a plane, and the stresses among them:
// impulses N (orthonormal columns) that move nothing, A_22 N = 0. Which rows imply which is found by Cholesky with diagonal pivoting:
// in a plane one of three directions has next to no response, and dividing by that would leave nothing but rounding.
//
// Their targets contradict one another as soon as the loops have drifted. Of b_2 only b_2 − N Nᵀb_2 can be met, in the
// sense of least squares; what is left out the ridge would answer with impulses of 1/ε̄. Among many impulses that move the
// model alike, the group inverse chooses those with Nᵀf_2 = 0.
class LoopStresses {
 public:
  // Rows are implied where others leave at most this share of A_ii.
  void find(const PreparedLcp& problem, double implied_share = kImpliedByLoops);

  int count() const { return count_; }
  // Two-sided and live rows, those that others imply last: rows of the problem.
  std::span<const int> rows() const { return rows_; }
  // x_2 − N Nᵀx_2 in place, by row of the problem; returns the largest |Nᵀx_2|.
  double remove_from(std::span<double> x) const;
  // Loops close to the digits of a file: what they imply is not implied exactly. Where that is more than rounding, A with the rows and
  // columns that those which imply them make of it is written to `out` (stride as A's), and true returned: there A_22 N = 0.
  bool make_exact(const PreparedLcp& problem, AlignedBuffer& out);

 private:
  void exchange(int p, int q);
  void add_stress(int q, int rank);
  bool find_columns(const PreparedLcp& problem);
  double* row(int q) { return L_.data() + static_cast<std::ptrdiff_t>(q) * stride_; }
  double* shares(int s) { return shares_.data() + static_cast<std::ptrdiff_t>(s) * stride_; }
  double* stress(int s) { return stresses_.data() + static_cast<std::ptrdiff_t>(s) * stride_; }
  const double* stress(int s) const { return stresses_.data() + static_cast<std::ptrdiff_t>(s) * stride_; }

  std::vector<int> rows_;
  int stride_ = 0;                     // of the following, which have one entry per row, padded with zeros
  AlignedBuffer L_;                    // by rows
  std::vector<double> left_;           // of A_ii
  std::vector<std::uint8_t> implied_;  // by row of the problem
  AlignedBuffer shares_;               // of the others in an implied row
  AlignedBuffer stresses_;             // N
  AlignedBuffer columns_;              // of A where rows are implied exactly
  mutable AlignedBuffer x_;            // workspace: x_2
  int count_ = 0;
};

}  // namespace lithe::internal
