#include "lithe/lcp/block/mode_system.h"

#include <algorithm>
#include <cmath>

#include "lithe/lcp/block/bound_impulse.h"
#include "lithe/linalg/padded_matrix.h"
#include "lithe/simd/internal/packed_vectors.h"

// The impulses that one classification demands; mode_system_factor.cpp makes S and its factor, mode_system_products.cpp has the products
// with G and P.
namespace lithe::internal {

namespace {

// Inconsistency below this share of the velocity scale is rounding of b.
constexpr double kRoundingOfB = 1e-14;
// A solution that changes by less than this share of it stands still, and one whose changes no longer shrink by this factor does not
// get better.
constexpr double kSettled = 1e-15;
constexpr double kShrinks = 0.8;
// A derivative's solution is good enough where the next change would be less than this share of it.
constexpr double kNoMore = 1e-13;
constexpr int kMostPasses = 12;
constexpr int kExactPasses = 5;

// max |x_i| of the first `count` numbers.
double largest_of(const double* x, int count) {
  double largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[i]));
  return largest;
}

}  // namespace

// The form and the group of each row are listed, so that products need not look for them.
void BlockModeSystem::bind(const FactoredLcp& lcp, const BlockGraph& graph) {
  lcp_ = &lcp;
  graph_ = &graph;
  const std::size_t n = lcp.rows.size();
  forms_.resize(n);
  group_of_.resize(n);
  sides_.resize(lcp.groups.size());
  offsets_.resize(lcp.groups.size());
  for (std::size_t k = 0; k < lcp.groups.size(); ++k) {
    const RowGroup& group = lcp.groups[k];
    const int a = group.block_a, b = group.block_b;
    sides_[k] = {graph.start_of(a), b < 0 ? 0 : graph.start_of(b), lcp.width_of(a), lcp.width_of(b)};
    offsets_[k].aa = graph.offset(a, a);
    if (b >= 0) offsets_[k] = {graph.offset(a, a), graph.offset(b, b), graph.offset(a, b), graph.offset(b, a)};
    const int width = lcp.width(group);
    for (int r = 0; r < group.row_count; ++r) {
      forms_[group.first_row + r] = lcp.G + group.start + static_cast<std::ptrdiff_t>(r) * width;
      group_of_[group.first_row + r] = static_cast<int>(k);
    }
  }
  for (AlignedBuffer* buffer : {&x_, &r_, &g_, &f_C_, &f_}) grow(*buffer, padded(static_cast<int>(n)));
  for (AlignedBuffer* buffer : {&y_, &z_, &d_, &e_}) grow(*buffer, graph.coordinates());
}

// f_C to all rows: rows at constant bounds have these, friction rows that slide their share of the normal's impulse, all others nothing.
void BlockModeSystem::expand(const double* f_C, std::span<double> f) const {
  for (std::size_t i = 0; i < f.size(); ++i) f[i] = imposed_impulse(lcp_->rows[i], modes_[i]);
  for (std::size_t c = 0; c < clamping_.size(); ++c) f[clamping_[c]] = f_C[c];
  if (symmetric_) return;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double share = share_of_normal(lcp_->rows[i], modes_[i], modes_);
    if (share != 0) f[i] = share * f[lcp_->rows[i].normal];
  }
}

// x = −b_C − A_C0 f₀. Where no row at a constant bound pushes, the product is spared.
void BlockModeSystem::set_right_side() {
  const int m = clamping_rows();
  for (int c = 0; c < m; ++c) x_[c] = -lcp_->b[clamping_[c]];
  bool any = false;
  for (int i = 0; i < lcp_->size(); ++i) {
    f_[i] = imposed_impulse(lcp_->rows[i], modes_[i]);
    any = any || f_[i] != 0;
  }
  if (!any) return;
  push(f(), d_.data());
  multiply_G(d_.data(), g_.data());
  for (int c = 0; c < m; ++c) x_[c] -= g_[c];
}

// y = S⁻¹ Pᵀ x up to what is inconsistent, which is left in r.
void BlockModeSystem::settle_y(double scale) {
  const int m = clamping_rows(), N = coordinates();
  std::copy_n(x_.data(), m, r_.data());
  std::fill_n(y_.data(), N, 0.0);
  const double size = largest_of(x_.data(), m);
  double before = LcpRow::kInfinity, left = 0;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    multiply_P_transposed(r_.data(), d_.data());
    solve_S(d_.data());
    for (int i = 0; i < N; ++i) y_[i] += d_[i];
    multiply_G(y_.data(), g_.data());
    for (int c = 0; c < m; ++c) r_[c] = x_[c] - g_[c];
    left = largest_of(r_.data(), m);
    if (left <= kSettled * size) break;
    const double change = largest_of(d_.data(), N);
    // The next change would be smaller by the same factor.
    if (pass > 0 && (change * std::min(1.0, change / before) <= kSettled * largest_of(y_.data(), N) ||
                     !(change < kShrinks * before))) {
      break;
    }
    before = change;
  }
  consistent_ = left <= kRoundingOfB * scale;
}

