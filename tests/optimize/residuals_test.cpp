#include "lithe/optimize/residuals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lithe/model/configuration.h"
#include "lithe/model/model_builder.h"
#include "lithe/model/parameters.h"
#include "tests/optimize/residual_cases.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/constants.h"
#include "tests/support/differentiate.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

namespace {

using namespace residuals;

constexpr double kDerivativeError = 1e-7;  // relative

// An empty part is zero.
MatX filled(const MatX& part, Eigen::Index rows, Eigen::Index columns) {
  return part.size() > 0 ? part : MatX::Zero(rows, columns);
}

void expect_same_derivative(const MatX& part, const MatX& numeric, const std::string& name) {
  EXPECT_LE(relative_error(filled(part, numeric.rows(), numeric.cols()), numeric), kDerivativeError) << name;
}

void expect_value(const ResidualCase& c, const ResidualPtr& residual, const VecX& expected) {
  const VecX value = c.value(*residual);
  ASSERT_EQ(value.size(), expected.size()) << residual->name();
  EXPECT_LE((value - expected).cwiseAbs().maxCoeff(), 1e-14) << residual->name() << ": " << value.transpose();
}

VecX one(double x) { return VecX::Constant(1, x); }

TEST(Residuals, OfABentArmAreAsComputedByHand) {
  const ResidualCase c = bent_arm();
  expect_value(c, configuration(Eigen::Vector2d(0, 1)), Eigen::Vector2d(kPi / 2, -kPi / 2 - 1));
  expect_value(c, velocity(Eigen::Vector2d(3, 1)), Eigen::Vector2d(-2, 1));
  expect_value(c, joint_position(c.model, "elbow", 1), one(-kPi / 2 - 1));
  expect_value(c, joint_velocity(c.model, "elbow", 0.5), one(1.5));
  expect_value(c, controls(Eigen::Vector2d(1, 1)), Eigen::Vector2d(4, -8));
  expect_value(c, control_change(2), Eigen::Vector2d(1, -9));
  expect_value(c, frame_position(c.model, "hand", Vec3(0, 0, 2)), Vec3(1, 1, -2));
  expect_value(c, frame_height(c.model, "hand", 0.25, Vec3(0, 4, 0)), one(0.75));
  expect_value(c, frame_height(c.model, "hand", 0.25), one(-0.25));
  // The hand lies along x: a turn by 0.3 about z takes the target there.
  expect_value(c, frame_orientation(c.model, "hand", rotation_exp(Vec3(0, 0, -0.3))), Vec3(0, 0, 0.3));
  // Both joints turn the hand; the shoulder moves it by z × (1, 1, 0), the elbow by 2 z × (1, 0, 0).
  expect_value(c, frame_velocity(c.model, "hand"), (Vec6() << 0, 0, 3, -1, 3, 0).finished());
  expect_value(c, centre_of_mass_position(Vec3(0, 0, 1)), Vec3(0.5, 1, -1));
  expect_value(c, centre_of_mass_velocity(), Vec3(-1, 1.5, 0));
  expect_value(c, frame_distance(c.model, "base", "hand", 1), one(std::sqrt(2) - 1));
}

TEST(Residuals, BoundsAreNegativeWithin) {
  const ResidualCase c = bent_arm();
  expect_value(c, position_bound(c.model, "shoulder", BoundSide::upper, 2), one(kPi / 2 - 2));
  expect_value(c, position_bound(c.model, "shoulder", BoundSide::lower, 2), one(2 - kPi / 2));
  expect_value(c, velocity_bound(c.model, "elbow", BoundSide::upper, 3), one(-1));
  expect_value(c, velocity_bound(c.model, "elbow", BoundSide::lower, 3), one(1));
}

TEST(Residuals, BallsAreComparedAlongTheShortestTurn) {
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "head", .inertia = SpatialInertia::point(1, Vec3::UnitX())},
                                    {prismatic("lift", Vec3::UnitZ()), ball("neck")})
                          .build();
  VecX q(5), target(5);
  q << 0.5, quaternion_exp(Vec3(0, 0, 0.7));
  target << 0.2, -quaternion_exp(Vec3(0, 0, 0.3));  // the same rotation as without the sign
  const ResidualCase c(model, q, VecX::Zero(4));
  expect_value(c, configuration(target), Vec4(0.3, 0, 0, 0.4));
}

