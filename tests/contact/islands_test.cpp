#include "lithe/contact/islands.h"

#include <gtest/gtest.h>

#include "lithe/scenes/solids/free_bodies.h"

namespace lithe::test {

using namespace internal;
namespace {

// Nine free boxes: nine trees of six DoFs.
class IslandsTest : public testing::Test {
 protected:
  static Constraint between(int tree_a, int tree_b, int rows, int index) {
    const auto last_dof = [](int tree) { return tree < 0 ? -1 : 6 * tree + 5; };
    return {.rows = rows, .index = index, .dof_a = last_dof(tree_a), .dof_b = last_dof(tree_b)};
  }
  const std::vector<Island>& find(std::vector<Constraint> constraints) {
    constraints_ = std::move(constraints);
    islands_.find(model_.tree(), constraints_);
    return islands_.islands();
  }

  Model model_ = boxes(9).build();
  Islands islands_;
  std::vector<Constraint> constraints_;
};

TEST_F(IslandsTest, NothingTouchesNothing) {
  EXPECT_TRUE(find({}).empty());
  EXPECT_EQ(islands_.row_count(), 0);
}

TEST_F(IslandsTest, TheGroundConnectsNobody) {
  EXPECT_EQ(find({between(0, -1, 3, 0), between(1, -1, 3, 1), between(-1, 2, 3, 2)}).size(), 3);
}

TEST_F(IslandsTest, ChainsOfConstraintsConnect) {
  const std::vector<Island>& islands = find({between(0, 5, 3, 0), between(7, 8, 1, 1), between(5, 8, 3, 2)});
  ASSERT_EQ(islands.size(), 1);
  EXPECT_EQ(islands[0].row_count, 7);
}

TEST_F(IslandsTest, AreOrderedByTheirFirstTreeAndKeepTheOrderWithin) {
  // Two islands, {1, 8} and {2, 3}, that alternate.
  const std::vector<Island>& islands =
      find({between(3, 2, 1, 0), between(8, 1, 3, 1), between(2, -1, 2, 2), between(1, -1, 6, 3)});
  ASSERT_EQ(islands.size(), 2);
  EXPECT_EQ(islands[0].first_row, 0);
  EXPECT_EQ(islands[0].row_count, 9);
  EXPECT_EQ(islands[1].first_row, 9);
  EXPECT_EQ(islands[1].row_count, 3);
  std::vector<int> order, rows;
  for (const Constraint& constraint : constraints_) {
    order.push_back(constraint.index);
    rows.push_back(constraint.first_row);
  }
  EXPECT_EQ(order, (std::vector<int>{1, 3, 0, 2}));
  EXPECT_EQ(rows, (std::vector<int>{0, 3, 9, 10}));
}

}  // namespace
}  // namespace lithe::test
