#pragma once

#include <vector>

#include "lithe/collision/broad/aabb.h"

namespace lithe::internal {

// A binary tree of boxes that grows and shrinks leaf by leaf. A leaf goes beside the sibling that makes the tree's
// total surface grow least, and rotations on the way up keep it shallow. What a query finds does not depend on the
// tree's form, only the order does.
class AabbTree {
 public:
  static constexpr int kNone = -1;

  void clear();
  // Returns the leaf's number, valid until it is removed.
  int insert(const Aabb& box, int item);
  void remove(int leaf);

  const Aabb& box(int leaf) const { return nodes_[leaf].box; }
  int height() const { return root_ == kNone ? 0 : nodes_[root_].height; }

  // Calls visit(item) for every leaf whose box overlaps `box`.
  template <class Visit>
  void query(const Aabb& box, std::vector<int>& stack, Visit visit) const {
    stack.clear();
    if (root_ != kNone) stack.push_back(root_);
    while (!stack.empty()) {
      const Node& node = nodes_[stack.back()];
      stack.pop_back();
      if (!overlap(node.box, box)) continue;
      if (node.is_leaf()) {
        visit(node.item);
      } else {
        stack.push_back(node.child[0]);
        stack.push_back(node.child[1]);
      }
    }
  }

 private:
  struct Node {
    Aabb box;
    int parent;
    int child[2];  // leaf: kNone
    int height;    // leaf: 0
    int item;      // leaf only
    bool is_leaf() const { return child[0] == kNone; }
  };

  int new_node();
  int best_sibling(const Aabb& box) const;
  void refit(int node);
  void refit_upwards(int node);
  void rotate(int node);
  void replace_child(int parent, int old_child, int new_child);

  std::vector<Node> nodes_;
  std::vector<int> free_;
  int root_ = kNone;
};

}  // namespace lithe::internal
