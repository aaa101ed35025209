#include "lithe/collision/broad/aabb_tree.h"

#include <algorithm>

namespace lithe::internal {

void AabbTree::clear() {
  nodes_.clear();
  free_.clear();
  root_ = kNone;
}

int AabbTree::new_node() {
  if (!free_.empty()) {
    const int node = free_.back();
    free_.pop_back();
    return node;
  }
  nodes_.emplace_back();
  return static_cast<int>(nodes_.size()) - 1;
}

// Walks down to where the new leaf costs least. At each node: stay, and pay the area of a parent around both; or go
// on into a child, and pay what that child's box grows by, on top of what this node's grows by.
int AabbTree::best_sibling(const Aabb& box) const {
  int node = root_;
  while (!nodes_[node].is_leaf()) {
    const Node& n = nodes_[node];
    const double with_box = half_area(merged(n.box, box));
    const double stay = 2 * with_box;
    const double inherited = 2 * (with_box - half_area(n.box));
    double descend[2];
    for (int k = 0; k < 2; ++k) {
      const Node& child = nodes_[n.child[k]];
      const double grown_area = half_area(merged(child.box, box));
      descend[k] = inherited + (child.is_leaf() ? grown_area : grown_area - half_area(child.box));
    }
    const int best = descend[1] < descend[0] ? 1 : 0;
    if (stay <= descend[best]) return node;
    node = n.child[best];
  }
  return node;
}

int AabbTree::insert(const Aabb& box, int item) {
  const int leaf = new_node();
  nodes_[leaf] = {box, kNone, {kNone, kNone}, 0, item};
  if (root_ == kNone) {
    root_ = leaf;
    return leaf;
  }
  const int sibling = best_sibling(box);
  const int old_parent = nodes_[sibling].parent;
  const int parent = new_node();
  nodes_[parent] = {merged(nodes_[sibling].box, box), old_parent, {sibling, leaf}, nodes_[sibling].height + 1, kNone};
  nodes_[sibling].parent = parent;
  nodes_[leaf].parent = parent;
  replace_child(old_parent, sibling, parent);
  refit_upwards(old_parent);
  return leaf;
}

void AabbTree::remove(int leaf) {
  free_.push_back(leaf);
  if (leaf == root_) {
    root_ = kNone;
    return;
  }
  const int parent = nodes_[leaf].parent;
  const int sibling = nodes_[parent].child[nodes_[parent].child[0] == leaf ? 1 : 0];
  const int grandparent = nodes_[parent].parent;
  nodes_[sibling].parent = grandparent;
  replace_child(grandparent, parent, sibling);
  free_.push_back(parent);
  refit_upwards(grandparent);
}

void AabbTree::replace_child(int parent, int old_child, int new_child) {
  if (parent == kNone) {
    root_ = new_child;
  } else {
    nodes_[parent].child[nodes_[parent].child[0] == old_child ? 0 : 1] = new_child;
  }
}

void AabbTree::refit(int node) {
  Node& n = nodes_[node];
  const Node& left = nodes_[n.child[0]];
  const Node& right = nodes_[n.child[1]];
  n.box = merged(left.box, right.box);
  n.height = 1 + std::max(left.height, right.height);
}

void AabbTree::refit_upwards(int node) {
  for (; node != kNone; node = nodes_[node].parent) {
    rotate(node);
    refit(node);
  }
}

// If one child is higher than the other by two, its higher child changes places with the other.
void AabbTree::rotate(int node) {
  Node& n = nodes_[node];
  const int tall = nodes_[n.child[0]].height > nodes_[n.child[1]].height ? 0 : 1;
  const int high = n.child[tall];
  const int low = n.child[1 - tall];
  if (nodes_[high].height - nodes_[low].height < 2) return;
  Node& h = nodes_[high];
  const int up = nodes_[h.child[0]].height > nodes_[h.child[1]].height ? 0 : 1;
  const int moved = h.child[up];
  h.child[up] = low;
  nodes_[low].parent = high;
  n.child[1 - tall] = moved;
  nodes_[moved].parent = node;
  refit(high);
}

}  // namespace lithe::internal
