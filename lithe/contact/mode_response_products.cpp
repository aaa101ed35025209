#include <algorithm>

#include "lithe/contact/mode_response.h"
#include "lithe/simd/internal/packed_vectors.h"

// The answers of a mode to vectors, forwards and transposed.
namespace lithe::internal {

namespace {

// coordinates = forms·x, for forms laid out as `patches` say. Whole packs are written, as in row_velocities().
void apply_forms(const TouchSpace& space, const std::vector<Patch>& patches, const double* forms, const double* x,
                 double* coordinates) {
  for (const Patch& patch : patches) {
    for (int c = 0; c < patch.row_count; c += kLanes) {
      const double* form = forms + patch.start + c;
      Pack sum = {};
      for (const int index : {patch.touch_a, patch.touch_b}) {
        if (index < 0) continue;
        const Touch& touch = space.touches[index];
        const double* at = x + space.start_of(touch);
        for (int k = 0; k < touch.size; ++k, form += patch.stride) sum += broadcast(at[k]) * as_pack(form);
      }
      store_anywhere(coordinates + patch.first_row + c, sum);
    }
  }
}

// at[k] += column k of `forms` · the patch's coordinates, for `Columns` columns.
template <int Columns>
LITHE_INLINE void add_dots(const Patch& patch, const double* forms, const double* coordinates, double* at) {
  Pack sum[kLanes] = {};
  for (int c = 0; c < patch.row_count; c += kLanes) {
    // Forms are zero beyond the last coordinate; what follows there in memory may be anything.
    const Pack x = select_below(patch.row_count - c, load_anywhere(coordinates + patch.first_row + c), Pack{});
    for (int k = 0; k < Columns; ++k) sum[k] += as_pack(forms + k * patch.stride + c) * x;
  }
  transpose(sum[0], sum[1], sum[2], sum[3]);
  const Pack all = (sum[0] + sum[2]) + (sum[1] + sum[3]);
  for (int k = 0; k < Columns; ++k) at[k] += all[k];
}

// x = formsᵀ·coordinates.
void apply_forms_transposed(const TouchSpace& space, const std::vector<Patch>& patches, const double* forms,
                            const double* coordinates, double* x) {
  std::fill_n(x, space.size, 0.0);
  for (const Patch& patch : patches) {
    const double* form = forms + patch.start;
    for (const int index : {patch.touch_a, patch.touch_b}) {
      if (index < 0) continue;
      const Touch& touch = space.touches[index];
      double* at = x + space.start_of(touch);
      if (touch.size == 6) {
        add_dots<4>(patch, form, coordinates, at);
        add_dots<2>(patch, form + 4 * patch.stride, coordinates, at + 4);
      } else {
        add_dots<1>(patch, form, coordinates, at);
      }
      form += touch.size * patch.stride;
    }
  }
}

}  // namespace

// y = X Q B# Qᵀ f_C, because f_C = −A_C# b_C lies in the range of Q.
void ModeResponse::find_y(const ContactProblem& problem, std::span<const double> f) {
  const std::size_t n = problem.rows.size();
  y_.assign(n + kLanes, 0.0);
  grow(x_, size_ + kLanes);
  grow(x2_, size_ + kLanes);
  grow(rows_, n + kLanes);
  for (std::size_t i = 0; i < n; ++i) rows_[i] = modes_[i] == RowMode::clamping ? f[i] : 0.0;
  std::fill_n(rows_.data() + n, kLanes, 0.0);
  to_coordinates(problem, rows_.data(), x_.data());
  apply_inverse(problem, x_.data(), x2_.data(), false);
  to_rows(problem, x2_.data(), y_.data());
  follow(y_.data());
}

// coordinates = Qᵀ rows, patch by patch.
void ModeResponse::to_coordinates(const ContactProblem& problem, const double* rows, double* coordinates) const {
  for (std::size_t p = 0; p < compressed_.size(); ++p) {
    const Patch& patch = problem.patches[p];
    const Patch& to = compressed_[p];
    for (int c = 0; c < to.row_count; ++c) {
      coordinates[to.first_row + c] =
          dot_anywhere(Q(static_cast<int>(p)) + c * patch.stride, rows + patch.first_row, patch.stride);
    }
  }
}

// rows = Q coordinates.
void ModeResponse::to_rows(const ContactProblem& problem, const double* coordinates, double* rows) const {
  for (std::size_t p = 0; p < compressed_.size(); ++p) {
    const Patch& patch = problem.patches[p];
    const Patch& from = compressed_[p];
    // Later patches overwrite what an earlier one's last pack leaves beyond its rows.
    for (int r = 0; r < patch.stride; r += kLanes) {
      Pack sum = {};
      for (int c = 0; c < from.row_count; ++c) {
        sum += as_pack(Q(static_cast<int>(p)) + c * patch.stride + r) * broadcast(coordinates[from.first_row + c]);
      }
      store_anywhere(rows + patch.first_row + r, sum);
    }
  }
}

void ModeResponse::follow(double* rows) const {
  if (!sliding_) return;
  for (std::size_t row = 0; row < normal_.size(); ++row) {
    if (normal_[row] >= 0) rows[row] = follow_[row] * rows[normal_[row]];
  }
}

void ModeResponse::follow_transposed(double* rows) const {
  if (sliding_) {
    for (std::size_t row = 0; row < normal_.size(); ++row) {
      if (normal_[row] >= 0) rows[normal_[row]] += follow_[row] * rows[row];
    }
  }
  for (std::size_t row = 0; row < modes_.size(); ++row) {
    if (modes_[row] != RowMode::clamping) rows[row] = 0;
  }
}

// out = B# x or B#ᵀ x of an island that is answered by its trees: B# = Qᵀ A_C# Q.
void ModeResponse::apply_by_trees(const ContactProblem& problem, int island_index, const double* x, double* out,
                                  bool transposed) {
  const Island& island = problem.islands.islands()[island_index];
  tree_rows_.assign(island.row_count + kLanes, 0.0);
  tree_answers_.assign(island.row_count + kLanes, 0.0);
  for (int p = problem.first_patch[island_index]; p < problem.first_patch[island_index + 1]; ++p) {
    const Patch& patch = problem.patches[p];
    const Patch& from = compressed_[p];
    double* rows = tree_rows_.data() + patch.first_row - island.first_row;
    for (int c = 0; c < from.row_count; ++c) {
      const double* q = Q(p) + c * patch.stride;
      for (int r = 0; r < patch.row_count; ++r) rows[r] += q[r] * x[from.first_row + c];
    }
  }
  const std::size_t n = island.row_count;
  by_trees_[parts_[island_index].by_trees].apply(std::span(tree_rows_).first(n), std::span(tree_answers_).first(n),
                                                 transposed);
  for (int p = problem.first_patch[island_index]; p < problem.first_patch[island_index + 1]; ++p) {
    const Patch& patch = problem.patches[p];
    const Patch& to = compressed_[p];
    const double* rows = tree_answers_.data() + patch.first_row - island.first_row;
    for (int c = 0; c < to.row_count; ++c) {
      const double* q = Q(p) + c * patch.stride;
      double sum = 0;
      for (int r = 0; r < patch.row_count; ++r) sum += q[r] * rows[r];
      out[to.first_row + c] = sum;
    }
  }
}

// out = B# x or B#ᵀ x, island by island. Where nothing slides B# is symmetric.
void ModeResponse::apply_inverse(const ContactProblem& problem, const double* x, double* out, bool transposed) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.size == 0) continue;
    if (part.by_trees >= 0) {
      apply_by_trees(problem, static_cast<int>(i), x, out, transposed);
      continue;
    }
    const double* B = inverse(part);
    if (transposed && part.sliding) {
      for (int k = 0; k < part.size; ++k) out[part.first + k] = dot(B + k * part.stride, x + part.first, part.stride);
    } else {
      multiply(B, part.stride, part.size, x + part.first, out + part.first, part.stride);
    }
  }
}

