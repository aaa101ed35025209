#include "lithe/step/finite_differences.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "lithe/model/configuration.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/step/step.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"
#include "tests/support/gradcheck_scenes.h"
#include "tests/support/random_test.h"
#include "tests/support/step_worlds.h"

namespace lithe::test {
namespace {

constexpr DifferenceOptions kRidders = {.method = DifferenceMethod::ridders};

// A ball of 2 kg over the ground, with one DoF per direction of its motion.
struct Ball {
  explicit Ball(double height, double friction = 1) {
    ModelBuilder builder;
    add_ground(builder);
    builder.add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(2, 0.1)}, translational("ball"));
    builder.add_shape("ball", {.name = "ball", .geometry = Sphere{0.1}, .material = {.friction = friction}});
    model = builder.build();
    state = {Vec3(0.2, -0.1, 0.1 + height), VecX::Zero(3)};
  }

  const StepRecord& step() {
    lithe::step(*model, state, control, options, record);
    return record;
  }

  std::optional<Model> model;
  State state;
  Control control;
  StepOptions options;
  StepRecord record;
};

VecX concatenated(const Model& model, const StepRecord& base, const StepRecord& moved) {
  VecX y(2 * model.nv());
  y << difference(model, moved.next.q, base.next.q), moved.next.v;
  return y;
}

// The two blocks by one input, from the tests' own differentiator.
MatX independent_differences(const Model& model, const StepRecord& base, StepInput input, double h) {
  return central_difference(
      [&](const VecX& delta) {
        State state = base.state;
        Control control = base.control;
        if (input == StepInput::q) state.q = retract(model, state.q, delta);
        if (input == StepInput::v) state.v += delta;
        if (input == StepInput::tau) control.tau += delta;
        StepRecord moved;
        step(model, state, control, base.options, moved, &base.warm_start);
        return concatenated(model, base, moved);
      },
      model.nv(), h);
}

MatX stacked(const MatX& above, const MatX& below) {
  MatX both(above.rows() + below.rows(), above.cols());
  both << above, below;
  return both;
}

TEST(FiniteDifferences, OfFreeFallAreKnown) {
  Ball ball(1);
  const StepRecord& record = ball.step();
  const double h = record.options.time_step;
  for (const DifferenceOptions& options : {DifferenceOptions(), kRidders}) {
    StepJacobians J;
    const DifferenceReport report = step_differences(*ball.model, record, J, StepBlocks::state, options);
    EXPECT_LT(relative_error(J.dqnext_dq, MatX::Identity(3, 3)), 1e-9);
    EXPECT_LT(relative_error(J.dqnext_dv, h * MatX::Identity(3, 3)), 1e-6);
    EXPECT_LT(relative_error(J.dvnext_dq, MatX::Zero(3, 3)), 1e-6);
    EXPECT_LT(relative_error(J.dvnext_dv, MatX::Identity(3, 3)), 1e-9);
    EXPECT_LT(relative_error(J.dvnext_dtau, h / 2 * MatX::Identity(3, 3)), 1e-6);
    EXPECT_LT(relative_error(J.dqnext_dtau, h * h / 2 * MatX::Identity(3, 3)), 1e-6);
    EXPECT_EQ(report.switched, 0);
    EXPECT_EQ(report.modes, ModeSwitch::none);
  }
}

TEST(FiniteDifferences, TakeTwoStepsPerInputAndDoFAndNoMore) {
  Ball ball(1);
  const StepRecord& record = ball.step();
  StepJacobians J;
  EXPECT_EQ(step_differences(*ball.model, record, J).evaluations, 18);
  EXPECT_EQ(step_differences(*ball.model, record, J, StepBlocks::all).evaluations, 18);
  EXPECT_EQ(step_differences(*ball.model, record, J, StepBlocks::qnext_q | StepBlocks::vnext_q).evaluations, 6);
  EXPECT_EQ(step_differences(*ball.model, record, J, StepBlocks::vnext_tau).evaluations, 6);
}

