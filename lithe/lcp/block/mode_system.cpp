#include "lithe/lcp/block/mode_system.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "lithe/lcp/sweeps/gauss_seidel_iteration.h"
#include "lithe/linalg/padded_matrix.h"
#include "lithe/simd/internal/packed_vectors.h"

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
// Products that a factor is changed by before it is computed anew.
constexpr int kMostUpdates = 12;

double largest_of(const double* x, int count) {
  double largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[i]));
  return largest;
}

// Calls work(width a, width b) with the widths of free bodies as constants.
template <class Work>
LITHE_INLINE void with_widths(int a, int b, Work work) {
  if (a == 8 && b == 8) {
    work(std::integral_constant<int, 8>{}, std::integral_constant<int, 8>{});
  } else if (a == 8 && b == 0) {
    work(std::integral_constant<int, 8>{}, std::integral_constant<int, 0>{});
  } else {
    work(a, b);
  }
}

// Rows of neighbouring forms and the vectors of their two blocks.
LITHE_INLINE Pack form_products(const double* form, int width_a, const double* a, int width_b, const double* b) {
  Pack sum = {};
  for (int r = 0; r < width_a; r += kLanes) sum += as_pack(form + r) * as_pack(a + r);
  for (int r = 0; r < width_b; r += kLanes) sum += as_pack(form + width_a + r) * as_pack(b + r);
  return sum;
}

// out[i] = form i · (a, b).
LITHE_INLINE void apply_forms(const double* const* forms, int count, int width_a, const double* a, int width_b,
                              const double* b, double* out) {
  with_widths(width_a, width_b, [&](auto wa, auto wb) {
    int i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      Pack sum[kLanes];
      for (int k = 0; k < kLanes; ++k) sum[k] = form_products(forms[i + k], wa, a, wb, b);
      transpose(sum[0], sum[1], sum[2], sum[3]);
      store_anywhere(out + i, (sum[0] + sum[2]) + (sum[1] + sum[3]));
    }
    for (; i < count; ++i) out[i] = lane_sum(form_products(forms[i], wa, a, wb, b));
  });
}

// (a, b) += Σ_i x[i]·form i.
LITHE_INLINE void add_forms(const double* const* forms, int count, const double* x, int width_a, double* a, int width_b,
                            double* b) {
  with_widths(width_a, width_b, [&](auto wa, auto wb) {
    if constexpr (!std::is_same_v<decltype(wa), int>) {  // sums stay in registers
      Pack sum[4] = {as_pack(a), as_pack(a + kLanes)};
      if (wb > 0) {
        sum[2] = as_pack(b);
        sum[3] = as_pack(b + kLanes);
      }
      for (int i = 0; i < count; ++i) {
        const Pack factor = broadcast(x[i]);
        for (int r = 0; r < (wa + wb) / kLanes; ++r) sum[r] += factor * as_pack(forms[i] + r * kLanes);
      }
      for (int r = 0; r < wa / kLanes; ++r) as_pack(a + r * kLanes) = sum[r];
      for (int r = 0; r < wb / kLanes; ++r) as_pack(b + r * kLanes) = sum[2 + r];
      return;
    }
    for (int i = 0; i < count; ++i) {
      const Pack factor = broadcast(x[i]);
      for (int r = 0; r < wa; r += kLanes) as_pack(a + r) += factor * as_pack(forms[i] + r);
      for (int r = 0; r < wb; r += kLanes) as_pack(b + r) += factor * as_pack(forms[i] + wa + r);
    }
  });
}

// block (rows × columns) += Σ_i P_iᵀ G_i, for parts of the forms that start at the given places.
LITHE_INLINE void add_outer_products(const double* const* P, int P_start, int rows, const double* const* G, int G_start,
                                     int columns, int count, double* block) {
  if (rows == 6 && columns == 6) {
    Pack sum[6][2] = {};
    for (int i = 0; i < count; ++i) {
      const double *p = P[i] + P_start, *g = G[i] + G_start;
      const Pack low = as_pack(p), high = as_pack(p + kLanes);
      for (int j = 0; j < 6; ++j) {
        const Pack factor = broadcast(g[j]);
        sum[j][0] += low * factor;
        sum[j][1] += high * factor;
      }
    }
    for (int j = 0; j < 6; ++j) {
      as_pack(block + 8 * j) += sum[j][0];
      as_pack(block + 8 * j + kLanes) += sum[j][1];
    }
    return;
  }
  const int stride = padded(rows);
  for (int i = 0; i < count; ++i) {
    const double *p = P[i] + P_start, *g = G[i] + G_start;
    for (int j = 0; j < columns; ++j) {
      if (g[j] == 0) continue;  // a tree's row has zeros off its path
      const Pack factor = broadcast(g[j]);
      for (int r = 0; r < stride; r += kLanes) as_pack(block + j * stride + r) += factor * as_pack(p + r);
    }
  }
}

