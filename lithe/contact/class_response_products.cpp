#include <algorithm>

#include "lithe/contact/class_response.h"
#include "lithe/contact/packed_vectors.h"

// The answers of a class to vectors, forwards and transposed.
namespace lithe {

namespace {

// coordinates (+)= R·x for forms laid out as `patches` say.
void apply_forms(const TouchSpace& space, const std::vector<Patch>& patches, const double* forms, const double* x,
                 double* coordinates) {
  for (const Patch& patch : patches) {
    const double* form = forms + patch.start;
    for (int c = 0; c < patch.row_count; ++c) coordinates[patch.first_row + c] = 0;
    for (const int touch : {patch.touch_a, patch.touch_b}) {
      if (touch < 0) continue;
      const double* at = x + space.start_of(space.touches[touch]);
      for (int k = 0; k < space.size_of(touch); ++k, form += patch.stride) {
        for (int c = 0; c < patch.row_count; ++c) coordinates[patch.first_row + c] += form[c] * at[k];
      }
    }
  }
}

// x = formsᵀ·coordinates.
void apply_forms_transposed(const TouchSpace& space, const std::vector<Patch>& patches, const double* forms,
                            const double* coordinates, double* x) {
  std::fill_n(x, space.size, 0.0);
  for (const Patch& patch : patches) {
    const double* form = forms + patch.start;
    for (const int touch : {patch.touch_a, patch.touch_b}) {
      if (touch < 0) continue;
      double* at = x + space.start_of(space.touches[touch]);
      for (int k = 0; k < space.size_of(touch); ++k, form += patch.stride) {
        for (int c = 0; c < patch.row_count; ++c) at[k] += form[c] * coordinates[patch.first_row + c];
      }
    }
  }
}

}  // namespace

void ClassResponse::find_y(const ContactProblem& problem, std::span<const double> f) {
  const std::size_t n = problem.rows.size();
  y_.assign(n + kLanes, 0.0);
  grow(x_, size_ + kLanes);
  grow(x2_, size_ + kLanes);
  grow(rows_, n + kLanes);
  for (std::size_t i = 0; i < n; ++i) rows_[i] = classes_[i] == RowClass::clamping ? f[i] : 0.0;
  std::fill_n(rows_.data() + n, kLanes, 0.0);
  to_coordinates(problem, rows_.data(), x_.data());
  apply_inverse(x_.data(), x2_.data(), false);
  to_rows(problem, x2_.data(), y_.data());
  follow(y_.data());
}

void ClassResponse::to_coordinates(const ContactProblem& problem, const double* rows, double* coordinates) const {
  for (std::size_t p = 0; p < compressed_.size(); ++p) {
    const Patch& patch = problem.patches[p];
    const Patch& to = compressed_[p];
    for (int c = 0; c < to.row_count; ++c) {
      coordinates[to.first_row + c] =
          dot_anywhere(Q(static_cast<int>(p)) + c * patch.stride, rows + patch.first_row, patch.stride);
    }
  }
}

void ClassResponse::to_rows(const ContactProblem& problem, const double* coordinates, double* rows) const {
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

void ClassResponse::follow(double* rows) const {
  if (!sliding_) return;
  for (std::size_t row = 0; row < normal_.size(); ++row) {
    if (normal_[row] >= 0) rows[row] = follow_[row] * rows[normal_[row]];
  }
}

void ClassResponse::follow_transposed(double* rows) const {
  if (sliding_) {
    for (std::size_t row = 0; row < normal_.size(); ++row) {
      if (normal_[row] >= 0) rows[normal_[row]] += follow_[row] * rows[row];
    }
  }
  for (std::size_t row = 0; row < classes_.size(); ++row) {
    if (classes_[row] != RowClass::clamping) rows[row] = 0;
  }
}

void ClassResponse::apply_inverse(const double* x, double* out, bool transposed) const {
  for (const Part& part : parts_) {
    if (part.size == 0) continue;
    const double* B = inverse(part);
    if (transposed && part.sliding) {
      for (int k = 0; k < part.size; ++k) out[part.first + k] = dot(B + k * part.stride, x + part.first, part.stride);
    } else {
      multiply(B, part.stride, part.size, x + part.first, out + part.first, part.stride);
    }
  }
}

// out = B# x, or B#ᵀ x, with one step of refinement where the explicit inverse alone would lose digits: out += B# (x − B out).
void ClassResponse::solve(const ContactProblem& problem, const double* x, double* out, bool transposed, bool refine) {
  apply_inverse(x, out, transposed);
  if (!refine && !ill_conditioned_) return;
  grow(touches_, problem.touches.size);
  grow(touches2_, problem.touches.size);
  grow(x3_, 2 * (size_ + kLanes));
  double* left = x3_.data();
  double* correction = left + size_;
  // B = R Λ P̃ + D̃
  apply_forms_transposed(problem.touches, compressed_, transposed ? R_.data() : Pt(), out, touches_.data());
  multiply_Lambda(problem, touches_.data(), touches2_.data());
  apply_forms(problem.touches, compressed_, transposed ? Pt() : R_.data(), touches2_.data(), left);
  for (const Part& part : parts_) {
    for (int k = part.first; k < part.first + part.size; ++k) left[k] = x[k] - left[k] - D_[k] * out[k];
    std::fill_n(left + part.first + part.size, padded(part.size) - part.size, 0.0);
  }
  apply_inverse(left, correction, transposed);
  for (const Part& part : parts_) {
    for (int k = part.first; k < part.first + part.size; ++k) out[k] += correction[k];
  }
}

void ClassResponse::multiply_Lambda(const ContactProblem& problem, const double* x, double* out) const {
  for (const TouchBlock& block : problem.touches.blocks) {
    multiply(problem.touches.Lambda.data() + block.Lambda_start, block.stride, block.size, x + block.start,
             out + block.start, block.stride);
  }
}

void ClassResponse::respond(const ContactProblem& problem, const double* b_F, const double* epsilon, const double* c,
                            double* df) {
  const std::size_t n = problem.rows.size();
  grow(x_, size_ + kLanes);
  grow(x2_, size_ + kLanes);
  grow(rows_, n + kLanes);
  double* x = x_.data();
  double* x2 = x2_.data();
  // Q (B# (R b_F + Qᵀ ε))
  apply_forms(problem.touches, compressed_, R_.data(), b_F, x);
  to_coordinates(problem, epsilon, x2);
  for (int k = 0; k < size_; ++k) x[k] += x2[k];
  if (c) {
    // (I − A# A) c = c − Q B# Z c, Z c = R Λ Tᵀ X c + D̃ Qᵀ c, on the islands that have such a term.
    grow(touches_, problem.touches.size);
    grow(touches2_, problem.touches.size);
    double* rows = rows_.data();
    for (std::size_t i = 0; i < n; ++i) rows[i] = classes_[i] == RowClass::clamping ? c[i] : 0.0;
    std::fill_n(rows + n, kLanes, 0.0);
    for (int i = 0; i < problem.island_count(); ++i) {
      if (parts_[i].polished) continue;
      const Island& island = problem.islands.islands()[i];
      std::fill_n(rows + island.first_row, island.row_count, 0.0);
    }
    to_coordinates(problem, rows, x2);
    for (int k = 0; k < size_; ++k) x[k] -= D_[k] * x2[k];
    follow(rows);
    touch_impulses(problem, rows, touches_.data());
    multiply_Lambda(problem, touches_.data(), touches2_.data());
    apply_forms(problem.touches, compressed_, R_.data(), touches2_.data(), x2);
    for (int k = 0; k < size_; ++k) x[k] -= x2[k];
  }
  solve(problem, x, x2, false, true);
  to_rows(problem, x2, df);
  if (c) {
    for (std::size_t i = 0; i < n; ++i) {
      if (classes_[i] == RowClass::clamping) df[i] += rows_[i];
    }
  }
  follow(df);
}

void ClassResponse::push(const ContactProblem& problem, const double* forms, const double* s_hat,
                         double* touches) const {
  apply_forms_transposed(problem.touches, compressed_, forms, s_hat, touches);
}

void ClassResponse::respond_transposed(const ContactProblem& problem, const double* V, const double* f_bar,
                                       double* s_hat, double* sigma) {
  const std::size_t n = problem.rows.size();
  grow(x_, size_ + kLanes);
  grow(x2_, size_ + kLanes);
  grow(rows_, n + kLanes);
  double* x = x_.data();
  double* x2 = x2_.data();
  double* rows = rows_.data();
  if (!f_bar && !sigma) {
    // ŝ = B#ᵀ P̃ᵀ V
    apply_forms(problem.touches, compressed_, Pt(), V, x);
    solve(problem, x, s_hat, true, false);
    return;
  }
  row_velocities(problem, V, rows);
  if (f_bar) {
    for (std::size_t i = 0; i < n; ++i) rows[i] += f_bar[i];
  }
  std::fill_n(rows + n, kLanes, 0.0);
  follow_transposed(rows);
  to_coordinates(problem, rows, x);
  solve(problem, x, s_hat, true, true);
  if (!sigma) return;
  // σ = f̃ − Zᵀ ŝ, Zᵀ ŝ = Xᵀ T Λ Rᵀ ŝ + Q D̃ ŝ.
  grow(touches_, problem.touches.size);
  grow(touches2_, problem.touches.size);
  std::copy_n(rows, n, sigma);
  apply_forms_transposed(problem.touches, compressed_, R_.data(), s_hat, touches_.data());
  multiply_Lambda(problem, touches_.data(), touches2_.data());
  row_velocities(problem, touches2_.data(), rows);
  follow_transposed(rows);
  for (std::size_t i = 0; i < n; ++i) sigma[i] -= rows[i];
  for (int k = 0; k < size_; ++k) x2[k] = D_[k] * s_hat[k];
  to_rows(problem, x2, rows);
  for (std::size_t i = 0; i < n; ++i) sigma[i] -= rows[i];
  for (int i = 0; i < problem.island_count(); ++i) {
    if (parts_[i].polished && parts_[i].clamping > parts_[i].rank) continue;
    const Island& island = problem.islands.islands()[i];
    std::fill_n(sigma + island.first_row, island.row_count, 0.0);
  }
}

}  // namespace lithe