// out = B x = (R Λ P̃ + D̃) x, or Bᵀ x. The padding of parts is set to zero.
void ModeResponse::multiply_B(const ContactProblem& problem, const double* x, double* out, bool transposed) {
  grow(touches_, problem.touches.size);
  grow(touches2_, problem.touches.size);
  apply_forms_transposed(problem.touches, compressed_, transposed ? R_.data() : Pt(), x, touches_.data());
  multiply_Lambda(problem, touches_.data(), touches2_.data());
  apply_forms(problem.touches, compressed_, transposed ? Pt() : R_.data(), touches2_.data(), out);
  for (const Part& part : parts_) {
    for (int k = part.first; k < part.first + part.size; ++k) out[k] += D_[k] * x[k];
    std::fill_n(out + part.first + part.size, padded(part.size) - part.size, 0.0);
  }
}

// out = B# x, or B#ᵀ x, with one step of refinement where the explicit inverse alone would lose digits: out += B# (x − B out).
void ModeResponse::solve(const ContactProblem& problem, const double* x, double* out, bool transposed) {
  apply_inverse(problem, x, out, transposed);
  if (!ill_conditioned_) return;
  grow(x3_, 2 * (size_ + kLanes));
  double* left = x3_.data();
  double* correction = left + size_;
  multiply_B(problem, out, left, transposed);
  for (const Part& part : parts_) {
    for (int k = part.first; k < part.first + part.size; ++k) left[k] = x[k] - left[k];
  }
  apply_inverse(problem, left, correction, transposed);
  for (const Part& part : parts_) {
    for (int k = part.first; k < part.first + part.size; ++k) out[k] += correction[k];
  }
}

