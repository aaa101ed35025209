#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/lcp/direct/loop_stresses.h"
#include "lithe/lcp/modes/prepared_lcp.h"
#include "lithe/lcp/modes/row_role.h"
#include "lithe/linalg/padded_matrix.h"

namespace lithe::internal {

// A problem without the rows E that decide nothing: two-sided rows, and soft rows that are expected to stay between their
// bounds. Their w is zero, so their impulses follow from the others', and what remains is a smaller problem over the rows R:
//
//   A_EE + ε̄I = L Lᵀ,  Z = L⁻¹ A_ER,  y = L⁻¹ b_E:   A_R = A_RR − ZᵀZ,   b_R = b_R − Zᵀy,   f_E = −L⁻ᵀ(y + Z f_R)
//
// That is the ridge problem's, whose rows E creep: what E implies, as the dry friction of a joint that loops lock, has a small response
// of its own, and its mode is decided.
class ReducedLcp {
 public:
  // `roles`: per row of the problem. Rows that are not live are neither in E nor in R, nor are constant ones, whose impulses are part of b
  // already. `ridge`: ε̄, or 0 where all of E is soft.
  void reduce(const PreparedLcp& problem, const LoopStresses& stresses, std::span<const RowRole> roles,
              std::span<const double> b, double ridge);

  int size() const { return static_cast<int>(kept_.size()); }                  // of R
  std::span<const int> kept() const { return kept_; }                          // R: rows of the problem
  std::span<const int> eliminated() const { return eliminated_; }              // E
  std::span<const LcpRow> rows() const { return rows_; }                       // of R; `normal` counts there
  const PaddedMatrix& A() const { return A_; }                                 // A_R
  double diagonal(int i) const { return A_.at(i, i); }                         // of A_R
  double whole_diagonal(int i) const { return problem_->diagonal[kept_[i]]; }  // A_ii
  const double* b() const { return b_.data(); }                                // b_R, padded
  // What E, held still, leaves of the response of row i of R to its own impulse: that of A_R less ε̄ x², by which E creeps.
  double response_left(int i) const;

  // b_R of another right-hand side, by row of the problem: x_R − A_RE A_EE⁻¹ x_E, padded.
  void reduce_vector(std::span<const double> x, double* out) const;
  // f of all rows of the problem, but for constant ones, from f_R (padded), for a right-hand side by row of the problem.
  void recover(const double* f_R, std::span<const double> b, std::span<double> f) const;
  // The same for the rows of E alone.
  void recover_eliminated(const double* f_R, std::span<const double> b, std::span<double> f) const;

 private:
  void list_rows(const PreparedLcp& problem, std::span<const int> two_sided, std::span<const RowRole> roles);
  void factorize(const PreparedLcp& problem);
  void fill_A(const PreparedLcp& problem);
  void subtract_squares();
  void gather(const double* x, int first, double* out) const;
  void eliminate(double* x) const;
  void substitute(double* x, int count) const;
  int eliminated_count() const { return static_cast<int>(eliminated_.size()); }
  const double* factor(int q) const { return factors_.data() + static_cast<std::ptrdiff_t>(q) * factor_stride_; }

  const PreparedLcp* problem_ = nullptr;
  double ridge_ = 0;
  std::vector<int> kept_, eliminated_, place_;
  std::vector<int> inert_;  // rows that are not live
  std::vector<LcpRow> rows_;
  PaddedMatrix A_;
  AlignedBuffer b_;
  // Per row q of E its row of Lᵀ and of Z, side by side. The diagonal is apart, and zero here, so that sums over packs leave it out.
  AlignedBuffer factors_;
  std::vector<double> inverse_diagonal_;
  int factor_stride_ = 0, padded_E_ = 0, padded_R_ = 0;
  std::vector<double> shares_;  // workspace: a column of Z or of L
  mutable AlignedBuffer work_;  // a vector over E and R
};

}  // namespace lithe::internal