TEST(FiniteDifferences, LeaveOtherBlocksAlone) {
  Ball ball(1);
  StepJacobians J;
  J.dqnext_dq.setConstant(1, 1, 7);
  step_differences(*ball.model, ball.step(), J, StepBlocks::vnext_v);
  EXPECT_EQ(J.dqnext_dq, MatX::Constant(1, 1, 7));
}

TEST(FiniteDifferences, AgreeWithTheTestsOwnDifferentiator) {
  DifferenceWorkspace workspace;
  for_random_cases(60, [&](std::mt19937_64& random) {
    const GradcheckScene scene = random_gradcheck_scene(random);
    StepRecord record;
    step(scene.model, scene.state, scene.control, scene.options, record);
    StepJacobians central, ridders;
    const DifferenceReport first =
        step_differences(scene.model, record, central, StepBlocks::state, {.step = 3e-7}, &workspace);
    const DifferenceReport second =
        step_differences(scene.model, record, ridders, StepBlocks::state, kRidders, &workspace);
    if (first.modes != ModeSwitch::none || second.modes != ModeSwitch::none) return Outcome::skipped;
    for (const StepInput input : {StepInput::q, StepInput::v, StepInput::tau}) {
      // Steps that rounding of v⁺ does not show at, and that stay within a mode as a rule.
      const double h = input == StepInput::q ? 1e-7 : input == StepInput::v ? 1e-6 : 1e-4;
      const MatX expected = independent_differences(scene.model, record, input, h);
      for (const StepJacobians* J : {&central, &ridders}) {
        const MatX blocks = input == StepInput::q   ? stacked(J->dqnext_dq, J->dvnext_dq)
                            : input == StepInput::v ? stacked(J->dqnext_dv, J->dvnext_dv)
                                                    : stacked(J->dqnext_dtau, J->dvnext_dtau);
        // Central differences show the rounding of v⁺ (up to 1e-13) by their small step.
        EXPECT_LT(relative_error(blocks, expected, 1e-2), J == &central ? 1e-4 : 1e-6);
      }
    }
    return Outcome::checked;
  });
}

TEST(FiniteDifferences, NoticeAContactThatOpens) {
  // Almost lifted: a push of 2e-5 N more and it leaves the ground.
  Ball ball(0, 0);
  ball.control.tau = Vec3(0, 0, 2 * kGravity - 2e-5);
  const StepRecord& record = ball.step();
  ASSERT_EQ(record.modes[0], RowMode::clamping);
  StepJacobians J;
  const DifferenceReport wide = step_differences(*ball.model, record, J, StepBlocks::vnext_tau, {.step = 1e-3});
  EXPECT_EQ(wide.switched, 1);
  EXPECT_TRUE(has(wide.modes, ModeSwitch::normals));
  EXPECT_GT(J.dvnext_dtau(2, 2), 1e-4);  // neither side's

  const DifferenceReport narrow = step_differences(*ball.model, record, J, StepBlocks::vnext_tau, {.step = 1e-6});
  EXPECT_EQ(narrow.switched, 0);
  EXPECT_NEAR(J.dvnext_dtau(2, 2), 0, 1e-9);

  // Ridders' method looks for a step that is small enough.
  const DifferenceReport careful = step_differences(*ball.model, record, J, StepBlocks::vnext_tau, kRidders);
  EXPECT_GT(careful.switched, 0);
  EXPECT_EQ(careful.modes, ModeSwitch::none);
  EXPECT_NEAR(J.dvnext_dtau(2, 2), 0, 1e-9);
}

