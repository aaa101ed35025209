#include "lithe/contact/tree_forms.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lithe/contact/contact_problem.h"
#include "lithe/linalg/padded_matrix.h"

namespace lithe::internal {

namespace {

// Robots with fewer rows are solved with A: light limbs on heavy ones need its finer judgement of ranks.
constexpr int kRobotRows = 300;
// What one classification costs without A, in multiplications: products with G, and a block and its neighbours in the factor.
constexpr double kPerRow = 640;
constexpr double kPerTree = 4000;

// The tree that a touch belongs to.
const DofTree::Tree& tree_of_touch(const DofTree& tree, const Touch& touch) {
  return tree.trees[tree.chains[tree.chain[touch.dof]].tree];
}

}  // namespace

// The trees that the island's rows act on, ascending, and how many DoFs each has.
void TreeForms::find_blocks(const DofTree& tree, const ContactProblem& problem, int island) {
  const TouchSpace& space = problem.touches;
  for (const int block : blocks_) {
    if (block < static_cast<int>(block_of_.size())) block_of_[block] = -1;
  }
  block_of_.resize(space.blocks.size(), -1);
  blocks_.clear();
  for (const Patch& patch : problem.patches_of(island)) {
    for (const int touch : {patch.touch_a, patch.touch_b}) {
      const int block = space.block_of(touch);
      if (block < 0 || block_of_[block] >= 0) continue;
      block_of_[block] = 0;
      blocks_.push_back(block);
    }
  }
  std::sort(blocks_.begin(), blocks_.end());
  sizes_.clear();
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    block_of_[blocks_[k]] = static_cast<int>(k);
    sizes_.push_back(tree_of_touch(tree, space.touches[space.blocks[blocks_[k]].first_touch]).dof_count);
  }
  dofs_ = sizes_;
}

// One group per patch; a compliance makes its tree's block larger.
void TreeForms::find_groups(const ContactProblem& problem, int island) {
  const TouchSpace& space = problem.touches;
  const int first_row = problem.islands.islands()[island].first_row;
  groups_.clear();
  for (const Patch& patch : problem.patches_of(island)) {
    const int a = space.block_of(patch.touch_a), b = space.block_of(patch.touch_b);
    RowGroup& group = groups_.emplace_back();
    group.block_a = block_of_[a >= 0 ? a : b];
    group.block_b = a >= 0 && b >= 0 && a != b ? block_of_[b] : -1;
    group.first_row = patch.first_row - first_row;
    group.row_count = patch.row_count;
    for (int r = 0; r < patch.row_count; ++r) {
      if (problem.compliance[patch.first_row + r] > 0) ++sizes_[group.block_a];
    }
  }
  const auto width_of = [&](int block) { return block < 0 ? 0 : padded(sizes_[block]); };
  std::ptrdiff_t size = 0;
  for (RowGroup& group : groups_) {
    group.start = size;
    size += static_cast<std::ptrdiff_t>(group.row_count) * (width_of(group.block_a) + width_of(group.block_b));
  }
  grow(G_, size);
}

namespace {

// Whether the way down to the touch is the tree's first DoFs one after the other, as a free body's six are.
bool goes_straight_down(const DofTree& tree, const Touch& touch) {
  return tree.position[touch.dof] == touch.dof - tree_of_touch(tree, touch).first_dof;
}

// The rows T W of a free body, `width` apart. A wall has thousands of them, and W stays in registers.
LITHE_INLINE void write_free_body(const Patch& patch, const double* T, const double* W, double* rows, int width) {
  Pack low[6], high[6];
  for (int k = 0; k < 6; ++k) {
    low[k] = as_pack(W + 8 * k);
    high[k] = as_pack(W + 8 * k + kLanes);
  }
  for (int r = 0; r < patch.row_count; ++r, rows += width) {
    Pack sum[2] = {};
    for (int k = 0; k < 6; ++k) {
      const Pack factor = broadcast(T[k * patch.stride + r]);
      sum[0] += factor * low[k];
      sum[1] += factor * high[k];
    }
    as_pack(rows) = sum[0];
    as_pack(rows + kLanes) = sum[1];
  }
}

}  // namespace

// Adds T W of one side to the rows, which are `width` apart.
void TreeForms::write_side(const DofTree& tree, const ContactProblem& problem, int patch_index, bool second,
                           double* rows, int width) {
  const TouchSpace& space = problem.touches;
  const Patch& patch = problem.patches[patch_index];
  const Touch& touch = space.touches[second ? patch.touch_b : patch.touch_a];
  const int first_dof = tree_of_touch(tree, touch).first_dof;
  const double* T = problem.side(patch, second);
  const double* W = space.W.data() + touch.W_start;
  const int stride = touch.packs * kLanes;
  if (goes_straight_down(tree, touch) && stride <= width) {  // whole packs fit
    for (int r = 0; r < patch.row_count; ++r, rows += width) {
      for (int g = 0; g < stride; g += kLanes) {
        Pack sum = as_pack(rows + g);
        for (int k = 0; k < touch.size; ++k) sum += broadcast(T[k * patch.stride + r]) * as_pack(W + k * stride + g);
        as_pack(rows + g) = sum;
      }
    }
    return;
  }
  coordinate_.assign(stride, -1);
  for (int dof = touch.dof; dof >= 0; dof = tree.parent[dof]) coordinate_[tree.position[dof]] = dof - first_dof;
  for (int r = 0; r < patch.row_count; ++r, rows += width) {
    for (int p = 0; p < stride; ++p) {
      if (coordinate_[p] < 0) continue;
      double sum = 0;
      for (int k = 0; k < touch.size; ++k) sum += T[k * patch.stride + r] * W[k * stride + p];
      rows[coordinate_[p]] += sum;
    }
  }
}

