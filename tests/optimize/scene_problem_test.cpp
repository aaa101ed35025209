#include "lithe/optimize/scene_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/optimize/methods.h"
#include "lithe/optimize/residuals.h"
#include "lithe/optimize/solvers/evaluated_motion.h"
#include "lithe/plot/solution_figure.h"
#include "lithe/scenes/any_task.h"
#include "lithe/scenes/catalogue.h"

namespace lithe::test {

using namespace plot;

using namespace internal;
namespace {

EvaluatedMotion motion_of(const Problem& problem, const Plan& plan) {
  MotionEvaluator evaluator(problem);
  EvaluatedMotion motion;
  evaluator.run(plan, MotionEvaluator::Keep::nothing, nullptr, motion);
  return motion;
}

double loss_at_end(const Scene& scene, const EvaluatedMotion& motion) {
  const Eigen::Index end = motion.q.cols() - 1;
  return task_loss(*scene.task, scene.model, motion.q.col(end), motion.v.col(end)).value;
}

std::string error_of(const Scene& scene, const SceneProblemOptions& options = {}) {
  try {
    problem_of(scene, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SceneProblem, WithoutForcesTheCostIsTheTasksLoss) {
  const std::vector<std::string> names = scenes_with_tasks();
  EXPECT_GE(names.size(), 6u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Scene s = scene(name);
    const Problem problem = problem_of(s);
    EXPECT_EQ(problem.steps, s.task->steps);
    EXPECT_EQ(problem.hold, 1);
    EXPECT_EQ(problem.step.time_step, s.time_step);
    const EvaluatedMotion motion = motion_of(problem, initial_plan(problem));
    ASSERT_EQ(motion.q.cols(), s.task->steps + 1);
    EXPECT_NEAR(motion.cost, loss_at_end(s, motion), 1e-12 * std::max(1.0, std::abs(motion.cost)));
  }
}

TEST(SceneProblem, PointsAreCostsToo) {
  Scene s = scene("humanoid");
  s.task =
      Task{.steps = 20, .points = {{.body = s.model.bodies().back().name, .point = {0.1, 0, 0}, .target = {1, 2, 3}}}};
  const Problem problem = problem_of(s);
  const EvaluatedMotion motion = motion_of(problem, initial_plan(problem));
  EXPECT_NEAR(motion.cost, loss_at_end(s, motion), 1e-12 * motion.cost);
  const PointValue value = point_value(s.task->points[0], s.model, motion.q.col(20));
  EXPECT_NEAR(value.cost, motion.cost, 1e-12 * motion.cost);
  EXPECT_NEAR((value.place - Vec3(1, 2, 3)).squaredNorm(), value.cost, 1e-12 * motion.cost);
  const ResidualCheck check = check_residual(s.model, *problem.costs[0].residual);
  EXPECT_TRUE(check.passed) << check.worst;
}

TEST(SceneProblem, AHoldingPlanKeepsAnArmWhereItIs) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "arm", .inertia = SpatialInertia::point(2, Vec3(0.5, 0, 0))},
                   revolute("shoulder", Vec3::UnitY()));
  Scene s = at_rest(builder);
  s.task = hold_task(s);
  const Problem problem = problem_of(s);
  const Plan plan = holding_plan(problem);
  EXPECT_NEAR(plan.u(0, 0), -2 * 0.5 * 9.81, 1e-12);  // about +y, down is positive
  EXPECT_NEAR(motion_of(problem, plan).q(0, problem.steps), 0, 1e-9);
  Joint weak = s.model.joints()[0];
  weak.effort_limit = 1;
  s.model.set_joint(s.model.joint("shoulder"), weak);
  EXPECT_EQ(holding_plan(problem_of(s)).u(0, 0), -1);
}

TEST(SceneProblem, DrivenIsWhatHasAMotor) {
  const auto driven = [](const char* name) {
    const Problem problem = problem_of(scene(name));
    std::vector<std::string> names;
    for (const int dof : problem.actuated) {
      const auto& joints = problem.model.joints();
      names.push_back(std::ranges::find(joints, dof, &Joint::v_index)->name);
    }
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(driven("cartpole"), Names{"cart"});
  EXPECT_EQ(driven("double_cartpole"), Names{"cart"});
  EXPECT_EQ(driven("drone"), Names{"rotor"});
  EXPECT_EQ(driven("catapult"), (Names{"segment_1", "segment_2", "segment_3"}));
  EXPECT_EQ(driven("jump_worm"), (Names{"segment_1", "segment_2", "segment_3"}));
  EXPECT_EQ(driven("ball_and_wall"), Names{});
  EXPECT_EQ(problem_of(scene("catapult")).upper, VecX::Constant(3, 1000));
  EXPECT_EQ(problem_of(scene("catapult")).lower, VecX::Constant(3, -1000));
}

TEST(SceneProblem, WithoutMotorsTheVelocityAtTheStartIsFree) {
  const Problem problem = problem_of(scene("ball_and_wall"), {.start_velocity = 3});
  ASSERT_EQ(problem.free_start.size(), 3u);
  for (const FreeStart& free : problem.free_start) {
    EXPECT_TRUE(free.velocity);
    EXPECT_EQ(free.range, 3);
  }
  EXPECT_EQ(problem.costs.size(), 3u);  // no forces, no effort
}

// Whatever the limits, the horizon and the hold.
TEST(SceneProblem, FullForceAllTheTimeCostsTheWeightPerJoint) {
  for (const char* name : {"cartpole", "drone", "catapult"}) {
    for (const int hold : {1, 7}) {
      SCOPED_TRACE(name);
      const Scene s = scene(name);
      const Problem problem = problem_of(s, {.effort_weight = 0.25, .steps = 60, .hold = hold});
      Plan plan = initial_plan(problem);
      for (int k = 0; k < problem.controls(); ++k) plan.u.row(k).setConstant(problem.upper[k]);
      const EvaluatedMotion motion = motion_of(problem, plan);
      EXPECT_NEAR(motion.cost - loss_at_end(s, motion), 0.25 * problem.controls(), 1e-9);
    }
  }
  // Without a limit, 10 N are "full".
  const Scene s = scene("double_cartpole");
  const Problem problem = problem_of(s, {.effort_weight = 0.25, .steps = 60});
  Plan plan = initial_plan(problem);
  plan.u.setConstant(10);
  const EvaluatedMotion motion = motion_of(problem, plan);
  EXPECT_NEAR(motion.cost - loss_at_end(s, motion), 0.25, 1e-9);
}

TEST(SceneProblem, OptionsReachTheProblem) {
  const Problem problem = problem_of(scene("cartpole"), {.effort_weight = 0, .steps = 31, .hold = 10});
  EXPECT_EQ(problem.steps, 31);
  EXPECT_EQ(problem.knots(), 4);
  EXPECT_EQ(problem.costs.size(), 4u);  // the terms alone
}

TEST(SceneProblem, ASceneWithoutATaskNamesThoseWithOne) {
  const std::string error = error_of(scene("pendulum"));
  for (const std::string& name : scenes_with_tasks()) EXPECT_NE(error.find(name), std::string::npos) << error;
  EXPECT_EQ(error.find("pile"), std::string::npos);
}

TEST(SceneProblem, BadOptionsAreRefused) {
  const Scene s = scene("cartpole");
  EXPECT_NE(error_of(s, {.effort_weight = -1}).find("-1"), std::string::npos);
  EXPECT_NE(error_of(s, {.effort_weight = std::nan("")}).find("nan"), std::string::npos);
  EXPECT_NE(error_of(s, {.steps = -3}).find("-3"), std::string::npos);
  EXPECT_NE(error_of(s, {.hold = 0}).find("hold"), std::string::npos);
}

TEST(SceneProblem, TermsAddUpToTheLoss) {
  for (const std::string& name : scenes_with_tasks()) {
    SCOPED_TRACE(name);
    const Scene s = scene(name);
    const VecX q = s.q + 0.3 * VecX::Ones(s.q.size()), v = s.v - 0.2 * VecX::Ones(s.v.size());
    double sum = 0;
    for (const TaskTerm& term : s.task->terms) {
      const TermValue value = term_value(term, s.model, q, v);
      const Joint& joint = s.model.joints()[s.model.joint(term.joint)];
      EXPECT_EQ(value.x, term.of == TaskTerm::Of::position ? q[joint.q_index] : v[joint.v_index]);
      sum += value.cost;
    }
    EXPECT_NEAR(sum, task_loss(*s.task, s.model, q, v).value, 1e-12 * std::max(1.0, std::abs(sum)));
  }
}

// Half a second of the cartpole, in which it cannot come far: enough to see each solver at work.
TEST(Methods, EachLowersTheCost) {
  const Problem problem = problem_of(scene("cartpole"), {.steps = 50, .hold = 5});
  const Plan initial = initial_plan(problem);
  const double before = motion_of(problem, initial).cost;
  EXPECT_EQ(method_names().size(), 8u);
  for (const std::string& method : method_names()) {
    SCOPED_TRACE(method);
    MethodOptions options;
    options.max_iterations = 20;
    options.shot = 12;  // rounded up to whole knots
    const Solution solution = solve_by(method, problem, initial, options);
    EXPECT_LT(solution.cost, before);
    EXPECT_FALSE(solution.history.empty());
    EXPECT_EQ(solution.trajectory.steps(), 50);
    EXPECT_EQ(motion_of(problem, solution.plan).cost, solution.cost);
  }
}

TEST(Methods, AnUnknownOneBringsSuggestions) {
  const Problem problem = problem_of(scene("cartpole"));
  try {
    solve_by("adamm", problem, initial_plan(problem), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'adam'"), std::string::npos);
  }
}

TEST(SolutionFigure, HasThePanelsOfTheMotion) {
  const Scene s = scene("cartpole");
  const Problem problem = problem_of(s, {.steps = 20, .hold = 5});
  MethodOptions options;
  options.max_iterations = 2;
  const Solution solution = solve_by("ddp", problem, initial_plan(problem), options);
  const Figure figure = solution_figure("cartpole", problem, solution, &*s.task);
  ASSERT_EQ(figure.panels.size(), 4u);  // cost, forces, positions, angles
  EXPECT_EQ(figure.panels[0].curves[0].y.size(), solution.history.size());
  EXPECT_EQ(figure.panels[1].y.unit, "N");
  ASSERT_EQ(figure.panels[1].curves.size(), 1u);
  EXPECT_EQ(figure.panels[1].curves[0].x.back(), 20 * s.time_step);
  EXPECT_EQ(figure.panels[1].curves[0].y.front(), solution.plan.u(0, 0));
  EXPECT_EQ(figure.panels[2].curves[0].y.back(), solution.trajectory.q(0, 20));
  EXPECT_EQ(figure.panels[2].targets.size(), 1u);
  EXPECT_EQ(figure.panels[3].curves[0].label, "pole");
  EXPECT_EQ(svg(figure).find("nan"), std::string::npos);
}

TEST(SolutionFigure, TheCostsScaleFollowsItsValues) {
  EXPECT_EQ(fitting_scale({1, 0.01}), AxisScale::log);
  EXPECT_EQ(fitting_scale({1, 0.5}), AxisScale::linear);
  EXPECT_EQ(fitting_scale({1, -3}), AxisScale::linear);
  EXPECT_EQ(fitting_scale({HUGE_VAL, 1, 0.01}), AxisScale::log);
  EXPECT_EQ(fitting_scale({}), AxisScale::linear);
}

}  // namespace
}  // namespace lithe::test
