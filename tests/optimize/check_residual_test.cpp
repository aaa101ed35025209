#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lithe/model/model_builder.h"
#include "lithe/optimize/residuals.h"
#include "tests/optimize/residual_cases.h"
#include "tests/support/constants.h"
#include "tests/support/error_text.h"
#include "tests/support/random_test.h"

namespace lithe::test {

namespace {

using namespace residuals;

// sin of the first angle, whose derivative is cos of it times `factor`.
ResidualPtr sine(double factor) {
  return custom({.name = "sine",
                 .size = 1,
                 .evaluate = [factor](const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) {
                   value[0] = std::sin(at.q[0]);
                   if (!jacobian) return;
                   jacobian->by_q.setZero(1, at.model.nv());
                   jacobian->by_q(0, 0) = factor * std::cos(at.q[0]);
                 }});
}

// A value, and whatever is done to the derivatives.
template <class Value, class Derivatives>
ResidualPtr faulty(Value value_of, Derivatives set) {
  return custom(
      {.name = "faulty", .size = 1, .evaluate = [=](const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) {
         value[0] = value_of(at, jacobian != nullptr);
         if (jacobian) set(*jacobian, at.model.nv());
       }});
}

TEST(CheckResidual, PassesForEveryResidualOfTheLibrary) {
  int with_balls = 0;
  for_random_cases(80, [&](std::mt19937_64& random) {
    const ResidualCase c = random_residual_case(random, 30);
    with_balls += !c.model.tree().balls.empty();
    for (const ResidualPtr& residual : all_residuals(c, random)) {
      const ResidualCheck check = check_residual(c.model, *residual, {.samples = 3, .controls = 3});
      EXPECT_TRUE(check.passed) << residual->name() << ": " << check.worst;
      EXPECT_LE(check.largest_error, 1e-6) << residual->name();
      EXPECT_EQ(check.worst, "") << residual->name();
    }
  });
  if (few_cases()) return;
  EXPECT_GE(with_balls, 10);
}

TEST(CheckResidual, TellsRightFromWrong) {
  const Model model = bent_arm().model;
  EXPECT_TRUE(check_residual(model, *sine(1)).passed);
  const ResidualCheck wrong = check_residual(model, *sine(1.01));
  EXPECT_FALSE(wrong.passed);
  EXPECT_NEAR(wrong.largest_error, 0.01, 1e-6);
  EXPECT_EQ(wrong.worst.rfind("by_q(0, 0) is ", 0), 0u) << wrong.worst;
  EXPECT_NE(wrong.worst.find("differences give"), std::string::npos) << wrong.worst;
  EXPECT_TRUE(check_residual(model, *sine(1.01), {.tolerance = 0.02}).passed);
}

TEST(CheckResidual, CountsAMissingPartAsZero) {
  const Model model = bent_arm().model;
  const auto nothing = [](ResidualJacobian&, int) {};
  const ResidualCheck by_v =
      check_residual(model, *faulty([](const ResidualPoint& at, bool) { return at.v[1]; }, nothing));
  EXPECT_FALSE(by_v.passed);
  EXPECT_EQ(by_v.worst, "by_v(0, 1) is 0, differences give 1");
  EXPECT_TRUE(check_residual(model, *faulty([](const ResidualPoint&, bool) { return 5.0; }, nothing)).passed);
}

TEST(CheckResidual, FindsWrongSizesAndNumbers) {
  const Model model = bent_arm().model;
  const auto constant = [](const ResidualPoint&, bool) { return 5.0; };
  const auto worst = [&](const ResidualPtr& residual) {
    const ResidualCheck check = check_residual(model, *residual);
    EXPECT_FALSE(check.passed);
    EXPECT_EQ(check.largest_error, std::numeric_limits<double>::infinity());
    return check.worst;
  };
  EXPECT_EQ(worst(faulty(constant, [](ResidualJacobian& J, int nv) { J.by_q.setZero(1, nv + 1); })),
            "by_q is 1 × 3; it must be 1 × 2, or empty where it is zero");
  EXPECT_EQ(worst(faulty(constant, [](ResidualJacobian& J, int nv) { J.by_v.setZero(2, nv); })),
            "by_v is 2 × 2; it must be 1 × 2, or empty where it is zero");
  EXPECT_EQ(worst(faulty(constant, [](ResidualJacobian& J, int) { J.by_f.setZero(1, 1); })),
            "by_f is 1 × 1; it must be 1 × 0, or empty where it is zero");
  EXPECT_EQ(worst(faulty(constant, [](ResidualJacobian& J, int nv) { J.by_q.setConstant(1, nv, kNan); })),
            "by_q has a number that is not finite, or that evaluate() does not set at every call");
  // Sets what it has only once.
  EXPECT_EQ(worst(faulty(constant,
                         [](ResidualJacobian& J, int nv) {
                           if (J.by_q.size() == 0) J.by_q.setZero(1, nv);
                         })),
            "by_q has a number that is not finite, or that evaluate() does not set at every call");
  EXPECT_EQ(worst(faulty([](const ResidualPoint&, bool) { return kNan; }, [](ResidualJacobian&, int) {})),
            "value[0] is nan");
  EXPECT_EQ(worst(faulty([](const ResidualPoint&, bool derivatives) { return derivatives ? 1.0 : 2.0; },
                         [](ResidualJacobian&, int) {})),
            "the value differs when derivatives are asked for");
  EXPECT_EQ(worst(faulty([](const ResidualPoint& at, bool) { return std::floor(23456.7 * at.q[0]); },
                         [](ResidualJacobian&, int) {})),
            "differences of two lengths disagree: the residual is not smooth, or its scale is tiny");
}

TEST(CheckResidual, DrawsAgainNextToAJump) {
  // Half of all states are in reach of a jump.
  const Model model = bent_arm().model;
  const ResidualPtr stairs =
      faulty([](const ResidualPoint& at, bool) { return std::floor(at.q[0] / 0.012); }, [](ResidualJacobian&, int) {});
  EXPECT_TRUE(check_residual(model, *stairs, {.samples = 50}).passed);
}

TEST(CheckResidual, RefusesWhatItCannotDo) {
  const Model model = bent_arm().model;
  expect_error([&] { check_residual(model, *controls(VecX::Zero(2))); }, "'controls' needs controls",
               "ResidualCheckOptions::controls");
  expect_error([&] { check_residual(model, *control_change(2)); }, "ResidualCheckOptions::controls");
  expect_error([&] { check_residual(model, *sine(1), {.samples = 0}); }, "samples is 0");
}

TEST(ResidualErrors, NameTheValueAndTheRemedy) {
  const Model model = bent_arm().model;
  expect_error([&] { configuration(VecX::Zero(3))->size(model); }, "has 3 numbers", "nq = 2");
  expect_error([&] { velocity(VecX::Zero(1))->size(model); }, "has 1 numbers", "nv = 2");
  expect_error([&] { configuration(Eigen::Vector2d(0, kNan)); }, "number 1", "'configuration'", "nan");
  expect_error([&] { velocity(Eigen::Vector2d(kNan, 0)); }, "number 0", "'velocity'", "nan");
  expect_error([&] { controls(Eigen::Vector2d(0, kNan)); }, "number 1", "controls", "nan");
  expect_error([&] { controls({}); }, "target controls are empty");
  expect_error([&] { control_change(0); }, "0 controls");
  expect_error([&] { joint_position(model, "elbo"); }, "no joint named 'elbo'", "'elbow'");
  expect_error([&] { joint_velocity(model, "elbow", kNan); }, "velocity of joint 'elbow'", "nan");
  expect_error([&] { position_bound(model, "elbow", BoundSide::upper, std::numeric_limits<double>::infinity()); },
               "upper bound on the position of joint 'elbow'", "inf");
  expect_error([&] { frame_position(model, "hnd", Vec3::Zero()); }, "no frame named 'hnd'", "'hand'");
  expect_error([&] { frame_position(model, "hand", Vec3(0, kNan, 0)); }, "position of frame 'hand'", "not finite");
  expect_error([&] { frame_height(model, "hand", kNan); }, "height of frame 'hand'", "not finite");
  expect_error([&] { frame_height(model, "hand", 0, Vec3::Zero()); }, "(0, 0, 0)", "'hand'");
  expect_error([&] { frame_orientation(model, "hand", 2 * Mat3::Identity()); }, "orientation of frame 'hand'",
               "no rotation matrix", "det R = 8");
  expect_error([&] { frame_orientation(model, "hand", Mat3::Constant(kNan)); }, "no rotation matrix");
  expect_error([&] { frame_velocity(model, "hand", Vec6::Constant(kNan)); }, "velocity of frame 'hand'", "not finite");
  expect_error([&] { frame_distance(model, "hand", "hand"); }, "'hand' to itself");
  expect_error([&] { frame_distance(model, "hand", "base", kNan); }, "'hand' and 'base'", "nan");
  expect_error([&] { centre_of_mass_position(Vec3(kNan, 0, 0)); }, "nan", "position of the centre of mass");
  expect_error([&] { contact_force(model, "lower"); }, "body 'lower' has no shape");
  expect_error([&] { custom({.name = "mine"}); }, "'mine'", "CustomResidual::evaluate");
  expect_error([&] { custom({.name = "mine", .size = 0, .evaluate = [](const auto&, VecRef, auto*) {}}); }, "size 0");
}

TEST(ResidualErrors, BallsHaveNoSinglePosition) {
  const Model model =
      ModelBuilder().add_body("world", {.name = "head", .inertia = SpatialInertia::sphere(1, 1)}, ball("neck")).build();
  expect_error([&] { joint_position(model, "neck"); }, "'neck' is a ball", "position", "configuration()");
  expect_error([&] { joint_velocity(model, "neck"); }, "'neck' is a ball", "velocity");
  expect_error([&] { velocity_bound(model, "neck", BoundSide::upper, 1); }, "'neck' is a ball");
  expect_error([&] { configuration(VecX::Zero(4))->size(model); }, "quaternion of joint 'neck'", "length 0");
}

TEST(ResidualErrors, AnotherModelIsRefused) {
  const ResidualCase c = bent_arm();
  const Model other =
      ModelBuilder()
          .add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(1, 1)}, free_joint("ball"))
          .add_shape("ball", {.name = "ball", .geometry = Sphere{1}})
          .build();
  const Model empty = ModelBuilder().build();
  expect_error([&] { frame_position(c.model, "hand", Vec3::Zero())->size(other); }, "position of frame 'hand'",
               "another model");
  expect_error([&] { joint_position(c.model, "elbow")->size(other); }, "position of joint 'elbow'", "another model");
  expect_error([&] { contact_force(other, "ball")->size(c.model); }, "contact force of body 'ball'", "another model");
  expect_error([&] { centre_of_mass_velocity()->size(empty); }, "no velocity of the centre of mass");
  expect_error([&] { c.value(*controls(VecX::Zero(3))); }, "3 numbers", "2 controls");
  expect_error([&] { c.value(*control_change(3)); }, "made for 3 controls", "there are 2");
  VecX value(1);
  const ResidualCase with_ball(other, (VecX(7) << 0, 0, 2, 0, 0, 0, 1).finished(), VecX::Zero(6));
  const ResidualPoint end = {other,         9,       with_ball.q,         with_ball.v, VecX(), VecX(),
                             with_ball.kin, nullptr, with_ball.parameters};
  expect_error([&] { contact_force(other, "ball")->evaluate(end, value, nullptr); }, "t = 9", "Times::running()");
}

}  // namespace

}  // namespace lithe::test