void BlockModeSystem::solve(double ridge, double scale) {
  const int m = clamping_rows(), N = coordinates();
  set_right_side();
  settle_y(scale);
  std::copy_n(y_.data(), N, z_.data());
  solve_S(z_.data());
  multiply_G(z_.data(), f_C_.data());
  if (ridge < ridge_) {
    // The polished z by proximal steps, z ← z + S⁻¹ (y − Pᵀ G z), then the first power of the smaller ridge, −ε̄ A# A# x = −ε̄ G S⁻¹ z.
    double before = LcpRow::kInfinity;
    for (int pass = 0; pass < kMostPasses; ++pass) {
      multiply_P_transposed(f_C_.data(), d_.data());
      for (int i = 0; i < N; ++i) d_[i] = y_[i] - d_[i];
      solve_S(d_.data());
      const double change = largest_of(d_.data(), N);
      if (!(change < kShrinks * before)) break;
      for (int i = 0; i < N; ++i) z_[i] += d_[i];
      multiply_G(z_.data(), f_C_.data());
      before = change;
      if (change <= kSettled * largest_of(z_.data(), N)) break;
    }
    std::copy_n(z_.data(), N, d_.data());
    solve_S(d_.data());
    multiply_G(d_.data(), g_.data());
    for (int c = 0; c < m; ++c) f_C_[c] -= ridge * g_[c];
  }
  // What no impulses can meet the ridge answers with (r − G S⁻¹ Pᵀ r)/ε̄.
  if (!consistent_) {
    multiply_P_transposed(r_.data(), d_.data());
    solve_S(d_.data());
    multiply_G(d_.data(), g_.data());
    for (int c = 0; c < m; ++c) {
      r_[c] -= g_[c];
      f_C_[c] += r_[c] / ridge;
    }
  }
  plain_ = consistent_ && ridge == ridge_;
  bend_ = ridge * largest_of(f_C_.data(), m);
  expand(f_C_.data(), {f_.data(), lcp_->rows.size()});
}

// Refinement of the ridge's own equations, (A_C + ε̄) f_C = x, as long as each pass leaves less than half.
void BlockModeSystem::solve_exactly() {
  const int m = clamping_rows();
  set_right_side();
  std::copy_n(x_.data(), m, r_.data());
  std::fill_n(f_C_.data(), m, 0.0);
  const double size = largest_of(x_.data(), m);
  double last = LcpRow::kInfinity;
  for (int pass = 0; pass < kExactPasses; ++pass) {
    // (A_C + ε̄)⁻¹ r = (r − G S⁻¹ Pᵀ r)/ε̄
    multiply_P_transposed(r_.data(), d_.data());
    solve_S(d_.data());
    multiply_G(d_.data(), g_.data());
    for (int c = 0; c < m; ++c) f_C_[c] += (r_[c] - g_[c]) / ridge_;
    multiply_P_transposed(f_C_.data(), d_.data());
    multiply_G(d_.data(), g_.data());
    for (int c = 0; c < m; ++c) r_[c] = x_[c] - g_[c] - ridge_ * f_C_[c];
    const double worst = largest_of(r_.data(), m);
    if (worst <= kRoundingOfB * size || !(worst < 0.5 * last)) break;
    last = worst;
  }
  consistent_ = plain_ = false;
  bend_ = ridge_ * largest_of(f_C_.data(), m);
  expand(f_C_.data(), {f_.data(), lcp_->rows.size()});
}

// (A_C + ε̄)⁻¹ r = (r − G S⁻¹ Pᵀ r)/ε̄
void BlockModeSystem::correct(std::span<const double> r, std::span<double> f) {
  for (std::size_t c = 0; c < clamping_.size(); ++c) r_[c] = r[clamping_[c]];
  multiply_P_transposed(r_.data(), d_.data());
  solve_S(d_.data());
  multiply_G(d_.data(), g_.data());
  for (std::size_t c = 0; c < clamping_.size(); ++c) f[clamping_[c]] += (r_[c] - g_[c]) / ridge_;
}

// r_ has it by clamping row.
void BlockModeSystem::inconsistent_part(std::span<double> r) const {
  std::fill(r.begin(), r.end(), 0.0);
  for (std::size_t c = 0; c < clamping_.size(); ++c) r[clamping_[c]] = r_[c];
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double share = share_of_normal(lcp_->rows[i], modes_[i], modes_);
    if (share != 0) r[i] = share * r[lcp_->rows[i].normal];
  }
}

// f_C = G z, with the z of solve().
void BlockModeSystem::start_polish(std::span<double> f) {
  multiply_G(z_.data(), g_.data());
  expand(g_.data(), f);
}