// x ← (I − B# B) x, or (I − B# B)ᵀ x: what of the coordinates no impulse answers.
void ModeResponse::keep_null_part(const ContactProblem& problem, double* x, bool transposed) {
  bool singular = false;
  for (const Part& part : parts_) {
    singular = singular || !part.regular;
    if (!part.regular) continue;
    // Nothing, but for the coordinates that nothing moves: B# is zero there.
    for (int k = 0; k < part.size; ++k) {
      const double* column = inverse(part) + static_cast<std::ptrdiff_t>(k) * part.stride;
      const bool inert =
          part.rank < part.size && std::all_of(column, column + part.size, [](double b) { return b == 0; });
      if (!inert) x[part.first + k] = 0;
    }
  }
  if (!singular) return;
  grow(x3_, 2 * (size_ + kLanes));
  double* between = x3_.data();
  double* answered = between + size_;
  if (transposed) {
    apply_inverse(problem, x, between, true);
    multiply_B(problem, between, answered, true);
  } else {
    multiply_B(problem, x, between, false);
    apply_inverse(problem, between, answered, false);
  }
  for (const Part& part : parts_) {
    if (part.regular) continue;
    for (int k = part.first; k < part.first + part.size; ++k) x[k] -= answered[k];
  }
}

// out = Λ x, tree by tree.
void ModeResponse::multiply_Lambda(const ContactProblem& problem, const double* x, double* out) const {
  for (const TouchBlock& block : problem.touches.blocks) {
    multiply(problem.touches.Lambda.data() + block.Lambda_start, block.stride, block.size, x + block.start,
             out + block.start, block.stride);
  }
}

void ModeResponse::respond(const ContactProblem& problem, const double* b_F, const double* epsilon, double* df) {
  grow(x_, size_ + kLanes);
  grow(x2_, size_ + kLanes);
  double* x = x_.data();
  double* x2 = x2_.data();
  // Q (B# (R b_F + Qᵀ ε))
  apply_forms(problem.touches, compressed_, R_.data(), b_F, x);
  to_coordinates(problem, epsilon, x2);
  for (int k = 0; k < size_; ++k) x[k] += x2[k];
  solve(problem, x, x2, false);
  to_rows(problem, x2, df);
  follow(df);
}

// With c = Q ĉ + c⊥: (I − A# A) c = c⊥ − Q B# R Λ P_F c⊥ + Q (I − B# B) ĉ. Where nothing slides, P_F c⊥ = Rᵀ Qᵀ c⊥ = 0.
void ModeResponse::choose(const ContactProblem& problem, const double* c, double* df) {
  const std::size_t n = problem.rows.size();
  for (AlignedBuffer* buffer : {&x_, &x2_, &x4_}) grow(*buffer, size_ + kLanes);
  grow(rows_, n + kLanes);
  double* outside = rows_.data();  // c⊥
  double* inside = x_.data();      // ĉ
  for (std::size_t i = 0; i < n; ++i) outside[i] = modes_[i] == RowMode::clamping ? c[i] : 0.0;
  std::fill_n(outside + n, kLanes, 0.0);
  leave_out_unique(problem, outside);
  to_coordinates(problem, outside, inside);
  to_rows(problem, inside, df);
  for (std::size_t i = 0; i < n; ++i) outside[i] -= df[i];
  keep_null_part(problem, inside, false);
  if (sliding_) {
    grow(touches_, problem.touches.size);
    grow(touches2_, problem.touches.size);
    follow(outside);
    touch_impulses(problem, outside, touches_.data());
    multiply_Lambda(problem, touches_.data(), touches2_.data());
    apply_forms(problem.touches, compressed_, R_.data(), touches2_.data(), x2_.data());
    solve(problem, x2_.data(), x4_.data(), false);
    for (int k = 0; k < size_; ++k) inside[k] -= x4_[k];
  }
  to_rows(problem, inside, df);
  for (std::size_t i = 0; i < n; ++i) df[i] += outside[i];
  follow(df);
}

