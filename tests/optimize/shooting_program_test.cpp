#include "lithe/optimize/solvers/shooting_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>

#include "lithe/model/configuration.h"
#include "lithe/optimize/residuals.h"
#include "lithe/scenes/solids/solids.h"
#include "tests/optimize/problems.h"
#include "tests/support/differentiate.h"
#include "tests/support/random_model.h"

namespace lithe::test {

using namespace internal;
namespace {

// A ball that rolls and slides on the ground, on which an arm turns. Everything that a programme can contain.
Problem rolling_problem() {
  ModelBuilder builder;
  add_free_solid(builder, "ball", 2, Sphere{0.1}, Pose::translation(0, 0, 0.099));
  Joint elbow = revolute("elbow", Vec3(1, 1, 0), Pose::translation(0, 0.05, 0));
  elbow.damping = 0.4;
  builder.add_body(
      "ball", {.name = "arm", .inertia = SpatialInertia::from_centre(0.5, {0, 0.05, 0.2}, 0.02 * Mat3::Identity())},
      elbow);
  builder.add_frame("arm", {.name = "hand", .placement = Pose::translation(0, 0, 0.3)});
  add_ground(builder);
  Problem problem = {.model = builder.build(), .start = {}, .steps = 13, .hold = 2};
  const Model& model = problem.model;
  problem.start.q = neutral_configuration(model);
  problem.start.v = VecX::Zero(model.nv());
  problem.start.v.head<6>() << 0.3, -0.2, -0.01, 1, -2, 0.5;
  problem.step.time_step = 0.005;
  problem.actuated = {6, 0, 4};
  problem.lower = numbers({-50, -std::numeric_limits<double>::infinity(), -20});
  problem.upper = numbers({50, 30, 20});
  problem.u_before = numbers({0.1, -0.2, 0.3});
  problem.costs = {
      {.residual = residuals::frame_position(model, "hand", {0.2, 0.1, 0.5}), .times = Times::all(), .weight = 2},
      {.residual = residuals::configuration(neutral_configuration(model)), .times = {3, 9}, .norm = Norm::smooth_size},
      {.residual = residuals::velocity(VecX::Zero(model.nv())), .scales = VecX::LinSpaced(model.nv(), 0.1, 0.9)},
      {.residual = residuals::controls(VecX::Zero(3)), .weight = 0.01},
      {.residual = residuals::control_change(3), .weight = 0.05},
      {.residual = residuals::contact_force(model, "ball", 20), .weight = 1e-3},
      {.residual = residuals::joint_position(model, "elbow", 0.2), .times = Times::final(), .norm = Norm::linear}};
  problem.constraints = {
      {.residual = residuals::frame_velocity(model, "hand"), .times = Times::all()},
      {.residual = residuals::control_change(3), .times = Times::running(), .kind = PathConstraint::Kind::not_positive},
      {.residual = residuals::contact_force(model, "ball"),
       .times = {2, 11},
       .kind = PathConstraint::Kind::not_positive},
      {.residual = residuals::configuration(neutral_configuration(model)), .times = Times::final()}};
  problem.free_start = {{.dof = 4, .velocity = false, .range = 1},
                        {.dof = 1, .velocity = true, .range = 2},
                        {.dof = 3, .velocity = false, .range = 1},
                        {.dof = 6, .velocity = false, .range = 1}};
  problem.free_parameters = {{"body/arm/mass", 0.1, 2}, {"shape/ball/friction", 0.1, 2}, {"joint/elbow/damping", 0, 1}};
  return problem;
}

// The programme of a problem around the motion of a plan.
struct Programme {
  Problem problem;
  ThreadPool pool;
  std::unique_ptr<ShootingProgram> program;

