#include "lithe/contact/dof_forms.h"

#include <algorithm>
#include <bit>

#include "lithe/contact/contact_problem.h"
#include "lithe/linalg/padded_matrix.h"

namespace lithe::internal {

namespace {

// Numbers in a block: four rows by the four DoFs of a pack.
constexpr int kBlock = kLanes * kLanes;
constexpr int kMostPacks = 64;  // as many as a set can hold

// The place of a member among those of its set.
LITHE_INLINE int rank_of(std::uint64_t member, std::uint64_t set) { return std::popcount(set & (member - 1)); }

// Calls visit(member, number) for all members, in order.
template <class Visit>
LITHE_INLINE void for_each_member(std::uint64_t set, Visit visit) {
  for (; set != 0; set &= set - 1) visit(set & -set, std::countr_zero(set));
}

// The g-th pack on the way from the root to a DoF.
int pack_on_path(const DofTree& tree, int dof, int g) {
  return tree.path_groups[tree.chains[tree.chain[dof]].first_group + g] / kLanes;
}

}  // namespace

// The packs on a touch's path, which get their numbers as they come up. Parents get theirs before what hangs on them, so a path's packs
// ascend.
bool DofForms::find_packs(const DofTree& tree, const Touch& touch, Packs& packs) {
  packs = 0;
  for (int g = 0; g < touch.packs; ++g) {
    const int pack = pack_on_path(tree, touch.dof, g);
    int& number = number_of_pack_[pack];
    if (number < 0) {
      number = static_cast<int>(packs_.size());
      if (number == kMostPacks) return false;
      packs_.push_back(pack);
      const int first = tree.group_dof[pack];
      const DofTree::Chain& chain = tree.chains[tree.chain[first]];
      lanes_.push_back(std::min(kLanes, chain.first_dof + chain.dof_count - first));
    }
    packs |= Packs{1} << number;
  }
  return true;
}

bool DofForms::find_packs(const DofTree& tree, const TouchSpace& space, std::span<const Patch> patches) {
  number_of_pack_.assign(tree.slot_count / kLanes, -1);
  packs_of_touch_.assign(space.touches.size(), 0);
  packs_.clear();
  lanes_.clear();
  for (const Patch& patch : patches) {
    for (const int touch : {patch.touch_a, patch.touch_b}) {
      if (touch < 0 || packs_of_touch_[touch] != 0) continue;
      if (!find_packs(tree, space.touches[touch], packs_of_touch_[touch])) return false;
    }
  }
  return true;
}

// What one side of a patch adds to its rows, which have these packs.
void DofForms::add_side(const DofTree& tree, const TouchSpace& space, const Touch& touch, const double* coefficients,
                        int stride, int rows, Packs packs, double* out) const {
  const int width = kLanes * std::popcount(packs);
  const double* W = space.W.data() + touch.W_start;
  const int W_stride = kLanes * touch.packs;
  for (int g = 0; g < touch.packs; ++g, W += kLanes) {
    const int number = number_of_pack_[pack_on_path(tree, touch.dof, g)];
    double* to = out + kLanes * rank_of(Packs{1} << number, packs);
    Pack w[6];
    for (int k = 0; k < touch.size; ++k) w[k] = as_pack(W + k * W_stride);
    for (int r = 0; r < rows; ++r, to += width) {
      Pack sum = as_pack(to);
      for (int k = 0; k < touch.size; ++k) sum += broadcast(coefficients[k * stride + r]) * w[k];
      as_pack(to) = sum;
    }
  }
}

// A row on one DoF is a multiple of that DoF's row of W, and is not copied. All others are sums over both sides, on the packs of both.
void DofForms::add_rows(const DofTree& tree, const TouchSpace& space, const Patch& patch, const double* coefficients) {
  const Touch* a = patch.touch_a < 0 ? nullptr : &space.touches[patch.touch_a];
  const Touch* b = patch.touch_b < 0 ? nullptr : &space.touches[patch.touch_b];
  coefficients += patch.start;
  if (a != nullptr && b == nullptr && a->size == 1) {
    const Packs packs = packs_of_touch_[patch.touch_a];
    for (int r = 0; r < patch.row_count; ++r) rows_.push_back({packs, space.W.data() + a->W_start, coefficients[r]});
    return;
  }
  const Packs packs =
      (a != nullptr ? packs_of_touch_[patch.touch_a] : 0) | (b != nullptr ? packs_of_touch_[patch.touch_b] : 0);
  const int width = kLanes * std::popcount(packs);
  double* out = numbers_.data() + numbers_used_;
  numbers_used_ += static_cast<std::size_t>(width) * patch.row_count;
  std::fill_n(out, width * patch.row_count, 0.0);
  if (a != nullptr) add_side(tree, space, *a, coefficients, patch.stride, patch.row_count, packs, out);
  if (b != nullptr) {
    const double* of_b = coefficients + space.size_of(patch.touch_a) * patch.stride;
    add_side(tree, space, *b, of_b, patch.stride, patch.row_count, packs, out);
  }
  for (int r = 0; r < patch.row_count; ++r, out += width) rows_.push_back({packs, out, 1});
}

// Up to four rows become the blocks of one group. A row has zeros in packs that only others of its group have.
void DofForms::add_group(const Row* rows, int count) {
  Group group{.packs = 0, .start = static_cast<int>(blocks_used_)};
  for (int r = 0; r < count; ++r) group.packs |= rows[r].packs;
  double* out = blocks_.data() + blocks_used_;
  for_each_member(group.packs, [&](Packs pack, int) {
    Pack x[kLanes] = {};
    for (int r = 0; r < count; ++r) {
      if ((rows[r].packs & pack) == 0) continue;
      x[r] = broadcast(rows[r].factor) * as_pack(rows[r].numbers + kLanes * rank_of(pack, rows[r].packs));
    }
    transpose(x[0], x[1], x[2], x[3]);
    for (int s = 0; s < kLanes; ++s) as_pack(out + kLanes * s) = x[s];
    out += kBlock;
  });
  blocks_used_ = static_cast<std::size_t>(out - blocks_.data());
  groups_.push_back(group);
}

bool DofForms::compute(const DofTree& tree, const TouchSpace& space, std::span<const Patch> patches,
                       const double* coefficients, int row_count) {
  if (!find_packs(tree, space, patches)) return false;
  std::size_t most = 0;  // numbers
  for (const Patch& patch : patches) {
    int packs = 0;
    for (const int touch : {patch.touch_a, patch.touch_b}) packs += touch < 0 ? 0 : space.touches[touch].packs;
    most += static_cast<std::size_t>(kLanes) * packs * patch.row_count;
  }
  grow(numbers_, most);
  numbers_used_ = blocks_used_ = 0;
  rows_.clear();
  groups_.clear();
  for (const Patch& patch : patches) add_rows(tree, space, patch, coefficients);
  // No group has more packs than its rows together.
  std::size_t blocks = 0;
  for (const Row& row : rows_) blocks += std::popcount(row.packs);
  grow(blocks_, kBlock * blocks);
  for (int r = 0; r < row_count; r += kLanes) add_group(&rows_[r], std::min(kLanes, row_count - r));
  return true;
}

void DofForms::multiply(double* A, int stride) const {
  const int n = static_cast<int>(rows_.size()), count = static_cast<int>(groups_.size());
  for (int J = 0; J < count; ++J) {
    const Group& b = groups_[J];
    double* columns = A + static_cast<std::ptrdiff_t>(kLanes) * J * stride;
    const int column_count = std::min(kLanes, n - kLanes * J);
    // Two groups meet in the packs that both have. What is below the diagonal is transposed into its place above.
    for (int I = J; I < count; ++I) {
      const Group& a = groups_[I];
      Pack sum[kLanes] = {};
      for_each_member(a.packs & b.packs, [&](Packs pack, int number) {
        const double* x = blocks_.data() + a.start + kBlock * rank_of(pack, a.packs);
        const double* y = blocks_.data() + b.start + kBlock * rank_of(pack, b.packs);
        for (int s = 0; s < lanes_[number]; ++s, x += kLanes, y += kLanes) {
          const Pack xs = as_pack(x);
          for (int c = 0; c < kLanes; ++c) sum[c] += xs * broadcast(y[c]);
        }
      });
      for (int c = 0; c < column_count; ++c) as_pack(columns + c * stride + kLanes * I) = sum[c];
      if (I == J) continue;
      transpose(sum[0], sum[1], sum[2], sum[3]);
      double* mirrored = A + static_cast<std::ptrdiff_t>(kLanes) * I * stride + kLanes * J;
      for (int c = 0; c < std::min(kLanes, n - kLanes * I); ++c) as_pack(mirrored + c * stride) = sum[c];
    }
    for (int c = 0; c < column_count; ++c) std::fill(columns + c * stride + padded(n), columns + (c + 1) * stride, 0.0);
  }
}

}  // namespace lithe::internal
