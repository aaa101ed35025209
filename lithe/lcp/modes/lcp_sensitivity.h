#pragma once

#include <span>
#include <vector>

#include "lithe/lcp/modes/mode_factor.h"
#include "lithe/lcp/modes/tied_rows.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe::internal {

// How the solution of a boxed LCP moves with its data, as long as every row stays in its mode.
//
// With X taking f_C to all rows (the identity on C, E on the friction rows at their bounds) and f = X f_C + f₀, the mode
// says w_C = 0. Differentiated, with y := X A_C# f_C (n) and g := the part of ∂f that moves at fixed f_C (±∂μ f_n on
// friction rows at a bound, ∂bound on rows at a constant one),
//
//   ∂f_C = −A_C# r_C + (I − A_C# A_C) s_C,   r = ∂b + ∂A f + A g,   s = ∂A y + A g(y)
//   ∂f   = X ∂f_C + g,                       ∂w = ∂b + ∂A f + A ∂f
//
// where g(y) is ±∂μ y_n. The second term is how the null space of A_C turns: f is the one solution of its mode that lies
// in the range of A_C (the ridge's limit), and that range moves with A. It vanishes where A_C is regular, and is left out
// where f is another solution of the mode: `unpolished`, or no group inverse (then A_C⁺ stands for A_C#). The formulas
// assume that the rank stays. Where (I − A_C A_C#) r_C ≠ 0 it cannot: the direction breaks the mode as a tie does,
// and forward() says by how much.
//
// A enters by two products only, ∂A f and ∂A y, and transposed(), which goes from ∂ℓ/∂f and ∂ℓ/∂w to ∂ℓ/∂(all data),
// gives ∂ℓ/∂A as a sum of two dyads; so none of it needs ∂A itself.

// One direction in which the data move. n entries each; empty: zero.
struct LcpDirection {
  std::span<const double> dA_f = {};       // ∂A f
  std::span<const double> dA_y = {};       // ∂A y, y from LcpSensitivity; not read unless has_null_term()
  std::span<const double> db = {};         // ∂b, the targets' part −∂d included
  std::span<const double> dtarget = {};    // ∂d: where the solver dropped targets, that part is taken out again
  std::span<const double> dfriction = {};  // ∂μ of friction rows
  std::span<const double> dlower = {}, dupper = {};  // of bounded rows
};

// The gradient of some ℓ(f, w) by the data, n entries each.
struct LcpGradient {
  std::vector<double> b;             // at fixed target
  std::vector<double> target;        // at fixed b
  std::vector<double> friction;      // by μ; zero on rows of other kinds
  std::vector<double> lower, upper;  // zero except at the bound in force
  std::vector<double> null;          // ∂ℓ/∂A = b fᵀ + null yᵀ
};

class LcpSensitivity {
 public:
  // The solution (modes, f) of lcp, and the flags it was reported with. Keeps a view of lcp: its numbers must outlive
  // the calls below.
  void compute(const BoxedLcp& lcp, std::span<const RowMode> modes, std::span<const double> f,
               LcpFlag flags = LcpFlag::none);

  const ModeFactor& factor() const { return factor_; }
  std::span<const double> y() const { return y_; }
  // Whether f depends on how the range of A_C turns.
  bool has_null_term() const { return has_null_term_; }
  // Rows about to change their mode (flag `tied`): the derivative is that of the side on which their mode puts them.
  std::span<const int> tied() const { return has(flags_, LcpFlag::tied) ? tied_.kinks() : std::span<const int>(); }

  // Writes ∂f and ∂w (n each) and returns the share of r_C that no ∂f can balance, (I − A_C A_C#) r_C: rounding where the
  // direction keeps the mode; from about kInconsistent on, it does not.
  double forward(const LcpDirection& direction, std::span<double> df, std::span<double> dw);
  static constexpr double kInconsistent = 1e-7;

  // The transposed product: f_bar = ∂ℓ/∂f and w_bar = ∂ℓ/∂w (n each; w_bar may be empty) become the gradient by the data.
  void transposed(std::span<const double> f_bar, std::span<const double> w_bar, LcpGradient& gradient);

 private:
  void list_bounds();
  void find_y();
  void find_tied();
  bool dropped(int row) const;
  void solve(std::vector<double>& x);
  void solve_transposed(std::vector<double>& x);
  double inconsistency();
  void add_null_term(const LcpDirection& direction);
  void check_direction(const LcpDirection& direction) const;

  BoxedLcp lcp_;
  LcpFlag flags_ = LcpFlag::none;
  ModeFactor factor_;
  MatX pseudo_inverse_;  // A_C⁺ (m×m), only without a group inverse
  bool has_null_term_ = false;
  std::vector<RowMode> modes_;
  std::vector<int> position_;                           // of a row in C, or −1
  std::vector<int> friction_bounds_, constant_bounds_;  // rows at a bound that dfriction, dlower and dupper move
  std::vector<double> side_;                            // of a row at its lower (−1) or upper (1) bound, else 0
  std::vector<double> f_, y_;
  PreparedLcp prepared_;  // only for ties
  TiedRows tied_;
  std::vector<double> g_, r_, s_, size_;  // n
  std::vector<double> x_C_, null_C_;      // m
};

}  // namespace lithe::internal