bool is_at_a_bound(RowMode c) { return c == RowMode::at_lower || c == RowMode::at_upper; }

// ±μ of a friction row that slides under a clamping normal, else 0.
double share_of_normal(const LcpRow& row, RowMode own, std::span<const RowMode> modes) {
  if (!is_at_a_bound(own) || row.kind != RowKind::friction || modes[row.normal] != RowMode::clamping) return 0;
  return own == RowMode::at_upper ? row.friction : -row.friction;
}

// The impulse of a bounded row that is at a bound, else 0.
double imposed_impulse(const LcpRow& row, RowMode own) {
  if (!is_at_a_bound(own) || row.kind != RowKind::bounded) return 0;
  return own == RowMode::at_upper ? row.upper : row.lower;
}

}  // namespace

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

void BlockModeSystem::push(std::span<const double> f, double* u) const {
  std::fill_n(u, graph_->coordinates(), 0.0);
  for (std::size_t k = 0; k < sides_.size(); ++k) {
    const RowGroup& group = lcp_->groups[k];
    const Side& s = sides_[k];
    add_forms(&forms_[group.first_row], group.row_count, f.data() + group.first_row, s.width_a, u + s.start_a,
              s.width_b, u + s.start_b);
  }
}

double BlockModeSystem::form(int row, const double* u) const {
  const Side& s = sides_[group_of_[row]];
  double product = 0;
  with_widths(s.width_a, s.width_b, [&](auto wa, auto wb) {
    product = lane_sum(form_products(forms_[row], wa, u + s.start_a, wb, u + s.start_b));
  });
  return product;
}

void BlockModeSystem::add_form(int row, double factor, double* u) const {
  const Side& s = sides_[group_of_[row]];
  add_forms(&forms_[row], 1, &factor, s.width_a, u + s.start_a, s.width_b, u + s.start_b);
}

double BlockModeSystem::sweep(double ridge, double inert, std::span<double> f, double* u) const {
  // Coordinates answer a push, and each row reads its velocity from them.
  struct Operator {
    const BlockModeSystem& system;
    double ridge;
    std::span<const double> f;
    double* u;

    double diagonal(int i) const { return system.lcp_->diagonal[i] + ridge; }
    double velocity(int i) const { return system.form(i, u) + ridge * f[i] + system.lcp_->b[i]; }
    void push(int i, double change) const { system.add_form(i, change, u); }
  };
  Operator A{*this, ridge, f, u};
  return gauss_seidel::sweep(lcp_->rows, A, inert + ridge, f);
}

void BlockModeSystem::apply(std::span<const double> f, std::span<double> w) {
  double* u = e_.data();
  push(f, u);
  for (std::size_t k = 0; k < sides_.size(); ++k) {
    const RowGroup& group = lcp_->groups[k];
    const Side& s = sides_[k];
    apply_forms(&forms_[group.first_row], group.row_count, s.width_a, u + s.start_a, s.width_b, u + s.start_b,
                w.data() + group.first_row);
  }
}

void BlockModeSystem::evaluate(std::span<const double> f, std::span<double> w) {
  apply(f, w);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] += lcp_->b[i];
}

