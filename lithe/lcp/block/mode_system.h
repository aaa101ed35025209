#pragma once

#include <span>
#include <vector>

#include "lithe/lcp/factored_lcp.h"
#include "lithe/linalg/block_factor.h"
#include "lithe/linalg/factor_updates.h"

namespace lithe::internal {

// The linear equations of one classification of a factored problem, solved over blocks instead of rows.
//
// Rows C clamp and friction rows B at their bounds follow their normals, f_B = E f_C. With G the forms of C and
// P = G + Eᵀ G_B, the mode's matrix is A_C = G Pᵀ, and
//
//   S := ε̄ I + Pᵀ G,   (A_C + ε̄ I) G = G S,
//
// is a matrix over coordinates, as sparse as the graph of blocks and symmetric where nothing slides. For x = −b_C − A_C0 f₀,
//
//   y ← y + S⁻¹ Pᵀ (x − G y)                          until it stands still; r := x − G y is inconsistent, Pᵀ r = 0
//   ridge      f_C = G S⁻¹ y + (r − G S⁻¹ Pᵀ r)/ε̄     exact for any y; r is small, so nothing cancels
//   polished   f_C = A_C# x = G z,   z ← z − S⁻¹ S⁻¹ Pᵀ w_C   in the range of G from the start
//
// No rank is decided: redundant rows cost nothing, singular values below ε̄ count as zero.
class BlockModeSystem {
 public:
  // Both are looked at until the next bind.
  void bind(const FactoredLcp& lcp, const BlockGraph& graph);

  // w = A f and w = A f + b, all rows.
  void apply(std::span<const double> f, std::span<double> w);
  void evaluate(std::span<const double> f, std::span<double> w);
  // u = Gᵀ f, all rows; and g_i·u.
  void push(std::span<const double> f, double* u) const;
  double form(int row, const double* u) const;
  void add_form(int row, double factor, double* u) const;  // u += factor·g_i
  // One sweep of Gauss–Seidel over A + ridge·I and the rows whose A_ii is more than `inert`, with u = Gᵀ f brought up to date; returns the
  // largest change of a row's own w.
  double sweep(double ridge, double inert, std::span<double> f, double* u) const;
  int coordinates() const { return graph_->coordinates(); }

  // S of these modes; `ridge` is ε̄. False where it is singular.
  bool factorize(std::span<const RowMode> modes, double ridge);
  // The same with the last ridge, by updates of the last factor where few rows differ; modes are consistent (PreparedLcp), then and
  // now.
  bool refactorize(std::span<const RowMode> modes);
  bool updated() const { return updates_.count() > 0; }
  bool symmetric() const { return symmetric_; }
  int clamping_rows() const { return static_cast<int>(clamping_.size()); }
  std::span<const int> clamping() const { return clamping_; }

  // The impulses of the ridge problem with the factor's ridge or a smaller one: f = A# x − ε̄ A# A# x from the same factor, since
  // below 1e-11 its own rounding would be of the ridge's size. What is inconsistent by less than 1e-14 of `scale` counts as consistent.
  void solve(double ridge, double scale);
  // The same without that tolerance, for the repair: the impulses are those of the factor's own ridge.
  void solve_exactly();
  // f_C += (A_C + ε̄ I)⁻¹ r_C of the clamping rows, to the digits that one solve gives: seven of r.
  void correct(std::span<const double> r, std::span<double> f);
  std::span<const double> f() const { return {f_.data(), lcp_->rows.size()}; }
  // The largest |w_C| that f leaves.
  double bend() const { return bend_; }
  bool consistent() const { return consistent_; }
  // r of all rows, friction rows that slide with their normals: pushes that move nothing, if there is any.
  void inconsistent_part(std::span<double> r) const;

  // The polished impulses: first those of solve() without what is inconsistent, then improved by what w they leave.
  void start_polish(std::span<double> f);
  void improve_polish(std::span<const double> w, std::span<double> f);
  // Whether solve() has had the factor's own ridge and nothing inconsistent: then start_polish() gives f(), and the first improvement needs
  // no w: z ← z + S⁻¹ (y − Pᵀ f_C).
  bool is_plain() const { return plain_; }
  void improve_plain_polish(std::span<double> f);

  // Whether the rows of row i's group that clamp in `modes` leave no more than `share` of its A_ii, so that they imply it.
  bool implied_by_group(int row, std::span<const RowMode> modes, double share);

  // out_C = A_C# x_C, or A_C#ᵀ x_C = P S⁻ᵀ S⁻ᵀ Gᵀ x_C, by row; zero outside C. Refined until it stands still.
  void apply_inverse(std::span<const double> x, std::span<double> out, bool transposed);

  // u = ε̄ S⁻¹ g_i: how coordinates answer a push in row i while the modes hold.
  void respond(int row, double* u);

 private:
  struct Side {
    int start_a, start_b;  // in vectors
    int width_a, width_b;
  };
  void gather(std::span<const RowMode> modes);
  void assemble(double ridge);
  void solve_S(double* x) { updates_.solve(factor_, x); }
  bool update(std::span<const RowMode> modes);
  void update_contact(int normal, std::span<const int> rows, std::span<const RowMode> modes);
  void add_update(const double* u, int group, const double* v);
  void set_right_side();
  using Forms = std::vector<const double*>;
  void multiply(const Forms& forms, const double* u, double* x) const;             // x_C = forms u
  void multiply_transposed(const Forms& forms, const double* x, double* u) const;  // u = formsᵀ x_C
  void multiply_G(const double* u, double* x) const { multiply(G_, u, x); }
  void multiply_P_transposed(const double* x, double* u) const { multiply_transposed(P_, x, u); }
  void settle_y(double scale);
  void expand(const double* f_C, std::span<double> f) const;

  const FactoredLcp* lcp_ = nullptr;
  const BlockGraph* graph_ = nullptr;
  BlockFactor factor_;
  FactorUpdates updates_;
  std::vector<RowMode> factored_;  // the modes that both stand for
  std::vector<int> differing_;     // rows
  AlignedBuffer update_u_;
  AlignedBuffer scratch_;  // for a moment, over the coordinates of one group
  double ridge_ = 0;
  bool symmetric_ = true, consistent_ = true, plain_ = false;
  double bend_ = 0;

  // Per problem.
  std::vector<const double*> forms_;  // of each row
  std::vector<int> group_of_;         // of each row
  std::vector<Side> sides_;           // of each group
  struct Offsets {
    std::ptrdiff_t aa, bb, ab, ba;
  };
  std::vector<Offsets> offsets_;  // of each group's blocks of S

  // Per classification.
  std::span<const RowMode> modes_;
  std::vector<int> clamping_;
  std::vector<int> first_;         // of each group in `clamping_`, and one past the last
  Forms G_, P_;                    // of each clamping row
  AlignedBuffer pushes_;           // P of normals that friction rows follow
  AlignedBuffer x_, r_, g_, f_C_;  // m
  AlignedBuffer f_;                // n
  AlignedBuffer y_, z_, d_, e_;    // coordinates
};

}  // namespace lithe::internal
