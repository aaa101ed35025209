#pragma once

#include <deque>
#include <span>
#include <vector>

#include "lithe/contact/contact_problem.h"
#include "lithe/contact/patch_basis.h"
#include "lithe/contact/tree_response.h"
#include "lithe/lcp/solve_lcp.h"
#include "lithe/linalg/rank_factor.h"

namespace lithe::internal {

// How the impulses of a step answer a disturbance, as long as every row stays in its mode (docs/gradients.md).
//
// Rows C clamp: J_C v⁺ + D f_C = d_C (D: compliance). Friction rows B at their bounds follow, f_B = E f_C; with X taking f_C
// to all rows, P := Jᵀ X. The mode's matrix A_C = J_C M̂⁻¹ P + D is singular as a rule, and the solver's f_C = −A_C# b_C goes
// through its group inverse (lcp/modes/mode_factor.h). A disturbance ρ of the momentum balance and ε of the rows,
//
//   M̂ ∂v⁺ = P ∂f_C − ρ,    J_C ∂v⁺ + D ∂f_C = ε,
//
// is answered by  ∂f_C = A_C# (ε + J_C M̂⁻¹ ρ) + (I − A_C# A_C) c,  c = ∂J_C·z,  y = A_C# f_C,  z = M̂⁻¹P y: the last term
// is how the choice among many f moves with the mode's range. Of ∂A_C·y it has all but J_C ∂z and ∂D·y, which are in that range.
//
// However many rows press on a body, they feel no more than its twist. So each patch's clamping rows are written as T_C = Q R
// with orthonormal Q (rows × rank ≤ 6), and all that is inverted is one small matrix per island:
//
//   A_C = Q Z,   Z = R Λ P_F + D̃ Qᵀ,   B := Z Q = R Λ P̃ + D̃,   A_C# = Q B#² Z,   so A_C# ε = Q B# Qᵀ ε for ε = Q Qᵀ ε
//
// where P_F = Tᵀ X are the rows' pushes on the touches and P̃ = P_F Q. Two flat feet: 36 rows, B is 12×12 and regular. What of ε
// is outside the range of Q no impulse can balance; it is left out.
class ModeResponse {
 public:
  // `modes`: by row of the problem, the step's own or others. Islands whose report says `unpolished` or `unsolved` get no
  // null-space term. `matrices`: inverse() will be asked for; without it, islands that were solved without A get no B# either, and
  // are answered by algebra over their trees.
  void compute(const DofTree& tree, const ContactProblem& problem, std::span<const RowMode> modes,
               std::span<const LcpReport> reports, bool matrices = false);

  // One per patch of the problem, same order and touches; `row_count` is the rank and `first_row` counts coordinates.
  const std::vector<Patch>& patches() const { return compressed_; }
  std::span<const Patch> patches_of(const ContactProblem& problem, int island) const {
    return std::span(compressed_).subspan(problem.first_patch[island], problem.patches_of(island).size());
  }
  // Q of a patch: a column of patch.stride (of the problem's patch) per coordinate, zero on rows that do not clamp.
  const double* Q(int patch) const { return Q_.data() + Q_start_[patch]; }
  // R and P̃ᵀ, laid out as patches() say; equal where nothing slides.
  const double* R() const { return R_.data(); }
  const double* Pt() const { return sliding_ ? Pt_.data() : R_.data(); }

  // Qᵀ of other forms laid out as the problem's coefficients, into the layout of patches(); only rows that clamp count.
  void compress_forms(const ContactProblem& problem, const double* forms, AlignedBuffer& out) const;

  // Per island.
  struct Part {
    int first = 0, size = 0;  // coordinates
    int clamping = 0;         // rows
    int dofs = 0;             // of its trees
    int rank = 0;             // of A_C
    int stride = 0;
    std::ptrdiff_t start = 0;  // of B#
    bool sliding = false;      // B is not empty
    bool regular = true;       // B# = B⁻¹, but for coordinates that nothing moves
    bool null_term = false;    // ∂v⁺ depends on c
    bool polished = true;      // f = −A_C# b
    bool refined = false;      // B is ill-conditioned, or all DoFs are held and it is not quite well-conditioned
    int by_trees = -1;         // answered without B#: which of the responses does; its rank is an upper bound
  };
  const std::vector<Part>& parts() const { return parts_; }
  const double* inverse(const Part& part) const { return inverse_.data() + part.start; }
  double compliance(int k) const { return D_[k]; }  // D̃
  int size() const { return size_; }                // all coordinates
  int rank() const;
  // Some island's ∂v⁺ depends on c, or (for impulses) ∂f does.
  bool has_null_term() const { return null_term_; }
  bool has_free_impulses() const { return free_impulses_; }

  // A body all of whose motion clamping rows hold: whatever pushes it they balance, N J_Fᵀ = 0 there.
  bool holds(int touch) const { return held_[touch] != 0; }

  RowMode row_mode(int row) const { return modes_[row]; }
  // ±μ of a friction row that slides, else 0; and its normal.
  double follows(int row) const { return follow_[row]; }
  int normal_of(int row) const { return normal_[row]; }

