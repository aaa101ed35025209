#include "lithe/model/configuration.h"

#include <gtest/gtest.h>

#include <limits>

#include "lithe/model/model_builder.h"
#include "tests/support/constants.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe {
namespace {

using test::expect_error;
using test::for_random_cases;

// A hinge, then a ball: q = (angle, x, y, z, w).
Model hinge_and_wrist() {
  return ModelBuilder()
      .add_body("world", {.name = "upper", .inertia = SpatialInertia::sphere(1, 0.1)}, revolute("hinge", Vec3::UnitX()))
      .add_body("upper", {.name = "lower", .inertia = SpatialInertia::sphere(1, 0.1)}, ball("wrist"))
      .build();
}

// Equal as places, whatever the sign of the quaternions.
double distance(const Model& model, const VecX& a, const VecX& b) { return difference(model, a, b).norm(); }

// A tangent vector whose ball parts are shorter than half a turn.
VecX random_tangent(const Model& model, std::mt19937_64& random, double longest) {
  VecX delta = test::random_vector(random, model.nv());
  for (const Joint& joint : model.joints()) {
    if (joint.type != JointType::ball) continue;
    delta.segment<3>(joint.v_index) = test::uniform(random, 0, longest) * test::random_axis(random);
  }
  return delta;
}

TEST(Configuration, NeutralIsZeroAndUpright) {
  EXPECT_EQ(neutral_configuration(hinge_and_wrist()), (VecX(5) << 0, 0, 0, 0, 1).finished());
}

TEST(Configuration, DifferenceUndoesRetract) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const VecX q = test::random_state(model, random).q;
    const VecX delta = random_tangent(model, random, test::kPi - 1e-6);
    EXPECT_LT((difference(model, retract(model, q, delta), q) - delta).cwiseAbs().maxCoeff(), 1e-12);
  });
}

TEST(Configuration, RetractUndoesDifference) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const VecX q0 = test::random_state(model, random).q;
    const VecX q1 = test::random_state(model, random).q;
    const VecX xi = difference(model, q1, q0);
    EXPECT_LT(distance(model, retract(model, q0, xi), q1), 1e-12);
    for (const Joint& joint : model.joints()) {
      if (joint.type != JointType::ball) continue;
      EXPECT_LE(xi.segment<3>(joint.v_index).norm(), test::kPi + 1e-15);
    }
  });
}

TEST(Configuration, DifferenceToItselfIsZero) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    VecX q = test::random_state(model, random).q;
    EXPECT_LT(difference(model, q, q).norm(), 1e-15);
  });
  VecX q = neutral_configuration(hinge_and_wrist());
  q[4] = -1;  // a full turn
  EXPECT_EQ(difference(hinge_and_wrist(), q, neutral_configuration(hinge_and_wrist())), VecX::Zero(4).eval());
}

TEST(Configuration, BallsTurnInTheirOwnAxes) {
  const Model model = hinge_and_wrist();
  VecX delta = VecX::Zero(4);
  delta[1] = test::kPi / 2;  // about x,
  VecX q = retract(model, neutral_configuration(model), delta);
  delta << 0, 0, test::kPi / 2, 0;  // then about the new y, which is the old z
  q = retract(model, q, delta);
  const Mat3 expected = rotation_about(Vec3::UnitX(), test::kPi / 2) * rotation_about(Vec3::UnitY(), test::kPi / 2);
  EXPECT_LT((rotation_from_quaternion(q.tail<4>()) - expected).norm(), 1e-15);
}

TEST(Configuration, RetractWritesInPlace) {
  const Model model = hinge_and_wrist();
  VecX q = neutral_configuration(model);
  const VecX delta = (VecX(4) << 1, 0.1, 0.2, 0.3).finished();
  const VecX expected = retract(model, q, delta);
  retract(model, q, delta, q);
  EXPECT_EQ(q, expected);
}

TEST(Configuration, ResultsAreNormalised) {
  const Model model = hinge_and_wrist();
  VecX q = neutral_configuration(model);
  q.tail<4>() << 1, 2, 3, 4;
  EXPECT_NEAR(retract(model, q, VecX::Zero(4)).tail<4>().norm(), 1, 1e-15);
  EXPECT_LT((normalized(model, q).tail<4>() - Vec4(1, 2, 3, 4).normalized()).norm(), 1e-15);
  EXPECT_LT(distance(model, q, normalized(model, q)), 1e-15);
}