// z ← z − S⁻¹ S⁻¹ Pᵀ w_C: the change of z that takes w_C away, A_C# w_C = G S⁻¹ S⁻¹ Pᵀ w_C but for the ridge.
void BlockModeSystem::improve_polish(std::span<const double> w, std::span<double> f) {
  for (std::size_t c = 0; c < clamping_.size(); ++c) g_[c] = w[clamping_[c]];
  multiply_P_transposed(g_.data(), d_.data());
  solve_S(d_.data());
  solve_S(d_.data());
  for (int i = 0; i < coordinates(); ++i) z_[i] -= d_[i];
  multiply_G(z_.data(), g_.data());
  expand(g_.data(), f);
}

// z ← z + S⁻¹ (y − Pᵀ G z), as f_C is G z here.
void BlockModeSystem::improve_plain_polish(std::span<double> f) {
  multiply_P_transposed(f_C_.data(), d_.data());
  for (int i = 0; i < coordinates(); ++i) d_[i] = y_[i] - d_[i];
  solve_S(d_.data());
  for (int i = 0; i < coordinates(); ++i) z_[i] += d_[i];
  multiply_G(z_.data(), g_.data());
  expand(g_.data(), f);
}

// By Gram–Schmidt on the forms of the group, each orthogonalised twice against rounding. What a row has left counts as a direction of its
// own where it is more than `share` of its A_ii.
bool BlockModeSystem::implied_by_group(int row, std::span<const RowMode> modes, double share) {
  const RowGroup& group = lcp_->groups[group_of_[row]];
  const int width = lcp_->width(group);
  grow(scratch_, static_cast<std::size_t>(width) * (width + 2));
  double* left = scratch_.data();
  double* next = left + width;
  double* basis = next + width;
  int rank = 0;
  const auto remove = [&](const double* direction, double* from) {
    const double part = dot(direction, from, width);
    for (int k = 0; k < width; ++k) from[k] -= part * direction[k];
  };
  std::copy_n(forms_[row], width, left);
  for (int i = group.first_row; i < group.first_row + group.row_count && rank < width; ++i) {
    if (modes[i] != RowMode::clamping || i == row) continue;
    std::copy_n(forms_[i], width, next);
    for (int pass = 0; pass < 2; ++pass) {
      for (int k = 0; k < rank; ++k) remove(basis + k * width, next);
    }
    const double squares = dot(next, next, width);
    if (!(squares > share * lcp_->diagonal[i])) continue;
    double* direction = basis + width * rank++;
    for (int k = 0; k < width; ++k) direction[k] = next[k] / std::sqrt(squares);
    remove(direction, left);
    if (dot(left, left, width) <= share * lcp_->diagonal[row]) return true;
  }
  return false;
}

// y ← y + S⁻¹ Pᵀ (x − G y) is A#'s inner half, (PᵀG)# Pᵀ x; z ← z + S⁻¹ (y − Pᵀ G z) the outer one. Transposed, G and P change places.
// Whether they stand still is seen in G y and G z: in directions that G does not feel they never do.
void BlockModeSystem::apply_inverse(std::span<const double> x, std::span<double> out, bool transposed) {
  const Forms& left = transposed ? P_ : G_;
  const Forms& right = transposed ? G_ : P_;
  const int m = clamping_rows(), N = coordinates();
  for (int c = 0; c < m; ++c) x_[c] = x[clamping_[c]];
  for (AlignedBuffer* solution : {&y_, &z_}) {
    std::fill_n(solution->data(), N, 0.0);
    std::fill_n(g_.data(), m, 0.0);
    double before = LcpRow::kInfinity;
    for (int pass = 0; pass < kMostPasses; ++pass) {
      const bool inner = solution == &y_;
      for (int c = 0; c < m && inner; ++c) r_[c] = x_[c] - g_[c];
      multiply_transposed(right, inner ? r_.data() : g_.data(), d_.data());
      for (int i = 0; i < N && !inner; ++i) d_[i] = y_[i] - d_[i];
      if (transposed) {
        factor_.solve_transposed(d_.data());
      } else {
        solve_S(d_.data());
      }
      multiply(left, d_.data(), f_C_.data());
      const double change = largest_of(f_C_.data(), m);
      if (!(change < kShrinks * before)) break;
      for (int i = 0; i < N; ++i) (*solution)[i] += d_[i];
      multiply(left, solution->data(), g_.data());
      // The next change will be smaller by the same factor; the first two changes are mostly those of stiff directions.
      const bool known = pass > 1 || change == 0;
      if (known && change * std::min(1.0, change / before) <= kNoMore * largest_of(g_.data(), m)) break;
      before = change;
    }
  }
  std::fill(out.begin(), out.end(), 0.0);
  for (int c = 0; c < m; ++c) out[clamping_[c]] = g_[c];
}

// In directions that no clamping row holds, S is ε̄ I, and the answer is the push g_i itself.
void BlockModeSystem::respond(int row, double* u) {
  std::fill_n(u, coordinates(), 0.0);
  add_form(row, 1, u);
  solve_S(u);
  for (int i = 0; i < coordinates(); ++i) u[i] *= ridge_;
}

}  // namespace lithe::internal