  // y = X A_C# f_C of the null-space term, by row.
  void find_y(const ContactProblem& problem, std::span<const double> f);
  std::span<const double> y() const { return y_; }

  // ∂f of all rows from b_F = J_F M̂⁻¹ρ (over touches) and ε (by row), without the term of c. ∂f of friction rows that slide
  // follows from their normal's; what moves them besides (∂μ) is the caller's.
  void respond(const ContactProblem& problem, const double* b_F, const double* epsilon, double* df);
  // The term of c, (I − A_C# A_C) c, by row.
  void choose(const ContactProblem& problem, const double* c, double* df);
  // Zero for rows of islands where that term pushes nobody.
  void leave_out_unmoved(const ContactProblem& problem, double* rows) const;
  // Transposed: from V = J_F η with η = M̂⁻¹ ∂ℓ/∂v⁺, and ∂ℓ/∂f (may be null), to ŝ = ∂ℓ/∂(Qᵀε), by coordinate, and to σ = ∂ℓ/∂c,
  // by row.
  void respond_transposed(const ContactProblem& problem, const double* V, const double* f_bar, double* s_hat);
  void choose_transposed(const ContactProblem& problem, const double* V, const double* f_bar, double* sigma);
  // One step of iterative refinement of ŝ: from V = J_F g, g = η − M̂⁻¹J_Cᵀ s as it came out, to what ŝ has to change by. It is
  // added to ŝ; the rest is the caller's.
  void correct_transposed(const ContactProblem& problem, const double* V, const double* f_bar, double* s_hat,
                          double* correction);
  // B or the mode itself is close to singular: what comes out should be corrected.
  bool ill_conditioned() const { return ill_conditioned_; }
  // s = Q ŝ, by row.
  void to_rows(const ContactProblem& problem, const double* coordinates, double* rows) const;
  // formsᵀ ŝ over touches, for forms laid out as patches() say.
  void push(const ContactProblem& problem, const double* forms, const double* s_hat, double* touches) const;

 private:
  void classify(const ContactProblem& problem, std::span<const RowMode> modes);
  void count_dofs(const DofTree& tree, const Islands& islands);
  void find_bases(const ContactProblem& problem);
  void find_held(const ContactProblem& problem);
  int basis_of(const ContactProblem& problem, int patch);
  void compress(const ContactProblem& problem, int patch);
  bool pushes_outside(const ContactProblem& problem, int patch);
  void invert(const ContactProblem& problem, int island);
  void find_scales(const ContactProblem& problem, const Part& part, std::span<const Patch> patches);
  void scale_slight(const ContactProblem& problem, const Part& part, int patch);
  bool drop_inert(const ContactProblem& problem, const Part& part, std::span<const Patch> patches);
  bool set_inert_apart(const Part& part);
  void refine_inverse();
  void invert_singular(Part& part);
  void to_coordinates(const ContactProblem& problem, const double* rows, double* coordinates) const;
  void follow(double* rows) const;             // X: friction rows that slide from their normals
  void follow_transposed(double* rows) const;  // Xᵀ: and back, zero outside C
  void apply_inverse(const ContactProblem& problem, const double* x, double* out, bool transposed);
  void apply_by_trees(const ContactProblem& problem, int island, const double* x, double* out, bool transposed);
  void solve(const ContactProblem& problem, const double* x, double* out, bool transposed);
  void multiply_Lambda(const ContactProblem& problem, const double* x, double* out) const;
  void gather(const ContactProblem& problem, const double* V, const double* f_bar, double* coordinates);
  void leave_out_unique(const ContactProblem& problem, double* rows) const;
  void multiply_B(const ContactProblem& problem, const double* x, double* out, bool transposed);
  void keep_null_part(const ContactProblem& problem, double* x, bool transposed);

  std::vector<RowMode> modes_;
  std::vector<double> follow_;
  std::vector<int> normal_;
  std::vector<Patch> compressed_;
  std::vector<int> Q_start_;
  std::vector<char> R_known_;  // per patch: the basis came with it
  AlignedBuffer Q_, R_, Pt_, inverse_;
  TouchProductWorkspace products_;
  std::vector<double> D_;  // compliance by coordinate
  std::vector<Part> parts_;
  std::vector<char> held_;  // per touch
  std::vector<double> y_;
  int size_ = 0;
  bool sliding_ = false, null_term_ = false, free_impulses_ = false, compliant_ = false;
  bool ill_conditioned_ = false;       // some B, scaled to a unit diagonal, is
  std::deque<TreeResponse> by_trees_;  // which stay where they are
  int by_trees_count_ = 0;
  // Workspace.
  std::vector<double> tree_rows_, tree_answers_;
  PaddedMatrix matrix_, core_, left_, right_;
  PatchBasis basis_;
  RankFactor factor_;
  std::vector<int> exchanged_;
  AlignedBuffer scale_, reach_;
  AlignedBuffer x_, x2_, x3_, x4_, rows_, touches_, touches2_;
};

}  // namespace lithe::internal