// Which rows clamp, and what their pushes take along.
void BlockModeSystem::gather(std::span<const RowMode> modes) {
  modes_ = modes;
  clamping_.clear();
  G_.clear();
  first_.clear();
  std::size_t room = 0;
  for (const RowGroup& group : lcp_->groups) {
    first_.push_back(static_cast<int>(clamping_.size()));
    for (int i = group.first_row; i < group.first_row + group.row_count; ++i) {
      if (modes[i] == RowMode::clamping) {
        clamping_.push_back(i);
        G_.push_back(forms_[i]);
      } else if (share_of_normal(lcp_->rows[i], modes[i], modes) != 0) {
        room += lcp_->width(group);
      }
    }
  }
  first_.push_back(static_cast<int>(clamping_.size()));
  P_ = G_;
  symmetric_ = room == 0;
  if (symmetric_) return;
  grow(pushes_, room);
  double* to = pushes_.data();
  for (std::size_t k = 0; k < lcp_->groups.size(); ++k) {
    const RowGroup& group = lcp_->groups[k];
    const int width = lcp_->width(group);
    for (int i = group.first_row; i < group.first_row + group.row_count; ++i) {
      const double share = share_of_normal(lcp_->rows[i], modes[i], modes);
      if (share == 0) continue;
      // The normal is in the same group.
      const auto first = clamping_.begin() + first_[k], last = clamping_.begin() + first_[k + 1];
      const auto at = std::lower_bound(first, last, lcp_->rows[i].normal) - clamping_.begin();
      if (P_[at] == G_[at]) {
        std::copy_n(G_[at], width, to);
        P_[at] = to;
        to += width;
      }
      double* pushed = pushes_.data() + (P_[at] - pushes_.data());
      for (int r = 0; r < width; r += kLanes) as_pack(pushed + r) += broadcast(share) * as_pack(forms_[i] + r);
    }
  }
}

void BlockModeSystem::assemble(double ridge) {
  factor_.start(*graph_, ridge);
  for (std::size_t k = 0; k < sides_.size(); ++k) {
    const int first = first_[k], count = first_[k + 1] - first;
    if (count == 0) continue;
    const RowGroup& group = lcp_->groups[k];
    const int width_a = sides_[k].width_a;
    const int size_a = lcp_->block_sizes[group.block_a];
    const double *const *G = &G_[first], *const *P = &P_[first];
    add_outer_products(P, 0, size_a, G, 0, size_a, count, factor_.block(offsets_[k].aa));
    if (group.block_b < 0) continue;
    const int size_b = lcp_->block_sizes[group.block_b];
    add_outer_products(P, width_a, size_b, G, width_a, size_b, count, factor_.block(offsets_[k].bb));
    const bool a_first = graph_->place(group.block_a) < graph_->place(group.block_b);
    if (!symmetric_ || a_first) {  // block (b, a)
      add_outer_products(P, width_a, size_b, G, 0, size_a, count, factor_.block(offsets_[k].ba));
    }
    if (!symmetric_ || !a_first) {
      add_outer_products(P, 0, size_a, G, width_a, size_b, count, factor_.block(offsets_[k].ab));
    }
  }
}

bool BlockModeSystem::factorize(std::span<const RowMode> modes, double ridge) {
  ridge_ = ridge;
  updates_.clear();
  gather(modes);
  assemble(ridge);
  factored_.assign(modes.begin(), modes.end());
  return factor_.factorize(symmetric_);
}

bool BlockModeSystem::refactorize(std::span<const RowMode> modes) {
  differing_.clear();
  for (int i = 0; i < lcp_->size(); ++i) {
    if (modes[i] != factored_[i]) differing_.push_back(i);
  }
  if (updates_.count() + static_cast<int>(differing_.size()) > kMostUpdates || !update(modes)) {
    return factorize(modes, ridge_);
  }
  gather(modes);
  factored_.assign(modes.begin(), modes.end());
  return true;
}

// Contact by contact: the rows that differ, a friction row with its normal.
bool BlockModeSystem::update(std::span<const RowMode> modes) {
  const auto contact_of = [&](int i) { return lcp_->rows[i].kind == RowKind::friction ? lcp_->rows[i].normal : i; };
  std::ranges::sort(differing_, {}, [&](int i) { return std::pair(contact_of(i), i); });
  grow(update_u_, graph_->coordinates());
  for (auto first = differing_.begin(); first != differing_.end();) {
    const int contact = contact_of(*first);
    const auto last = std::find_if(first, differing_.end(), [&](int i) { return contact_of(i) != contact; });
    update_contact(contact, {first, last}, modes);
    first = last;
  }
  return updates_.prepare();
}