// Each side has six coordinates to itself.
bool TreeForms::is_of_free_bodies(const DofTree& tree, const ContactProblem& problem, const Patch& patch,
                                  const RowGroup& group) const {
  if (sizes_[group.block_a] != 6 || (group.block_b >= 0 && sizes_[group.block_b] != 6)) return false;
  if (group.block_b < 0 && patch.touch_a >= 0 && patch.touch_b >= 0) return false;
  return std::ranges::all_of(std::array{patch.touch_a, patch.touch_b}, [&](int index) {
    if (index < 0) return true;
    const Touch& touch = problem.touches.touches[index];
    return touch.size == 6 && touch.packs == 2 && goes_straight_down(tree, touch);
  });
}

// G group by group, and A_ii = g_i·g_i.
void TreeForms::compute(const DofTree& tree, const ContactProblem& problem, int island_index) {
  const Island& island = problem.islands.islands()[island_index];
  find_blocks(tree, problem, island_index);
  find_groups(problem, island_index);
  diagonal_.resize(island.row_count);
  std::vector<int>& next_compliant = dofs_;  // the next free coordinate of each block
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    const RowGroup& group = groups_[k];
    const int index = problem.first_patch[island_index] + static_cast<int>(k);
    const Patch& patch = problem.patches[index];
    const int width_a = padded(sizes_[group.block_a]);
    const int width = width_a + (group.block_b < 0 ? 0 : padded(sizes_[group.block_b]));
    double* rows = G_.data() + group.start;
    double* rows_b = rows + (group.block_b < 0 ? 0 : width_a);
    if (is_of_free_bodies(tree, problem, patch, group)) {
      const TouchSpace& space = problem.touches;
      const auto W = [&](int touch) { return space.W.data() + space.touches[touch].W_start; };
      if (patch.touch_a >= 0) write_free_body(patch, problem.side(patch, false), W(patch.touch_a), rows, width);
      if (patch.touch_b >= 0) write_free_body(patch, problem.side(patch, true), W(patch.touch_b), rows_b, width);
    } else {
      std::fill_n(rows, static_cast<std::ptrdiff_t>(width) * group.row_count, 0.0);
      if (patch.touch_a >= 0) write_side(tree, problem, index, false, rows, width);
      if (patch.touch_b >= 0) write_side(tree, problem, index, true, rows_b, width);
    }
    for (int r = 0; r < group.row_count; ++r, rows += width) {
      const double compliance = problem.compliance[patch.first_row + r];
      if (compliance > 0) rows[next_compliant[group.block_a]++] = std::sqrt(compliance);
      Pack sum = {};
      for (int g = 0; g < width; g += kLanes) sum += as_pack(rows + g) * as_pack(rows + g);
      diagonal_[group.first_row + r] = lane_sum(sum);
    }
  }
}

FactoredLcp TreeForms::lcp(const ContactProblem& problem, int island_index) const {
  const Island& island = problem.islands.islands()[island_index];
  const auto part = [&](const auto& all) { return std::span(all).subspan(island.first_row, island.row_count); };
  return {.rows = part(problem.rows),
          .block_sizes = sizes_,
          .groups = groups_,
          .G = G_.data(),
          .diagonal = diagonal_,
          .b = part(problem.b),
          .target = part(problem.target),
          .scales = problem.scales_of(island_index)};
}

bool prefers_trees(const DofTree& tree, const ContactProblem& problem, int island_index, const LcpOptions& options) {
  const int rows = problem.islands.islands()[island_index].row_count;
  if (rows > options.direct_rows) return true;
  if (options.method != LcpMethod::direct || rows <= options.block_rows) return false;
  // Patches are mostly in the order of their first touches, and those with one first touch in that of their second ones. So trees are
  // counted on each side as they come up for the first time there, and the side with more of them has nearly all.
  struct Side {
    int last = -1;
    double dofs = 0, trees = 0;
  } sides[2];
  for (const Patch& patch : problem.patches_of(island_index)) {
    for (const auto& [side, touch] : {std::pair(&sides[0], patch.touch_a), std::pair(&sides[1], patch.touch_b)}) {
      if (touch < 0) continue;
      const int block = problem.touches.block_of(touch);
      const int size = tree_of_touch(tree, problem.touches.touches[touch]).dof_count;
      if (size > 6 && rows <= kRobotRows) return false;
      if (block <= side->last) continue;
      side->last = block;
      side->dofs += size;
      side->trees += 1;
    }
  }
  const Side& fuller = sides[0].trees < sides[1].trees ? sides[1] : sides[0];
  // With A one classification costs about rows·rank²; without it, products with G and elimination of a block per tree.
  const double rank = std::min<double>(rows, fuller.dofs);
  return rows * rank * rank > kPerRow * rows + kPerTree * fuller.trees;
}

}  // namespace lithe::internal
