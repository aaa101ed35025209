#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lithe/model/model_builder.h"
#include "lithe/model/parameters.h"
#include "lithe/optimize/residuals.h"
#include "lithe/optimize/solvers/evaluated_motion.h"
#include "lithe/optimize/solvers/free_variables.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/solids/incline.h"
#include "lithe/scenes/solids/solids.h"
#include "tests/optimize/problems.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"

namespace lithe::test {

using namespace internal;

namespace {

using Keep = MotionEvaluator::Keep;

// Controls that look random, and every free number away from where it starts.
Plan some_plan(const Problem& problem, double push) {
  Plan plan = initial_plan(problem);
  for (int k = 0; k < plan.u.cols(); ++k) {
    for (int i = 0; i < plan.u.rows(); ++i) plan.u(i, k) = push * std::sin(1.7 * i + 0.9 * k + 0.4);
  }
  plan.start.resize(static_cast<Eigen::Index>(problem.free_start.size()));
  for (int k = 0; k < plan.start.size(); ++k) plan.start[k] = problem.free_start[k].range * std::sin(2.0 * k + 1) / 2;
  plan.parameters.resize(static_cast<Eigen::Index>(problem.free_parameters.size()));
  for (int k = 0; k < plan.parameters.size(); ++k) {
    plan.parameters[k] = parameter(problem.model, problem.free_parameters[k].name);
  }
  return plan;
}

// The gradient of EvaluatedMotion::value against differences of whole motions, all numbers that are free. `reach` is how far they go.
void expect_gradient(const Problem& problem, const Plan& plan, const Multipliers* multipliers, double reach,
                     double tolerance) {
  check_problem(problem);
  check_plan(problem, plan);
  MotionEvaluator evaluator(problem);
  EvaluatedMotion motion;
  evaluator.run(plan, Keep::records, multipliers, motion);
  ASSERT_TRUE(std::isfinite(motion.value));
  PlanGradient gradient;
  evaluator.gradient(plan, motion, multipliers, GradientOptions::exact(), gradient);
  const auto value = [&](const Plan& at) {
    evaluator.run(at, Keep::nothing, multipliers, motion);
    return VecX::Constant(1, motion.value);
  };
  const MatX by_u = central_difference(
      [&](const VecX& d) {
        Plan at = plan;
        at.u += d.reshaped(plan.u.rows(), plan.u.cols());
        return value(at);
      },
      static_cast<int>(plan.u.size()), 100 * reach);
  const MatX by_start = central_difference(
      [&](const VecX& d) {
        Plan at = plan;
        at.start += d;
        return value(at);
      },
      static_cast<int>(plan.start.size()), reach);
  const MatX by_parameters = central_difference(
      [&](const VecX& d) {
        Plan at = plan;
        at.parameters += d;
        return value(at);
      },
      static_cast<int>(plan.parameters.size()), reach);
  const auto expect_part = [&](const VecX& analytic, const MatX& numeric, const char* name) {
    ASSERT_EQ(analytic.size(), numeric.cols()) << name;
    if (analytic.size() == 0) return;
    EXPECT_LT(relative_error(analytic.transpose(), numeric), tolerance) << name;
  };
  expect_part(gradient.u.reshaped(), by_u, "u");
  expect_part(gradient.start, by_start, "start");
  expect_part(gradient.parameters, by_parameters, "parameters");
}

Problem pushed_pendulum() {
  Problem problem = swing_up(20);
  problem.hold = 3;  // the last knot is held for two steps only
  problem.u_before = VecX::Constant(1, 0.3);
  problem.costs.push_back({.residual = residuals::control_change(1), .weight = 0.5});
  problem.costs.push_back({.residual = residuals::joint_velocity(problem.model, "hinge", 1),
                           .times = Times::all(),
                           .norm = Norm::smooth_size,
                           .width = 0.3});
  problem.costs.push_back({.residual = residuals::joint_position(problem.model, "hinge", 0.2),
                           .times = {.first = 3, .last = 8},
                           .norm = Norm::signed_square});
  return problem;
}

// On the ground, 0.1 mm deep, so that no contact opens under a difference.
Problem sliding_box() {
  ModelBuilder builder;
  add_ground(builder, {.friction = 0.3});
  add_free_solid(builder, "box", 2, Box{{0.2, 0.15, 0.1}}, Pose::translation(0, 0, 0.1 - 1e-4), {.friction = 0.3});
  const Scene scene = at_rest(builder);
  Problem problem = {.model = scene.model, .start = {scene.q, scene.v}, .steps = 12, .hold = 2};
  problem.start.v[0] = 1.5;
  problem.start.v[1] = 1;
  problem.step.time_step = 1e-3;
  problem.actuated = {0, 1, 2};
  problem.costs = {
      {.residual = residuals::velocity(VecX::Zero(scene.model.nv())), .times = Times::all()},
      {.residual = residuals::controls(VecX::Zero(3)), .weight = 1e-3},
      {.residual = residuals::centre_of_mass_position({0.1, 0, 0}), .times = Times::final(), .weight = 10}};
  return problem;
}

// A rod that hangs on a ball.
Problem ball_pendulum() {
  Joint hinge = ball("hinge");
  hinge.damping = 0.2;
  const SpatialInertia inertia = SpatialInertia::sphere(1, 0.2).in(Pose::translation(0.1, 0, -0.8));
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "rod", .inertia = inertia}, hinge)
                          .add_frame("rod", {.name = "tip", .placement = Pose::translation(0, 0, -1)})
                          .build();
  Problem problem = {.model = model, .start = {VecX::Unit(4, 3), VecX::Constant(3, 0.4)}, .steps = 15};
  problem.step.time_step = 0.02;
  problem.actuated = {0, 2};
  problem.free_start = {{.dof = 0, .range = 1.5},
                        {.dof = 2, .range = 1},
                        {.dof = 1, .velocity = true, .range = 2},
                        {.dof = 1, .range = 1}};
  problem.costs = {{.residual = residuals::frame_position(model, "tip", {0.5, 0.2, -0.6}), .times = Times::all()},
                   {.residual = residuals::configuration(problem.start.q), .times = Times::final()}};
  return problem;
}

}  // namespace

