#pragma once

#include <vector>

#include "lithe/contact/constraint_set.h"

namespace lithe::internal {

// Trees that no constraint connects move independently, and so do their constraints: each group of connected trees, an
// island, is an LCP of its own.
struct Island {
  int first_constraint = 0, constraint_count = 0;
  int first_row = 0, row_count = 0;
};

// Sorts constraints by island, islands by their first tree, otherwise keeping the order, and numbers the rows.
class Islands {
 public:
  void find(const DofTree& tree, std::vector<Constraint>& constraints);
  void clear();  // as if there were no constraints

  const std::vector<Island>& islands() const { return islands_; }
  int row_count() const { return row_count_; }
  // The island of a tree, or −1 if nothing touches it.
  int island_of(int tree) const;

 private:
  int root(int tree) const;
  void join(int a, int b);
  void number(std::vector<Constraint>& constraints);  // all in one island

  std::vector<Island> islands_;
  int row_count_ = 0;
  // Workspace.
  std::vector<int> parent_;     // per tree, towards the first tree of its island
  std::vector<int> island_of_;  // per tree that is an island's first
  std::vector<Constraint> sorted_;
};

}  // namespace lithe::internal