TEST(FiniteDifferences, ByParametersAreKnown) {
  Ball ball(1);
  ball.control.tau = Vec3(3, 0, 5);
  ball.state.v = Vec3(0.5, 0, 0.1);
  const StepRecord& record = ball.step();
  const double h = record.options.time_step, m = 2;
  const StepParameters parameters(*ball.model, {"gravity/z", "time_step", "body/ball/mass", "joint/ball.x/damping",
                                                "joint/ball.x/lower", "shape/ball/radius"});
  for (const DifferenceOptions& options : {DifferenceOptions(), kRidders}) {
    StepParameterJacobian J;
    const DifferenceReport report = step_parameter_differences(*ball.model, record, parameters, J, options);
    MatX expected = MatX::Zero(3, 6);
    expected(2, 0) = h;
    expected.col(1) = Vec3(3 / m, 0, 5 / m - kGravity);
    expected.col(2) = -h / (m * m) * ball.control.tau;
    expected(0, 3) = -h / m * (0.5 + h * 3 / m);  // v⁺ = (m v + h τ)/(m + h d) at d = 0
    EXPECT_LT(relative_error(J.dvnext, expected, 1e-2), 1e-6);
    EXPECT_EQ(J.df.rows(), 0);
    EXPECT_EQ(report.one_sided, 1);  // damping cannot be less than none
    EXPECT_EQ(report.modes, ModeSwitch::none);
  }
}

TEST(FiniteDifferences, ByTheTargetOfAMotorThatIsOffAreZero) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "cart", .inertia = SpatialInertia::sphere(2, 0.1)},
                   prismatic("rail", Vec3::UnitX()));
  builder.add_motor("rail", velocity_motor("drive", Motor::kInfinity, 50));
  const Model model = builder.build();
  const StepParameters target(model, {"motor/drive/target"});
  const State state{VecX::Zero(1), VecX::Constant(1, 0.3)};
  const double h = 1e-3;
  for (const bool on : {false, true}) {
    Control control;
    if (on) control.motor_targets = VecX::Constant(1, 1.0);
    StepRecord record;
    step(model, state, control, {}, record);
    StepParameterJacobian J;
    step_parameter_differences(model, record, target, J);
    // 2 v⁺ = 2 v + h·50·(target − v⁺)
    EXPECT_NEAR(J.dvnext(0, 0), on ? h * 50 / (2 + h * 50) : 0.0, 1e-9);
  }
}

TEST(FiniteDifferences, RefuseAParameterThatCannotBeMoved) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "bob", .inertia = SpatialInertia::point(1, {0, 0, -1})},
                   revolute("hinge", Vec3::UnitY()));
  const Model model = builder.build();
  StepRecord record;
  step(model, {VecX::Constant(1, 0.5), VecX::Zero(1)}, {}, {}, record);
  StepParameterJacobian J;
  const StepParameters parameters(model, {"body/bob/Ixy"});
  expect_error([&] { step_parameter_differences(model, record, parameters, J, kRidders); }, "body/bob/Ixy",
               "in neither direction");
}

TEST(FiniteDifferences, WithAWorkspaceGiveTheSameBits) {
  DifferenceWorkspace workspace;
  for_random_cases(20, [&](std::mt19937_64& random) {
    const GradcheckScene scene = random_gradcheck_scene(random);
    StepRecord record;
    step(scene.model, scene.state, scene.control, scene.options, record);
    StepJacobians fresh, reused;
    step_differences(scene.model, record, fresh, StepBlocks::all);
    // Parameters move shapes and rebuild colliders; nothing of that may remain.
    StepParameterJacobian by_parameters;
    step_parameter_differences(scene.model, record, StepParameters(scene.model, scene.parameters), by_parameters, {},
                               &workspace);
    step_differences(scene.model, record, reused, StepBlocks::all, {}, &workspace);
    EXPECT_EQ(fresh.dqnext_dq, reused.dqnext_dq);
    EXPECT_EQ(fresh.dvnext_dq, reused.dvnext_dq);
    EXPECT_EQ(fresh.dvnext_dv, reused.dvnext_dv);
    EXPECT_EQ(fresh.dvnext_dtau, reused.dvnext_dtau);
    EXPECT_EQ(fresh.df_dq, reused.df_dq);
  });
}

TEST(FiniteDifferences, OfTheStateAllocateNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  for (const char* name : {"humanoid", "half_cheetah", "gripper"}) {
    const Scene start = scene(name);
    World world = world_of(start);
    for (int i = 0; i < 20; ++i) world.step(with_targets(start.motor_targets));
    StepJacobians J;
    DifferenceWorkspace workspace;
    step_differences(world.model(), world.record(), J, StepBlocks::all, {}, &workspace);
    const AllocationGuard guard;
    step_differences(world.model(), world.record(), J, StepBlocks::all, {}, &workspace);
    const long allocations = guard.count();
    EXPECT_EQ(allocations, 0) << name;
  }
}