// (I − A# A)ᵀ f̃ = (I − Q Qᵀ)(f̃ − Xᵀ T Λ Rᵀ B#ᵀ Qᵀ f̃) + Q (I − B# B)ᵀ Qᵀ f̃.
void ModeResponse::choose_transposed(const ContactProblem& problem, const double* V, const double* f_bar,
                                     double* sigma) {
  const std::size_t n = problem.rows.size();
  for (AlignedBuffer* buffer : {&x_, &x2_, &x4_}) grow(*buffer, size_ + kLanes);
  grow(rows_, n + kLanes);
  double* rows = rows_.data();
  if (null_term_) {
    row_velocities(problem, V, rows);
    leave_out_unmoved(problem, rows);
  } else {
    std::fill_n(rows, n, 0.0);
  }
  for (std::size_t i = 0; i < n && f_bar; ++i) rows[i] += f_bar[i];
  std::fill_n(rows + n, kLanes, 0.0);
  follow_transposed(rows);
  leave_out_unique(problem, rows);
  to_coordinates(problem, rows, x_.data());
  if (sliding_) {
    grow(touches_, problem.touches.size);
    grow(touches2_, problem.touches.size);
    solve(problem, x_.data(), x2_.data(), true);
    apply_forms_transposed(problem.touches, compressed_, R_.data(), x2_.data(), touches_.data());
    multiply_Lambda(problem, touches_.data(), touches2_.data());
    row_velocities(problem, touches2_.data(), sigma);
    follow_transposed(sigma);
    for (std::size_t i = 0; i < n; ++i) rows[i] -= sigma[i];
  }
  to_coordinates(problem, rows, x2_.data());
  keep_null_part(problem, x_.data(), true);
  for (int k = 0; k < size_; ++k) x2_[k] = x_[k] - x2_[k];
  to_rows(problem, x2_.data(), sigma);
  for (std::size_t i = 0; i < n; ++i) sigma[i] += rows[i];
}

void ModeResponse::leave_out_unmoved(const ContactProblem& problem, double* rows) const {
  for (int i = 0; i < problem.island_count(); ++i) {
    if (parts_[i].null_term) continue;
    const Island& island = problem.islands.islands()[i];
    std::fill_n(rows + island.first_row, island.row_count, 0.0);
  }
}

// Zero for rows of islands whose impulses are unique, or are not those that the modes define.
void ModeResponse::leave_out_unique(const ContactProblem& problem, double* rows) const {
  for (int i = 0; i < problem.island_count(); ++i) {
    if (parts_[i].polished && parts_[i].clamping > parts_[i].rank) continue;
    const Island& island = problem.islands.islands()[i];
    std::fill_n(rows + island.first_row, island.row_count, 0.0);
  }
}

void ModeResponse::push(const ContactProblem& problem, const double* forms, const double* s_hat,
                        double* touches) const {
  apply_forms_transposed(problem.touches, compressed_, forms, s_hat, touches);
}

// P̃ᵀ V + Qᵀ Xᵀ f̄
void ModeResponse::gather(const ContactProblem& problem, const double* V, const double* f_bar, double* coordinates) {
  if (!f_bar) {
    apply_forms(problem.touches, compressed_, Pt(), V, coordinates);
    return;
  }
  const std::size_t n = problem.rows.size();
  grow(rows_, n + kLanes);
  double* rows = rows_.data();
  row_velocities(problem, V, rows);
  for (std::size_t i = 0; i < n; ++i) rows[i] += f_bar[i];
  std::fill_n(rows + n, kLanes, 0.0);
  follow_transposed(rows);
  to_coordinates(problem, rows, coordinates);
}

// ŝ = B#ᵀ (P̃ᵀ V + Qᵀ Xᵀ f̄).
void ModeResponse::respond_transposed(const ContactProblem& problem, const double* V, const double* f_bar,
                                      double* s_hat) {
  grow(x_, size_ + kLanes);
  gather(problem, V, f_bar, x_.data());
  solve(problem, x_.data(), s_hat, true);
}

// With V = J_F g, what ŝ leaves of its equation is P̃ᵀ V + Qᵀ Xᵀ f̄ − D̃ ŝ, since g has the share of −M̂⁻¹J_Cᵀ s already.
void ModeResponse::correct_transposed(const ContactProblem& problem, const double* V, const double* f_bar,
                                      double* s_hat, double* correction) {
  double* x = x_.data();
  gather(problem, V, f_bar, x);
  for (int k = 0; k < size_; ++k) x[k] -= D_[k] * s_hat[k];
  apply_inverse(problem, x, correction, true);
  for (int k = 0; k < size_; ++k) s_hat[k] += correction[k];
}

}  // namespace lithe::internal