  Programme(const Problem& given, int shot, int threads = 1) : problem(given), pool(threads) {
    check_problem(problem);
    Plan plan = initial_plan(problem);
    MotionEvaluator evaluator(problem);
    EvaluatedMotion motion;
    evaluator.run(plan, MotionEvaluator::Keep::nothing, nullptr, motion);
    plan.q = motion.q;
    plan.v = motion.v;
    const ShootingProgramOptions options = {.shot = shot, .gradient = GradientOptions::exact()};
    program = std::make_unique<ShootingProgram>(problem, plan, options, pool);
  }

  MatX jacobian() const {
    const ProgramShape& shape = program->shape();
    MatX J = MatX::Zero(shape.constraint_lower.size(), shape.lower.size());
    for (std::size_t i = 0; i < shape.jacobian.size(); ++i) {
      J(shape.jacobian[i].row, shape.jacobian[i].column) += program->jacobian()[static_cast<Eigen::Index>(i)];
    }
    return J;
  }

  MatX hessian() const {
    const ProgramShape& shape = program->shape();
    MatX H = MatX::Zero(shape.lower.size(), shape.lower.size());
    for (std::size_t i = 0; i < shape.hessian.size(); ++i) {
      EXPECT_GE(shape.hessian[i].row, shape.hessian[i].column);
      H(shape.hessian[i].row, shape.hessian[i].column) += program->hessian()[static_cast<Eigen::Index>(i)];
    }
    return H.selfadjointView<Eigen::Lower>();
  }
};

// Somewhere near the start, with jumps between the shots, and the ball pressed to the ground at the start of each.
VecX rolling_point(const Programme& at, int shot, std::mt19937_64& random) {
  VecX x = at.program->start();
  x += random_vector(random, static_cast<int>(x.size()), 0.05);
  int variable = static_cast<int>(at.problem.free_start.size());
  for (int first = 0; first < at.problem.steps; first += shot) {
    if (first > 0) {
      x[variable + 2] = -1e-4;
      x[variable + 7 + 2] = -0.01;
      variable += 2 * 7;
    }
    variable += 3 * ((std::min(shot, at.problem.steps - first) + 1) / 2);
  }
  EXPECT_EQ(variable + 3, x.size());
  return x;
}

TEST(ShootingProgram, HasTheDerivativesOfFiniteDifferences) {
  std::mt19937_64 random(5);
  for (const int shot : {4, 6, 14}) {
    SCOPED_TRACE(shot);
    Programme at(rolling_problem(), shot);
    const VecX x = rolling_point(at, shot, random);
    ASSERT_TRUE(at.program->evaluate(x));
    at.program->linearize();
    EXPECT_GT(infeasibility(at.program->shape(), at.program->constraints()), 1);  // contacts push, among others
    const auto values = [&](const VecX& delta) {
      EXPECT_TRUE(at.program->evaluate(x + delta));
      VecX all(1 + at.program->constraints().size());
      all << at.program->objective(), at.program->constraints();
      return all;
    };
    const VecX gradient = at.program->gradient();
    const MatX jacobian = at.jacobian();
    const MatX numeric = central_difference(values, static_cast<int>(x.size()), 1e-5);
    EXPECT_LT(relative_error(gradient.transpose(), numeric.row(0)), 1e-6);
    for (Eigen::Index i = 0; i < jacobian.rows(); ++i) {
      EXPECT_LT(relative_error(jacobian.row(i), numeric.row(1 + i)), 1e-6) << "row " << i;
    }
    // The structure has room for every entry that is not zero.
    MatX room = MatX::Zero(jacobian.rows(), jacobian.cols());
    for (const auto& [i, j] : at.program->shape().jacobian) room(i, j) += 1;
    EXPECT_EQ(room.maxCoeff(), 1);
    EXPECT_EQ((room.array() == 0 && numeric.bottomRows(room.rows()).array() != 0).count(), 0);
  }
}

TEST(ShootingProgram, HasTheHessianOfLinearMotions) {
  // Two masses with a spring each, whose rest may be chosen: states are linear in all that is free, and squares of them have the
  // Gauss–Newton Hessian.
  ModelBuilder builder;
  for (const char* name : {"a", "b"}) {
    Joint joint = prismatic(name, Vec3::UnitX());
    joint.stiffness = 3;
    joint.damping = 0.2;
    builder.add_body("world", {.name = name, .inertia = SpatialInertia::point(1, Vec3::Zero())}, joint);
  }
  Problem problem = {
      .model = builder.build(), .start = {numbers({0.1, 0.2}), numbers({0.3, -0.1})}, .steps = 11, .hold = 2};
  problem.step.time_step = 0.1;
  problem.actuated = {1, 0};
  problem.costs = {{.residual = residuals::configuration(numbers({1, 2})), .times = {2, 8}, .weight = 2},
                   {.residual = residuals::velocity(numbers({0, 0})), .times = Times::all()},
                   {.residual = residuals::controls(numbers({0, 0})), .weight = 0.3},
                   {.residual = residuals::control_change(2), .weight = 0.7},
                   {.residual = residuals::configuration(numbers({0, 0})), .times = Times::final(), .weight = 5}};
  problem.free_start = {{.dof = 1, .velocity = true, .range = 1}, {.dof = 0, .velocity = false, .range = 1}};
  problem.free_parameters = {{"joint/b/rest", -1, 1}, {"joint/a/rest", -1, 1}};
  for (const int shot : {2, 4, 12}) {
    SCOPED_TRACE(shot);
    Programme at(problem, shot);
    const VecX x = at.program->start();
    const auto gradient = [&](const VecX& delta) {
      EXPECT_TRUE(at.program->evaluate(x + delta));
      at.program->linearize();
      return at.program->gradient();
    };
    const MatX numeric = central_difference(gradient, static_cast<int>(x.size()));
    EXPECT_LT(relative_error(at.hessian(), numeric), 1e-9);
  }
}

TEST(ShootingProgram, NamesOnlyEntriesThatCostsCanReach) {
  // A cost of the controls alone has a diagonal per knot; of their change, one beside it as well.
  Problem problem = rolling_problem();
  problem.free_start.clear();
  problem.free_parameters.clear();
  problem.costs = {{.residual = residuals::controls(VecX::Zero(3))}};
  const int knots = problem.knots();
  EXPECT_EQ(static_cast<int>(Programme(problem, 4).program->shape().hessian.size()), 6 * knots);
  problem.costs.push_back({.residual = residuals::control_change(3)});
  const int named = static_cast<int>(Programme(problem, 4).program->shape().hessian.size());
  EXPECT_EQ(named, 6 * knots + 9 * (knots - 1) + 6 * 3);  // the knots before the three cuts are named by both shots
}

TEST(ShootingProgram, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Problem problem = rolling_problem();
  std::mt19937_64 random(5);
  Programme one(problem, 4);
  const VecX x = rolling_point(one, 4, random);
  ASSERT_TRUE(one.program->evaluate(x));
  one.program->linearize();
  for (const int threads : {2, 3}) {
    Programme many(problem, 4, threads);
    ASSERT_TRUE(many.program->evaluate(x));
    many.program->linearize();
    EXPECT_EQ(many.program->objective(), one.program->objective());
    EXPECT_EQ(many.program->constraints(), one.program->constraints());
    EXPECT_EQ(many.program->gradient(), one.program->gradient());
    EXPECT_EQ(many.program->jacobian(), one.program->jacobian());
    EXPECT_EQ(many.program->hessian(), one.program->hessian());
  }
}

TEST(ShootingProgram, RefusesPointsWithoutAModelOrAState) {
  Programme at(rolling_problem(), 4);
  VecX x = at.program->start();
  EXPECT_TRUE(at.program->evaluate(x));
  x[x.size() - 3] = -1;  // the mass of the arm
  EXPECT_FALSE(at.program->evaluate(x));
  x = at.program->start();
  x[4 + 6] = 1e300;  // where the second shot starts
  EXPECT_FALSE(at.program->evaluate(x));
  EXPECT_TRUE(at.program->evaluate(at.program->start()));
}

}  // namespace
}  // namespace lithe::test