// A row that begins to clamp adds g gᵀ to S, a friction row that begins to slide ±μ g g_nᵀ with its normal's g_n. So what only follows
// the normal is one product with g_n, and each friction row that begins or ends to clamp is one more.
void BlockModeSystem::update_contact(int normal, std::span<const int> rows, std::span<const RowMode> modes) {
  const auto change = [&](int i) {
    return static_cast<double>(modes[i] == RowMode::clamping) - static_cast<double>(factored_[i] == RowMode::clamping);
  };
  const auto change_of_share = [&](int i) {
    return share_of_normal(lcp_->rows[i], modes[i], modes) - share_of_normal(lcp_->rows[i], factored_[i], factored_);
  };
  const int group = group_of_[normal], width = lcp_->width(lcp_->groups[group]);
  double* u = update_u_.data();
  std::fill_n(u, graph_->coordinates(), 0.0);
  bool any = false;
  for (const int i : rows) {
    const double factor = i == normal ? change(i) : change(i) == 0 ? change_of_share(i) : 0.0;
    if (factor == 0) continue;
    add_form(i, factor, u);
    any = true;
  }
  if (any) add_update(u, group, forms_[normal]);

  grow(scratch_, width);
  for (const int i : rows) {
    if (i == normal || change(i) == 0) continue;
    const double own = change(i), share = change_of_share(i);
    std::fill_n(u, graph_->coordinates(), 0.0);
    add_form(i, 1, u);
    for (int k = 0; k < width; ++k) scratch_[k] = own * forms_[i][k] + share * forms_[normal][k];
    add_update(u, group, scratch_.data());
  }
}

void BlockModeSystem::add_update(const double* u, int group, const double* v) {
  const Side& s = sides_[group];
  updates_.add(factor_, graph_->coordinates(), u, {s.start_a, s.width_a, s.start_b, s.width_b}, v);
}

void BlockModeSystem::multiply(const Forms& forms, const double* u, double* x) const {
  for (std::size_t k = 0; k < sides_.size(); ++k) {
    const Side& s = sides_[k];
    const int first = first_[k];
    apply_forms(forms.data() + first, first_[k + 1] - first, s.width_a, u + s.start_a, s.width_b, u + s.start_b,
                x + first);
  }
}

void BlockModeSystem::multiply_transposed(const Forms& forms, const double* x, double* u) const {
  std::fill_n(u, graph_->coordinates(), 0.0);
  for (std::size_t k = 0; k < sides_.size(); ++k) {
    const Side& s = sides_[k];
    const int first = first_[k];
    add_forms(forms.data() + first, first_[k + 1] - first, x + first, s.width_a, u + s.start_a, s.width_b,
              u + s.start_b);
  }
}

void BlockModeSystem::expand(const double* f_C, std::span<double> f) const {
  for (std::size_t i = 0; i < f.size(); ++i) f[i] = imposed_impulse(lcp_->rows[i], modes_[i]);
  for (std::size_t c = 0; c < clamping_.size(); ++c) f[clamping_[c]] = f_C[c];
  if (symmetric_) return;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double share = share_of_normal(lcp_->rows[i], modes_[i], modes_);
    if (share != 0) f[i] = share * f[lcp_->rows[i].normal];
  }
}

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
    // A# x by proximal steps, then the ridge's first power.
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

void BlockModeSystem::inconsistent_part(std::span<double> r) const {
  std::fill(r.begin(), r.end(), 0.0);
  for (std::size_t c = 0; c < clamping_.size(); ++c) r[clamping_[c]] = r_[c];
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double share = share_of_normal(lcp_->rows[i], modes_[i], modes_);
    if (share != 0) r[i] = share * r[lcp_->rows[i].normal];
  }
}

void BlockModeSystem::start_polish(std::span<double> f) {
  multiply_G(z_.data(), g_.data());
  expand(g_.data(), f);
}

void BlockModeSystem::improve_polish(std::span<const double> w, std::span<double> f) {
  for (std::size_t c = 0; c < clamping_.size(); ++c) g_[c] = w[clamping_[c]];
  multiply_P_transposed(g_.data(), d_.data());
  solve_S(d_.data());
  solve_S(d_.data());
  for (int i = 0; i < coordinates(); ++i) z_[i] -= d_[i];
  multiply_G(z_.data(), g_.data());
  expand(g_.data(), f);
}

void BlockModeSystem::improve_plain_polish(std::span<double> f) {
  multiply_P_transposed(f_C_.data(), d_.data());
  for (int i = 0; i < coordinates(); ++i) d_[i] = y_[i] - d_[i];
  solve_S(d_.data());
  for (int i = 0; i < coordinates(); ++i) z_[i] += d_[i];
  multiply_G(z_.data(), g_.data());
  expand(g_.data(), f);
}

// Gram–Schmidt, twice each. What rows have left counts as a direction of its own where it is more than rounding by the same share.
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

void BlockModeSystem::respond(int row, double* u) {
  std::fill_n(u, coordinates(), 0.0);
  add_form(row, 1, u);
  solve_S(u);
  for (int i = 0; i < coordinates(); ++i) u[i] *= ridge_;
}

}  // namespace lithe::internal
