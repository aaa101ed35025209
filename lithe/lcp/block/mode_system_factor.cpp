#include <algorithm>
#include <utility>

#include "lithe/lcp/block/bound_impulse.h"
#include "lithe/lcp/block/mode_system.h"
#include "lithe/linalg/padded_matrix.h"
#include "lithe/simd/pack.h"

// S = ε̄ I + Pᵀ G of a classification and its factor: computed anew, or brought up to date where few rows have changed their modes.
namespace lithe::internal {

namespace {

// Products that a factor is changed by before it is computed anew.
constexpr int kMostUpdates = 12;

// block (rows × columns) += Σ_i P_iᵀ G_i, for parts of the forms that start at the given places. The block of a free body, six by six,
// stays in registers while all rows of a group are added.
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

}  // namespace

// Lists the clamping rows with their G and P. P_i is G_i itself, but for normals under which friction slides: these get a copy, to which
// the forms of the sliding rows are added.
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
      // The first friction row that follows this normal makes the copy.
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

// A group of rows adds to the blocks of S that its one or two bodies have. Where S is symmetric, of the two blocks that couple them only
// the one below the diagonal, in the order of elimination, is read and so filled.
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

// Too many updates would be dearer than a factorisation, and leave fewer digits.
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

// Adds the updates contact by contact: the rows of one contact share the form of their normal.
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
// the normal is one product with g_n, and each friction row that begins or ceases to clamp is one more.
void BlockModeSystem::update_contact(int normal, std::span<const int> rows, std::span<const RowMode> modes) {
  // +1 for a row that begins to clamp, −1 for one that ceases to.
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

// S += u vᵀ, with v on the blocks of this group.
void BlockModeSystem::add_update(const double* u, int group, const double* v) {
  const Side& s = sides_[group];
  updates_.add(factor_, graph_->coordinates(), u, {s.start_a, s.width_a, s.start_b, s.width_b}, v);
}

}  // namespace lithe::internal