TEST(Motion, GradientOfAHeldAndJudgedPendulumIsTheDifference) {
  const Problem problem = pushed_pendulum();
  expect_gradient(problem, some_plan(problem, 3), nullptr, 1e-4, 1e-8);
}

TEST(Motion, GradientThroughSlidingContactIsTheDifference) {
  const Problem problem = sliding_box();
  expect_gradient(problem, some_plan(problem, 0.1), nullptr, 1e-5, 1e-6);
}

TEST(Motion, GradientByAStartOnABallIsTheDifference) {
  const Problem problem = ball_pendulum();
  const Plan plan = some_plan(problem, 1);
  ASSERT_GT(plan.start.head(2).norm(), 0.5);  // far enough for the right Jacobian to matter
  expect_gradient(problem, plan, nullptr, 1e-4, 1e-8);
}

TEST(Motion, GradientByNumbersOfTheModelIsTheDifference) {
  Problem problem = ball_pendulum();
  problem.free_parameters = {
      {"body/rod/mass", 0.1, 5}, {"joint/hinge/damping", 0, 1}, {"gravity/z", -20, 0}, {"frame/tip/x", -1, 1}};
  expect_gradient(problem, some_plan(problem, 1), nullptr, 1e-4, 1e-8);

  Problem sliding = sliding_box();
  sliding.costs.pop_back();  // masses must be fixed for the centre of mass
  sliding.free_parameters = {{"body/box/mass", 1, 3}, {"shape/box/friction", 0.1, 1}};
  expect_gradient(sliding, some_plan(sliding, 0.1), nullptr, 1e-6, 1e-6);
}

TEST(Motion, GradientOfContactForcesIsTheDifference) {
  Problem problem = sliding_box();
  problem.costs.push_back({.residual = residuals::contact_force(problem.model, "box", 15), .weight = 0.01});
  expect_gradient(problem, some_plan(problem, 0.1), nullptr, 1e-5, 1e-5);
}

TEST(Motion, GradientWithMultipliersIsTheDifference) {
  Problem problem = pushed_pendulum();
  problem.constraints = {
      {.residual = residuals::joint_position(problem.model, "hinge", 0.5)},
      {.residual = residuals::velocity_bound(problem.model, "hinge", residuals::BoundSide::upper, 0.4),
       .times = Times::all(),
       .kind = PathConstraint::Kind::not_positive}};
  Multipliers multipliers = initial_multipliers(problem, 3);
  for (MatX& lambda : multipliers.lambda) lambda.setConstant(0.7);
  expect_gradient(problem, some_plan(problem, 3), &multipliers, 1e-5, 1e-6);
}

TEST(Motion, UpdateAddsThePenaltyTimesTheViolation) {
  Problem problem = farthest(5);
  problem.constraints = {
      {.residual = residuals::joint_position(problem.model, "slide", 0.5)},
      {.residual = residuals::velocity_bound(problem.model, "slide", residuals::BoundSide::upper, 0.25),
       .times = Times::all(),
       .kind = PathConstraint::Kind::not_positive}};
  Plan plan = initial_plan(problem);
  plan.u.setOnes();
  Multipliers multipliers = initial_multipliers(problem, 10);
  MotionEvaluator evaluator(problem);
  EvaluatedMotion motion;
  evaluator.run(plan, Keep::records, &multipliers, motion);
  evaluator.update(plan, motion, multipliers);
  EXPECT_NEAR(multipliers.lambda[0](0, 5), 10 * (motion.q(0, 5) - 0.5), 1e-12);
  EXPECT_EQ(multipliers.lambda[0].leftCols(5).norm(), 0);  // it counts at the end only
  for (int t = 0; t <= 5; ++t) EXPECT_NEAR(multipliers.lambda[1](0, t), std::max(0.0, 10 * (0.1 * t - 0.25)), 1e-12);
  EXPECT_NEAR(motion.violation, std::max(std::abs(motion.q(0, 5) - 0.5), 0.25), 1e-12);
}