TEST(Configuration, DriftDoesNotAccumulate) {
  const Model model = hinge_and_wrist();
  VecX q = neutral_configuration(model);
  const VecX delta = (VecX(4) << 0.01, 0.1, -0.2, 0.3).finished();
  for (int i = 0; i < 100000; ++i) retract(model, q, delta, q);
  EXPECT_NEAR(q.tail<4>().norm(), 1, 1e-15);
}

TEST(Configuration, RetractDerivativesAgreeWithDifferences) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Model model = test::random_model(random, {.max_dofs = 20});
    const VecX q = test::random_state(model, random, {.largest_angle = 7}).q;
    const VecX delta = random_tangent(model, random, 2 * test::kPi - 0.1);
    const MatX by_q =
        test::central_difference_of_configuration(model, q, [&](const VecX& x) { return retract(model, x, delta); });
    EXPECT_LT(test::relative_error(retract_derivative_q(model, delta), by_q), 1e-10);
    const VecX centre = retract(model, q, delta);
    const MatX by_delta = test::central_difference(
        [&](const VecX& d) { return difference(model, retract(model, q, delta + d), centre); }, model.nv());
    EXPECT_LT(test::relative_error(retract_derivative_delta(model, delta), by_delta), 1e-10);
  });
}

TEST(Configuration, DifferenceDerivativesAgreeWithDifferences) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Model model = test::random_model(random, {.max_dofs = 20});
    const VecX q0 = test::random_state(model, random, {.largest_angle = 7}).q;
    const VecX xi = random_tangent(model, random, test::kPi - 0.1);  // the shortest way jumps at π
    const VecX q1 = retract(model, q0, xi);
    const MatX by_q1 = test::central_difference(model, q1, [&](const VecX& x) { return difference(model, x, q0); });
    const MatX by_q0 = test::central_difference(model, q0, [&](const VecX& x) { return difference(model, q1, x); });
    EXPECT_LT(test::relative_error(difference_derivative_q1(model, xi), by_q1), 1e-10);
    EXPECT_LT(test::relative_error(difference_derivative_q0(model, xi), by_q0), 1e-10);
  });
}

TEST(Configuration, InterpolationStartsAndEndsWhereItShould) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const VecX q0 = test::random_state(model, random).q;
    const VecX q1 = test::random_state(model, random).q;
    EXPECT_LT(distance(model, interpolate(model, q0, q1, 0), q0), 1e-12);
    EXPECT_LT(distance(model, interpolate(model, q0, q1, 1), q1), 1e-12);
  });
}

TEST(Configuration, InterpolationIsAGeodesic) {
  // Constant speed: equal steps of t are equal differences, and the way is as long as the distance.
  for_random_cases(20, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const VecX q0 = test::random_state(model, random).q;
    const VecX q1 = retract(model, q0, random_tangent(model, random, test::kPi - 0.01));
    VecX before = q0;
    for (int i = 1; i <= 4; ++i) {
      const VecX q = interpolate(model, q0, q1, i / 4.0);
      EXPECT_LT((4 * difference(model, q, before) - difference(model, q1, q0)).cwiseAbs().maxCoeff(), 1e-11);
      before = q;
    }
  });
}

TEST(Configuration, RandomStaysWithinTheLimits) {
  Joint both = revolute("both", Vec3::UnitX());
  both.lower = 0.5;
  both.upper = 0.75;
  Joint locked = prismatic("locked", Vec3::UnitX());
  locked.lower = locked.upper = 1.0 / 3;
  Joint above = prismatic("above", Vec3::UnitY());
  above.lower = 20;
  Joint below = revolute("below", Vec3::UnitZ());
  below.upper = -10;
  const Model model =
      ModelBuilder()
          .add_body("world", {.name = "body", .inertia = SpatialInertia::sphere(1, 1)},
                    {both, locked, above, below, revolute("free", Vec3::UnitX()), prismatic("slide", Vec3::UnitX())})
          .build();
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const VecX q = random_configuration(model, random);
    EXPECT_TRUE(0.5 <= q[0] && q[0] <= 0.75) << q[0];
    EXPECT_EQ(q[1], 1.0 / 3);
    EXPECT_TRUE(20 <= q[2] && q[2] <= 21) << q[2];
    EXPECT_TRUE(-10 - test::kPi <= q[3] && q[3] <= -10) << q[3];
    EXPECT_LE(std::abs(q[4]), test::kPi);
    EXPECT_LE(std::abs(q[5]), 1);
  }
}