TEST(FiniteDifferences, RefuseWhatMakesNoSense) {
  Ball ball(1);
  const StepRecord& record = ball.step();
  StepJacobians J;
  expect_error([&] { step_differences(*ball.model, record, J, StepBlocks::state, {.step = 0}); }, "must be positive");
  expect_error([&] { step_differences(*ball.model, record, J, StepBlocks::state, {.most_tables = 1}); }, "at least 2");
  expect_error([&] { step_differences(*ball.model, StepRecord(), J); }, "no step of this model");
}

TEST(FiniteDifferences, OfAnyFunctionAreKnown) {
  const DisplacedFunction f = [](const VecX& delta) -> VecX {
    const double x = 2 + delta[0], y = 0.5 + delta[1];
    return Vec3(x * x, std::sin(y), x * y);
  };
  MatX expected(3, 2);
  expected << 4, 0, 0, std::cos(0.5), 0.5, 2;
  EXPECT_LT(relative_error(difference_jacobian(f, 2), expected), 1e-9);
  EXPECT_LT(relative_error(difference_jacobian(f, 2, kRidders), expected), 1e-12);
  const DisplacedFunction growing = [](const VecX& delta) -> VecX { return VecX::Zero(delta[0] > 0 ? 2 : 1); };
  expect_error([&] { difference_jacobian(growing, 1); }, "1 values here and 2");
}

// Every kind of change between two steps, and that each is told apart from the others.
TEST(ModeSwitches, AreToldApart) {
  const auto record_of = [](double height, const Vec3& v) {
    Ball ball(height);
    ball.state.v = v;
    return ball.step();
  };
  const Model model = *Ball(0).model;
  const auto between = [&](const StepRecord& a, const StepRecord& b) { return mode_switch(model, a, model, b); };
  const StepRecord landing = record_of(-1e-5, Vec3(0.01, 0, -1));
  EXPECT_EQ(between(landing, landing), ModeSwitch::none);
  EXPECT_EQ(between(landing, record_of(-1.1e-5, Vec3(0.011, 0, -1.1))), ModeSwitch::none);
  EXPECT_EQ(between(landing, record_of(1, Vec3(0, 0, -1))), ModeSwitch::constraints);
  EXPECT_EQ(between(landing, record_of(5e-5, Vec3(0.01, 0, -1))), ModeSwitch::targets);
  EXPECT_EQ(between(landing, record_of(-1e-5, Vec3(5, 0, -1))), ModeSwitch::friction);
  EXPECT_TRUE(has(between(landing, record_of(-1e-5, Vec3(0.01, 0, 1))), ModeSwitch::normals));
}

TEST(ModeSwitches, OfMotorsAreSeen) {
  ModelBuilder builder;
  Joint rail = prismatic("rail", Vec3::UnitX());
  rail.velocity_limit = 1;
  builder.add_body("world", {.name = "cart", .inertia = SpatialInertia::sphere(2, 0.1)}, rail);
  builder.add_motor("rail", position_servo("drive", 100));
  const Model model = builder.build();
  const auto record_of = [&](double v, double target) {
    StepRecord record;
    step(model, {VecX::Zero(1), VecX::Constant(1, v)}, {.motor_targets = VecX::Constant(1, target)}, {}, record);
    return record;
  };
  const auto between = [&](const StepRecord& a, const StepRecord& b) { return mode_switch(model, a, model, b); };
  const StepRecord steady = record_of(0.5, 5e-4);  // at 0.5 m/s already
  EXPECT_EQ(between(steady, record_of(0.51, 5.1e-4)), ModeSwitch::none);
  EXPECT_EQ(between(steady, record_of(0.97, 2e-3)), ModeSwitch::targets);  // held at 1 m/s
  EXPECT_EQ(between(steady, record_of(-0.5, 5e-4)), ModeSwitch::joints);   // 100 N do not suffice
}

}  // namespace
}  // namespace lithe::test