TEST(Motion, CostIsThatOfTheLinearModel) {
  const MassOnRail rail = {.steps = 17, .hold = 3};
  const Problem problem = rail.problem();
  const Plan plan = some_plan(problem, 2);
  MotionEvaluator evaluator(problem);
  EvaluatedMotion motion;
  evaluator.run(plan, Keep::nothing, nullptr, motion);
  EXPECT_NEAR(motion.cost, rail.cost().at(plan.u.reshaped()), 1e-11);
}

TEST(Motion, DivergedMotionCostsInfinitelyMuch) {
  Problem problem = farthest(50);
  problem.lower.resize(0);
  problem.upper.resize(0);
  Plan plan = initial_plan(problem);
  plan.u.setConstant(std::numeric_limits<double>::max());
  MotionEvaluator evaluator(problem);
  EvaluatedMotion motion;
  evaluator.run(plan, Keep::nothing, nullptr, motion);
  EXPECT_GE(motion.diverged_at, 0);
  EXPECT_EQ(motion.cost, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(motion.q.allFinite() && motion.v.allFinite());
  // And leaves nothing behind for the next plan.
  plan.u.setOnes();
  evaluator.run(plan, Keep::nothing, nullptr, motion);
  EXPECT_EQ(motion.diverged_at, -1);
  EXPECT_NEAR(motion.cost, -12.75, 1e-11);
}

TEST(Motion, SameBitsWhateverWasRunBefore) {
  const Problem problem = sliding_box();
  const Plan plan = some_plan(problem, 0.1), other = some_plan(problem, 5);
  MotionEvaluator fresh(problem), used(problem);
  EvaluatedMotion a, b;
  fresh.run(plan, Keep::nothing, nullptr, a);
  used.run(other, Keep::records, nullptr, b);
  used.run(plan, Keep::records, nullptr, b);
  EXPECT_EQ(a.cost, b.cost);
  EXPECT_TRUE(a.q == b.q && a.v == b.v);
}

TEST(Motion, StepsCanBeRepeatedWithTheSameBits) {
  const Scene scene = lithe::scene("jump_worm");
  Problem problem = {.model = scene.model, .start = {scene.q, scene.v}, .steps = 400};
  actuate_joints(problem);
  MotionEvaluator evaluator(problem);
  const Plan plan = some_plan(problem, 20);
  EvaluatedMotion motion, whole;
  evaluator.run(plan, Keep::guesses, nullptr, motion);
  evaluator.run(plan, Keep::records, nullptr, whole);
  ASSERT_EQ(motion.diverged_at, -1);
  ASSERT_EQ(motion.q, whole.q);
  StepRecord record;
  int contacts = 0;
  for (const int t : {399, 0, 200, 100, 101, 398, 1, 300}) {
    evaluator.repeat(plan, motion, t, record);
    EXPECT_EQ(record.next.q, motion.q.col(t + 1)) << t;
    EXPECT_EQ(record.next.v, motion.v.col(t + 1)) << t;
    EXPECT_EQ(record.f, whole.records[t].f) << t;
    contacts += record.status.contacts;
  }
  EXPECT_GT(contacts, 0);
}

TEST(Motion, LeavesItAtThatWhenToldTo) {
  const Problem problem = swing_up();
  MotionEvaluator evaluator(problem);
  EvaluatedMotion motion;
  Steering steering;
  steering.stops = [](int t) { return t == 5; };
  evaluator.run(initial_plan(problem), Keep::nothing, nullptr, motion, steering);
  EXPECT_EQ(motion.diverged_at, 5);
  EXPECT_EQ(motion.status.size(), 5U);
  EXPECT_EQ(motion.cost, std::numeric_limits<double>::infinity());
}

TEST(FreeVariables, PackAndUnpackAreInverse) {
  Problem problem = ball_pendulum();
  problem.lower = Eigen::Vector2d(-3, -1);
  problem.upper = Eigen::Vector2d(1, std::numeric_limits<double>::infinity());
  problem.free_parameters = {{"body/rod/mass", 0.5, 4.5}};
  const FreeVariables variables(problem);
  ASSERT_EQ(variables.size(), 2 * 15 + 4 + 1);
  EXPECT_EQ(variables.scale()[0], 2);  // half of −3 … 1
  EXPECT_EQ(variables.scale()[1], 1);  // no upper bound
  EXPECT_EQ(variables.scale()[30], 1.5);
  EXPECT_EQ(variables.scale()[34], 2);
  const Plan plan = some_plan(problem, 0.9);
  Plan back;
  variables.unpack(variables.pack(plan), back);
  EXPECT_LT((back.u - plan.u).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_LT((back.start - plan.start).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_EQ(back.parameters, plan.parameters);
  // An empty part is the problem's own start and model; all that is out of bounds is moved there.
  Plan sparse = initial_plan(problem);
  sparse.u.setConstant(100);
  variables.unpack(variables.pack(sparse), back);
  EXPECT_EQ(back.u(0, 0), 1);
  EXPECT_EQ(back.u(1, 0), 100);
  EXPECT_EQ(back.start.norm(), 0);
  EXPECT_EQ(back.parameters[0], 1);
}

}  // namespace lithe::test