TEST(Configuration, RandomBallsHaveNoPreferredDirection) {
  // For uniform rotations each entry of R has mean 0 and variance 1/3.
  std::mt19937_64 random(1);
  const Model model = hinge_and_wrist();
  const int n = 20000;
  Mat3 mean = Mat3::Zero(), square = Mat3::Zero();
  for (int i = 0; i < n; ++i) {
    const VecX q = random_configuration(model, random);
    EXPECT_NEAR(q.tail<4>().norm(), 1, 1e-15);
    const Mat3 R = rotation_from_quaternion(q.tail<4>());
    mean += R / n;
    square += R.cwiseAbs2() / n;
  }
  EXPECT_LT(mean.cwiseAbs().maxCoeff(), 0.02);
  EXPECT_LT((square.array() - 1.0 / 3).abs().maxCoeff(), 0.02);
}

TEST(Configuration, RefusesQuaternionsWithoutDirection) {
  const Model model = hinge_and_wrist();
  VecX q = neutral_configuration(model);
  q[4] = 0;
  expect_error([&] { check_configuration(model, q); }, "q[1…4]", "joint 'wrist'", "length 0");
  q[4] = 1e200;
  expect_error([&] { check_configuration(model, q); }, "q[1…4]", "joint 'wrist'", "length inf");
  q[4] = test::kNan;
  expect_error([&] { check_configuration(model, q); }, "q[4] is nan");
}

TEST(Configuration, RefusesWhatIsNotFiniteWithIndexAndValue) {
  const Model model = hinge_and_wrist();
  VecX q = neutral_configuration(model);
  VecX v = VecX::Zero(4);
  v[2] = -std::numeric_limits<double>::infinity();
  expect_error([&] { (void)retract(model, q, v); }, "delta[2] is -inf");
  expect_error([&] { check_tangent(model, v, "tau"); }, "tau[2] is -inf");
  expect_error([&] { (void)retract_derivative_q(model, v); }, "delta[2] is -inf");
  expect_error([&] { (void)interpolate(model, q, q, test::kNan); }, "nan");
  q[0] = test::kNan;
  expect_error([&] { (void)retract(model, q, VecX::Zero(4)); }, "q[0] is nan");
  expect_error([&] { (void)difference(model, q, neutral_configuration(model)); }, "q[0] is nan");
  expect_error([&] { (void)normalized(model, q); }, "q[0] is nan");
}

TEST(Configuration, RefusesWrongSizes) {
  const Model model = hinge_and_wrist();
  const VecX q = neutral_configuration(model), v = VecX::Zero(4);
  VecX four(4), five(5);
  expect_error([&] { (void)retract(model, v, v); }, "q has 4 entries", "nq = 5");
  expect_error([&] { (void)retract(model, q, q); }, "delta has 5 entries", "nv = 4");
  expect_error([&] { retract(model, q, v, four); }, "4 entries", "nq = 5");
  expect_error([&] { difference(model, q, q, five); }, "5 entries", "nv = 4");
  expect_error([&] { (void)difference(model, q, VecX()); }, "q has 0 entries", "nq = 5");
  expect_error([&] { (void)difference_derivative_q0(model, q); }, "5 entries", "nv = 4");
}

TEST(Configuration, OfAnEmptyModelIsEmpty) {
  const Model model = ModelBuilder().build();
  EXPECT_EQ(neutral_configuration(model).size(), 0);
  EXPECT_EQ(retract(model, VecX(), VecX()).size(), 0);
  EXPECT_EQ(difference(model, VecX(), VecX()).size(), 0);
}

}  // namespace
}  // namespace lithe