TEST(Residuals, ContactForceOfABoxAtRestIsItsWeight) {
  const double weight = 2 * 9.81;
  const Model model =
      ModelBuilder()
          .add_shape("world", {.name = "ground", .geometry = Plane{}})
          .add_body("world", {.name = "box", .inertia = SpatialInertia::box(2, Vec3(0.1, 0.1, 0.1))}, free_joint("box"))
          .add_shape("box", {.name = "box", .geometry = Box{Vec3(0.1, 0.1, 0.1)}})
          .add_body("world", {.name = "bird", .inertia = SpatialInertia::box(1, Vec3(0.1, 0.1, 0.1))},
                    free_joint("bird", Pose::translation(0, 0, 5)))
          .add_shape("bird", {.name = "bird", .geometry = Sphere{0.1}})
          .build();
  VecX q = neutral_configuration(model);
  q[2] = 0.1;
  const ResidualCase c(model, q, VecX::Zero(model.nv()));
  ASSERT_EQ(c.record.status.contacts, 4);
  for (const char* body : {"box", "world"}) {  // each pushes the other
    const ResidualPtr force = contact_force(model, body, 10);
    EXPECT_NEAR(c.value(*force)[0], weight - 10, 1e-9);
    ResidualJacobian jacobian;
    c.value(*force, &jacobian);
    // A normal row and two of friction per contact.
    ASSERT_EQ(jacobian.by_f.cols(), 12);
    EXPECT_EQ((jacobian.by_f.array() == 1 / c.record.options.time_step).count(), 4);
    EXPECT_EQ((jacobian.by_f.array() == 0).count(), 8);
    EXPECT_TRUE(force->needs_impulses());
  }
  expect_value(c, contact_force(model, "bird", 10), one(-10));
}

TEST(Residuals, SayWhatTheyAreAndNeed) {
  const ResidualCase c = bent_arm();
  const Model& model = c.model;
  EXPECT_EQ(configuration(c.q)->name(), "configuration");
  EXPECT_EQ(velocity(c.v)->name(), "velocity");
  EXPECT_EQ(controls(c.u)->name(), "controls");
  EXPECT_EQ(control_change(2)->name(), "change of the controls");
  EXPECT_EQ(joint_velocity(model, "elbow")->name(), "velocity of joint 'elbow'");
  EXPECT_EQ(position_bound(model, "elbow", BoundSide::lower, 0)->name(),
            "lower bound on the position of joint 'elbow'");
  EXPECT_EQ(frame_position(model, "hand", Vec3::Zero())->name(), "position of frame 'hand'");
  EXPECT_EQ(frame_height(model, "hand", 1)->name(), "height of frame 'hand'");
  EXPECT_EQ(frame_orientation(model, "hand", Mat3::Identity())->name(), "orientation of frame 'hand'");
  EXPECT_EQ(frame_velocity(model, "hand")->name(), "velocity of frame 'hand'");
  EXPECT_EQ(frame_distance(model, "hand", "base")->name(), "distance of frames 'hand' and 'base'");
  EXPECT_EQ(centre_of_mass_position(Vec3::Zero())->name(), "position of the centre of mass");
  EXPECT_TRUE(controls(c.u)->needs_controls() && !controls(c.u)->needs_previous_controls());
  EXPECT_TRUE(control_change(2)->needs_controls() && control_change(2)->needs_previous_controls());
  EXPECT_FALSE(velocity(c.v)->needs_controls() || velocity(c.v)->needs_impulses());
}

// Every residual of the library, by all that it can depend on.
TEST(Residuals, DerivativesMatchDifferences) {
  std::map<std::string, int> met;
  for_random_cases(300, [&](std::mt19937_64& random) {
    const ResidualCase c = random_residual_case(random, 30);
    for (const JointType type : {JointType::revolute, JointType::prismatic, JointType::screw, JointType::ball}) {
      const bool has = std::ranges::any_of(c.model.joints(), [&](const Joint& joint) { return joint.type == type; });
      met[to_string(type)] += has;
    }
    for (const ResidualPtr& residual : all_residuals(c, random)) {
      SCOPED_TRACE(residual->name());
      ResidualJacobian J;
      const VecX value = c.value(*residual, &J);
      EXPECT_EQ(value, c.value(*residual)) << "with and without derivatives";
      EXPECT_GT(value.size(), 0);
      expect_same_derivative(
          J.by_q, central_difference(c.model, c.q, [&](const VecX& q) { return c.value_at_q(*residual, q); }), "by q");
      expect_same_derivative(
          J.by_v, central_difference([&](const VecX& dv) { return c.value_at_v(*residual, c.v + dv); }, c.model.nv()),
          "by v");
      ResidualCase moved = c;
      const auto by = [&](VecX& moving) {
        const VecX start = moving;
        const MatX numeric = central_difference(
            [&](const VecX& change) {
              moving = start + change;
              return moved.value(*residual);
            },
            static_cast<int>(start.size()));
        moving = start;
        return numeric;
      };
      expect_same_derivative(J.by_u, by(moved.u), "by u");
      expect_same_derivative(J.by_u_before, by(moved.u_before), "by u before");
      const VecX f = VecX::Map(c.record.f.data(), static_cast<Eigen::Index>(c.record.f.size()));
      const MatX by_f = central_difference(
          [&](const VecX& change) {
            VecX::Map(moved.record.f.data(), f.size()) = f + change;
            return moved.value(*residual);
          },
          static_cast<int>(f.size()));
      expect_same_derivative(J.by_f, by_f, "by impulses");
      met["with impulses"] += residual->needs_impulses() && J.by_f.size() > 0 && !J.by_f.isZero(0);
    }
  });
  if (few_cases()) return;
  for (const char* what : {"revolute", "prismatic", "screw", "ball", "with impulses"}) {
    EXPECT_GE(met[what], 50) << what << " was hardly met";
  }
}

