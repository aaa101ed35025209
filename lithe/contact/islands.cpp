#include "lithe/contact/islands.h"

#include <algorithm>
#include <numeric>

#include "lithe/core/check.h"

namespace lithe::internal {

namespace {

// The tree of a DoF, −1 of none.
int tree_of(const DofTree& tree, int dof) { return dof < 0 ? -1 : tree.chains[tree.chain[dof]].tree; }

// A tree that the constraint acts on.
int any_tree(const DofTree& tree, const Constraint& constraint) {
  const int a = tree_of(tree, constraint.dof_a);
  return a >= 0 ? a : tree_of(tree, constraint.dof_b);
}

}  // namespace

// The first tree of an island names it.
int Islands::root(int tree) const {
  while (parent_[tree] != tree) tree = parent_[tree];
  return tree;
}

int Islands::island_of(int tree) const { return island_of_[root(tree)]; }

// Connects two groups of trees (union–find), under the lower number.
void Islands::join(int a, int b) {
  for (const int tree : {a, b}) {  // shorten the ways
    for (int t = tree; parent_[t] != t; t = parent_[t]) parent_[t] = parent_[parent_[t]];
  }
  a = root(a);
  b = root(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

void Islands::clear() {
  islands_.clear();
  row_count_ = 0;
  std::fill(island_of_.begin(), island_of_.end(), -1);
}

// All constraints are one island, whose rows are numbered as they come.
void Islands::number(std::vector<Constraint>& constraints) {
  Island& island = islands_.emplace_back();
  for (Constraint& constraint : constraints) {
    constraint.first_row = island.row_count;
    island.row_count += constraint.rows;
  }
  island.constraint_count = static_cast<int>(constraints.size());
  row_count_ = island.row_count;
}

void Islands::find(const DofTree& tree, std::vector<Constraint>& constraints) {
  const std::size_t trees = tree.trees.size();
  clear();
  if (trees == 1 && !constraints.empty()) {  // there is nothing to find
    parent_.assign(1, 0);
    island_of_.assign(1, 0);
    return number(constraints);
  }
  parent_.resize(trees);
  std::iota(parent_.begin(), parent_.end(), 0);
  for (const Constraint& constraint : constraints) {
    const int a = tree_of(tree, constraint.dof_a);
    const int b = tree_of(tree, constraint.dof_b);
    LITHE_ASSERT(a >= 0 || b >= 0);
    if (a >= 0 && b >= 0 && a != b) join(a, b);
  }
  // A parent has the lower number: one pass makes every way one step long.
  for (int& parent : parent_) parent = parent_[parent];

  // Count, then place: a stable sort by island.
  island_of_.assign(trees, -1);
  for (const Constraint& constraint : constraints) island_of_[root(any_tree(tree, constraint))] = 0;
  for (int& island : island_of_) {
    if (island < 0) continue;
    island = static_cast<int>(islands_.size());
    islands_.push_back({});
  }
  const auto number_of = [&](const Constraint& c) { return island_of_[root(any_tree(tree, c))]; };
  bool in_order = true;
  int previous = 0;
  for (const Constraint& constraint : constraints) {
    const int number = number_of(constraint);
    in_order &= number >= previous;
    previous = number;
    ++islands_[number].constraint_count;
    islands_[number].row_count += constraint.rows;
  }
  int constraint_count = 0;
  for (Island& island : islands_) {
    island.first_constraint = constraint_count;
    island.first_row = row_count_;
    constraint_count += island.constraint_count;
    row_count_ += island.row_count;
  }
  if (in_order) {
    int first_row = 0;
    for (Constraint& constraint : constraints) {
      constraint.first_row = first_row;
      first_row += constraint.rows;
    }
    return;
  }
  for (Island& island : islands_) island.constraint_count = island.row_count = 0;  // counted again while placing
  sorted_.resize(constraints.size());
  for (const Constraint& constraint : constraints) {
    Island& island = islands_[number_of(constraint)];
    Constraint& placed = sorted_[island.first_constraint + island.constraint_count++];
    placed = constraint;
    placed.first_row = island.first_row + island.row_count;
    island.row_count += constraint.rows;
  }
  constraints.swap(sorted_);
}

}  // namespace lithe::internal
