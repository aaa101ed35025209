#include "lithe/contact/tangent_basis.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

void expect_right_handed(const Vec3& n) {
  const TangentBasis basis = tangent_basis(n);
  Mat3 frame;
  frame << basis.t1, basis.t2, n;
  EXPECT_LT((frame.transpose() * frame - Mat3::Identity()).cwiseAbs().maxCoeff(), 1e-14) << n.transpose();
  EXPECT_GT(frame.determinant(), 0) << n.transpose();
}

TEST(TangentBasis, IsRightHandedAndOrthonormal) {
  for_random_cases(10000, [](std::mt19937_64& random) { expect_right_handed(random_vec3(random).normalized()); });
  for (int k = 0; k < 3; ++k) {
    expect_right_handed(Vec3::Unit(k));
    expect_right_handed(-Vec3::Unit(k));
  }
}

TEST(TangentBasis, OfAFloorIsXAndY) {
  const TangentBasis basis = tangent_basis(Vec3::UnitZ());
  EXPECT_EQ(basis.t1, Vec3::UnitX());
  EXPECT_EQ(basis.t2, Vec3::UnitY());
}

TEST(TangentBasis, OfAWallDoesNotDependOnTheSignOfZero) {
  const TangentBasis plus = tangent_basis(Vec3(0.6, 0.8, 0.0));
  const TangentBasis minus = tangent_basis(Vec3(0.6, 0.8, -0.0));
  EXPECT_EQ(plus.t1, minus.t1);
  EXPECT_EQ(plus.t2, minus.t2);
}

TEST(TangentBasis, IsContinuousAwayFromItsSeam) {
  for_random_cases(10000, [](std::mt19937_64& random) {
    const Vec3 n = random_vec3(random).normalized();
    if (std::abs(n.z()) < 1e-5) return Outcome::skipped;  // within a step of the seam
    const Vec3 near = (n + random_vec3(random, 1e-7)).normalized();
    const TangentBasis a = tangent_basis(n);
    const TangentBasis b = tangent_basis(near);
    // No direction turns faster than twice the normal does.
    EXPECT_LT((a.t1 - b.t1).norm(), 2.1 * (n - near).norm() + 1e-14);
    EXPECT_LT((a.t2 - b.t2).norm(), 2.1 * (n - near).norm() + 1e-14);
    return Outcome::checked;
  });
}

}  // namespace
}  // namespace lithe::test