// Numbers of the model that move frames, and some that do not.
std::vector<std::string> some_parameters(const Model& model, std::mt19937_64& random, int count) {
  std::vector<std::string> names;
  for (const std::string& name : parameter_names(model)) {
    const bool place = name.ends_with("/x") || name.ends_with("/y") || name.ends_with("/z");
    const bool other = name.ends_with("/pitch") || name.ends_with("/rest") || name.ends_with("/friction");
    if (place || other) names.push_back(name);
  }
  std::shuffle(names.begin(), names.end(), random);
  names.resize(std::min<std::size_t>(names.size(), count));
  return names;
}

// How far a number moves a frame at most, per unit of it: a pitch as many times as its screw has turned.
double lever_of(const ResidualCase& c, const StepParameters::Entry& entry) {
  const bool pitch = entry.kind == StepParameters::Entry::Kind::joint && entry.attribute == joint_parameter::pitch;
  return pitch ? std::max(1.0, std::abs(c.q[c.model.joints()[entry.index].q_index])) : 1.0;
}

TEST(Residuals, DerivativesByTheModelsNumbersMatchDifferences) {
  std::map<std::string, int> moved, unknown;  // by the kind of the number, by the start of the residual's name
  for_random_cases(400, [&](std::mt19937_64& random) {
    ResidualCase c = random_residual_case(random, 20);
    c.parameters = StepParameters(c.model, some_parameters(c.model, random, 12));
    for (const ResidualPtr& residual : all_residuals(c, random)) {
      SCOPED_TRACE(residual->name());
      ResidualJacobian J;
      const VecX value = c.value(*residual, &J);
      const MatX by_parameters = filled(J.by_parameters, value.size(), c.parameters.size());
      ASSERT_EQ(by_parameters.rows(), value.size());
      ASSERT_EQ(by_parameters.cols(), c.parameters.size());
      for (int k = 0; k < c.parameters.size(); ++k) {
        const std::string& name = c.parameters.names()[k];
        const std::string kind = name.substr(0, name.find('/')) + name.substr(name.rfind('/'));
        if (!residual->knows(c.parameters.entries()[k])) {
          ++unknown[residual->name().substr(0, std::string_view("velocity of frame").size())];
          continue;
        }
        const MatX numeric =
            central_difference([&](const VecX& change) { return c.value_at_parameter(*residual, name, change[0]); }, 1,
                               kDifferenceStep / lever_of(c, c.parameters.entries()[k]));
        EXPECT_LE(relative_error(by_parameters.col(k), numeric), kDerivativeError) << name;
        moved[kind] += !numeric.isZero(1e-6);
      }
    }
  });
  if (few_cases()) return;
  for (const char* kind : {"joint/x", "joint/y", "joint/z", "joint/pitch", "body/x", "body/z", "frame/x", "frame/y"}) {
    EXPECT_GE(moved[kind], 10) << kind << " hardly moved anything";
  }
  EXPECT_EQ(unknown.size(), 3u);
  for (const char* name : {"velocity of frame", "velocity of the c", "position of the c"}) {
    EXPECT_GE(unknown[name], 10) << name << "…";
  }
}

