#include "lithe/spatial/pose.h"

#include <gtest/gtest.h>

#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe {
namespace {

TEST(Pose, TakesPointsFromTheInnerFrameToTheOuter) {
  const Mat3 quarter_turn = rotation_about(Vec3::UnitZ(), 1.5707963267948966);
  const Pose X{quarter_turn, Vec3(1, 2, 3)};
  EXPECT_LT((X * Vec3(1, 0, 0) - Vec3(1, 3, 3)).norm(), 1e-15);
  EXPECT_EQ(Pose::translation(1, 2, 3) * Vec3(1, 1, 1), Vec3(2, 3, 4));
}

TEST(Pose, ProductAppliesTheRightOneFirst) {
  test::for_random_cases(20, [](std::mt19937_64& random) {
    const Pose a = test::random_pose(random);
    const Pose b = test::random_pose(random);
    const Vec3 x = test::random_vec3(random);
    EXPECT_LT(((a * b) * x - a * (b * x)).norm(), 1e-14);
  });
}

TEST(Pose, InverseUndoesIt) {
  test::for_random_cases(20, [](std::mt19937_64& random) {
    const Pose X = test::random_pose(random);
    const Pose nothing = X.inverse() * X;
    EXPECT_LT((nothing.R - Mat3::Identity()).norm() + nothing.p.norm(), 1e-14);
  });
}

}  // namespace
}  // namespace lithe
