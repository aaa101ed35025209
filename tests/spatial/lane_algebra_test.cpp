#include "lithe/spatial/internal/lane_algebra.h"

#include <gtest/gtest.h>

#include "lithe/spatial/inertia.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe {

using namespace internal;
namespace {

constexpr double kTolerance = 1e-13;

Motion<double> motion(const Vec6& m) { return {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}}; }
Force<double> force(const Vec6& F) { return {{F[0], F[1], F[2]}, {F[3], F[4], F[5]}}; }
Vec6 vector(const Motion<double>& m) { return Vec6(m.w.x, m.w.y, m.w.z, m.v.x, m.v.y, m.v.z); }
Vec6 vector(const Force<double>& F) { return Vec6(F.n.x, F.n.y, F.n.z, F.f.x, F.f.y, F.f.z); }

Inertia10<double> ten(const SpatialInertia& inertia) {
  const Vec10 p = inertia.parameters();
  return {p[0], {p[1], p[2], p[3]}, p[4], p[5], p[6], p[7], p[8], p[9]};
}

// Four slots of random numbers.
template <int Rows>
Lanes<Rows> random_lanes(std::mt19937_64& random) {
  Lanes<Rows> lanes;
  lanes.resize(4);
  for (int slot = 0; slot < 4; ++slot) {
    const VecX column = test::random_vector(random, Rows);
    for (int row = 0; row < Rows; ++row) lanes.at(row, slot) = column[row];
  }
  return lanes;
}

Vec6 column(const Lanes<6>& lanes, int slot) {
  return Vec6::NullaryExpr([&](Eigen::Index row) { return lanes.at(static_cast<int>(row), slot); });
}

TEST(LaneAlgebra, CrossOfMotionsIsTheMatrixProduct) {
  test::for_random_cases(50, [](std::mt19937_64& random) {
    const Vec6 V = test::random_vector(random, 6), m = test::random_vector(random, 6);
    EXPECT_LT((vector(cross(motion(V), motion(m))) - test::motion_cross(V) * m).norm(), kTolerance);
  });
}

TEST(LaneAlgebra, CrossWithAForceIsTheDualMatrixProduct) {
  test::for_random_cases(50, [](std::mt19937_64& random) {
    const Vec6 V = test::random_vector(random, 6), F = test::random_vector(random, 6);
    EXPECT_LT((vector(cross(motion(V), force(F))) - test::force_cross(V) * F).norm(), kTolerance);
  });
}

TEST(LaneAlgebra, PowerIsTheDotProduct) {
  test::for_random_cases(50, [](std::mt19937_64& random) {
    const Vec6 V = test::random_vector(random, 6), F = test::random_vector(random, 6);
    EXPECT_NEAR(dot(motion(V), force(F)), V.dot(F), kTolerance);
  });
}

TEST(LaneAlgebra, InertiaTimesMotionIsTheMatrixProduct) {
  test::for_random_cases(50, [](std::mt19937_64& random) {
    const SpatialInertia inertia = test::random_inertia(random);
    const Vec6 V = test::random_vector(random, 6);
    EXPECT_LT((vector(ten(inertia) * motion(V)) - inertia.matrix() * V).norm(), 10 * kTolerance);
  });
}

TEST(LaneAlgebra, SumsAndMultiplesAreThoseOfVectors) {
  test::for_random_cases(20, [](std::mt19937_64& random) {
    const Vec6 a = test::random_vector(random, 6), b = test::random_vector(random, 6);
    EXPECT_EQ(vector(motion(a) + motion(b)), a + b);
    EXPECT_EQ(vector(motion(a) - motion(b)), a - b);
    EXPECT_EQ(vector(2.5 * motion(a)), 2.5 * a);
    EXPECT_EQ(vector(force(a) + force(b)), a + b);
    EXPECT_EQ(vector(force(a) - force(b)), a - b);
    EXPECT_EQ(vector(2.5 * force(a)), 2.5 * a);
  });
}

TEST(LaneAlgebra, PacksDoWhatFourDoublesDo) {
  test::for_random_cases(20, [](std::mt19937_64& random) {
    const Lanes<6> V = random_lanes<6>(random), m = random_lanes<6>(random), F = random_lanes<6>(random);
    const Lanes<10> I = random_lanes<10>(random);
    Lanes<6> Vxm = V, VxF = V, IV = V;
    store(Vxm, 0, cross(load_motion(V, 0), load_motion(m, 0)));
    store(VxF, 0, cross(load_motion(V, 0), load_force(F, 0)));
    store(IV, 0, load_inertia(I, 0) * load_motion(V, 0));
    for (int slot = 0; slot < 4; ++slot) {
      const Vec10 p = Vec10::NullaryExpr([&](Eigen::Index row) { return I.at(static_cast<int>(row), slot); });
      const Vec6 v = column(V, slot);
      EXPECT_LT((column(Vxm, slot) - test::motion_cross(v) * column(m, slot)).norm(), kTolerance);
      EXPECT_LT((column(VxF, slot) - test::force_cross(v) * column(F, slot)).norm(), kTolerance);
      EXPECT_LT((column(IV, slot) - SpatialInertia::from_parameters(p).matrix() * v).norm(), kTolerance);
    }
  });
}

}  // namespace
}  // namespace lithe
