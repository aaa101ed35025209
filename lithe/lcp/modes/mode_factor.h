#pragma once

#include <span>
#include <vector>

#include "lithe/lcp/boxed_lcp.h"
#include "lithe/linalg/rank_factor.h"

namespace lithe::internal {

// The linear system of one classification. With E taking the clamping impulses to the friction rows at their bounds
// (f_B = E f_C) and f₀ the rows at constant bounds,
//
//   A_C f_C = −b_C − A_C0 f₀,   A_C := A_CC + A_CB E   (m×m)
//
// A_C is symmetric where B is empty, and singular as a rule. It is kept as a rank factorisation A_C = U V (U m×r,
// V r×m) from complete pivoting, and every solve goes through the group inverse
//
//   A# = U (VU)⁻² V,   (A + εI)⁻¹ x = A# x + (I − A A#) x / ε + O(ε),   A# = A⁺ where A is symmetric,
//
// which is the limit of the ridge problem that defines the solution. A friction row counts as clamping only where its
// normal does. Const members may be called from several threads at once.
class ModeFactor {
 public:
  // Pivots are judged as shares of √(A_ii A_jj); what remains below the tolerance ends the factorisation.
  void compute(const BoxedLcp& lcp, std::span<const RowMode> modes, double rank_tolerance = 1e-10);

  int size() const { return static_cast<int>(clamping_.size()); }  // m
  int rank() const { return factor_.rank; }
  bool symmetric() const { return symmetric_; }
  // False where VU is singular: there is no group inverse, and solve() must not be used.
  bool has_group_inverse() const { return has_group_inverse_; }
  // The first pivot left out and the last one taken, as shares: whether the rank is beyond doubt.
  double rejected_pivot() const { return factor_.rejected_pivot; }
  double last_pivot() const { return factor_.last_pivot; }
  // The smallest one taken, as it is; infinite where there is none.
  double smallest_pivot() const { return factor_.smallest_pivot; }

  std::span<const int> clamping() const { return clamping_; }  // rows in C, ascending
  std::span<const int> bounded() const { return bounded_; }    // friction rows at a bound whose normal is in C

  // A_C (m×m, column-major, columns padded with zeros). Where it is symmetric nobody needs it as a rule: then it is there
  // only after gather().
  const double* matrix() const { return matrix_.data.data(); }
  int matrix_stride() const { return matrix_.stride; }
  void gather(const BoxedLcp& lcp, std::span<const RowMode> modes);

  // m entries in, m entries out; x may be out.
  void solve(std::span<const double> x, std::span<double> out) const;             // A# x
  void solve_transposed(std::span<const double> x, std::span<double> out) const;  // A#ᵀ x
  void project_null(std::span<const double> x, std::span<double> out) const;      // (I − A A#) x
  void project_null_transposed(std::span<const double> x, std::span<double> out) const;
  // A# x, (I − A A#) x and, unless it is empty, A# A# x in one go. None of them may be x.
  void split(std::span<const double> x, std::span<double> solution, std::span<double> null_part,
             std::span<double> twice) const;

  // f_C (m) to all rows: f_B = E f_C, constant bounds and zeros filled in.
  void expand(const BoxedLcp& lcp, std::span<const RowMode> modes, std::span<const double> f_C,
              std::span<double> f) const;

 private:
  void list_rows(const BoxedLcp& lcp, std::span<const RowMode> modes);
  void invert_core();
  const PaddedMatrix& Vt() const { return symmetric_ ? factor_.U : factor_.Vt; }

  std::vector<int> clamping_, bounded_, position_, exchanged_;
  PaddedMatrix matrix_;
  RankFactor factor_;
  PaddedMatrix core_;  // (VU)⁻¹, r×r
  AlignedBuffer inverse_scale_;
  bool symmetric_ = true;
  bool has_group_inverse_ = true;
};

}  // namespace lithe::internal