TEST(Residuals, LengthsMoveTheHandAlongTheLinks) {
  ResidualCase c = bent_arm();
  c.parameters = StepParameters(c.model, {"joint/shoulder/x", "joint/elbow/x", "joint/elbow/y", "body/lower/y",
                                          "frame/hand/x", "frame/upper_end/x", "body/lower/mass", "gravity/z"});
  MatX expected(3, 8);
  expected << 1, 0, -1, 0, 1, 0, 0, 0,  // the upper arm points along y, the lower one along x
      0, 1, 0, 1, 0, 0, 0, 0,           //
      0, 0, 0, 0, 0, 0, 0, 0;
  ResidualJacobian J;
  c.value(*frame_position(c.model, "hand", Vec3::Zero()), &J);
  EXPECT_LE((J.by_parameters - expected).cwiseAbs().maxCoeff(), 1e-15);
  c.value(*frame_height(c.model, "hand", 0, Vec3::UnitY()), &J);
  EXPECT_LE((J.by_parameters - expected.row(1)).cwiseAbs().maxCoeff(), 1e-15);
  // The end of the upper arm and the hand are apart along x.
  expected.setZero(1, 8);
  expected(0, 2) = -1;
  expected(0, 4) = 1;
  c.value(*frame_distance(c.model, "upper_end", "hand"), &J);
  EXPECT_LE((J.by_parameters - expected).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(Residuals, KnowAllNumbersButThoseThatMoveWhatTheyDifferentiate) {
  const ResidualCase c = bent_arm();
  const auto knows = [&](const ResidualPtr& residual, const char* parameter) {
    return residual->knows(StepParameters(c.model, {parameter}).entries()[0]);
  };
  const ResidualPtr elbow = frame_velocity(c.model, "upper_end");
  EXPECT_FALSE(knows(elbow, "joint/shoulder/x"));
  EXPECT_FALSE(knows(elbow, "body/upper/z"));
  EXPECT_FALSE(knows(elbow, "frame/upper_end/y"));
  EXPECT_TRUE(knows(elbow, "joint/elbow/x"));  // behind it
  EXPECT_TRUE(knows(elbow, "frame/hand/y"));
  EXPECT_TRUE(knows(elbow, "body/upper/mass"));
  for (const ResidualPtr& centre : {centre_of_mass_position(Vec3::Zero()), centre_of_mass_velocity()}) {
    for (const char* name : {"body/upper/mass", "body/upper/mz", "body/lower/x", "joint/elbow/y"}) {
      EXPECT_FALSE(knows(centre, name)) << name;
    }
    for (const char* name : {"body/upper/Ixx", "body/upper/Izz", "joint/elbow/damping", "frame/hand/x", "gravity/z"}) {
      EXPECT_TRUE(knows(centre, name)) << name;
    }
  }
  for (const char* name : {"joint/elbow/x", "body/lower/mass", "frame/hand/x", "time_step"}) {
    EXPECT_TRUE(knows(frame_position(c.model, "hand", Vec3::Zero()), name)) << name;
    EXPECT_TRUE(knows(frame_orientation(c.model, "hand", Mat3::Identity()), name)) << name;
    EXPECT_TRUE(knows(configuration(c.q), name)) << name;
  }
}

TEST(Residuals, FramesThatMeetHaveADistanceWithoutSlope) {
  const ResidualCase bent = bent_arm();
  ResidualCase straight(bent.model, Eigen::Vector2d::Zero(), bent.v);
  straight.parameters = StepParameters(bent.model, {"joint/elbow/x"});
  ResidualJacobian J;
  EXPECT_EQ(straight.value(*frame_distance(bent.model, "hand", "goal", 0.5), &J)[0], -0.5);
  EXPECT_TRUE(J.by_q.cols() == 2 && J.by_q.isZero(0));
  EXPECT_TRUE(J.by_parameters.cols() == 1 && J.by_parameters.isZero(0));
}

TEST(Residuals, AllocateNothingOnceWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(3);
  ResidualCase c = random_residual_case(random, 40);
  c.parameters = StepParameters(c.model, some_parameters(c.model, random, 20));
  for (const ResidualPtr& residual : all_residuals(c, random)) {
    ResidualJacobian jacobian;
    VecX value(residual->size(c.model));
    residual->evaluate(c.at(), value, &jacobian);
    const AllocationGuard guard;
    const int size = residual->size(c.model);
    residual->evaluate(c.at(), value, &jacobian);
    residual->evaluate(c.at(), value, nullptr);
    const long allocations = guard.count();
    EXPECT_EQ(allocations, 0) << residual->name();
    EXPECT_EQ(size, value.size());
  }
}

}  // namespace

}  // namespace lithe::test
