#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/step/gradients/displaced_step.h"
#include "lithe/step/internal/step_tape.h"
#include "tests/step/bounce_cases.h"
#include "tests/step/parameter_cases.h"
#include "tests/step/trajectory.h"
#include "tests/support/constrained_model.h"
#include "tests/support/differentiate.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"
#include "tests/support/step_worlds.h"

// Derivatives through elastic impacts by parameters: sizes and placements move the moment of the impact.
namespace lithe::test {

using namespace internal;
namespace {

// By differences of the motion in continuous time: [∂q; ∂v] at its end. `record` is the step of the impact.
MatX difference_by_parameters(const Model& model, const StepRecord& record, const std::vector<std::string>& parameters,
                              const Motion& start, double duration) {
  const Motion end = ContinuousImpact(model, record).after(duration, start);
  const auto out = [&](const VecX& d) {
    Model changed = model;
    for (int k = 0; k < d.size(); ++k) {
      if (d[k] != 0) set_parameter(changed, parameters[k], parameter(model, parameters[k]) + d[k]);
    }
    const Motion to = ContinuousImpact(changed, record).after(duration, start);
    VecX both(2 * model.nv());
    both << difference(model, to.q, end.q), to.v;
    return both;
  };
  return central_difference(out, static_cast<int>(parameters.size()), 1e-3 * record.options.time_step);
}

// All parameters that may move the moment of an impact.
std::vector<std::string> surface_parameters(const Model& model) {
  const StepParameters all(model, parameter_names(model));
  std::vector<std::string> names;
  for (int k = 0; k < all.size(); ++k) {
    if (moves_surfaces(all.entries()[k])) names.push_back(all.names()[k]);
  }
  return names;
}

// The larger relative error of the two blocks.
double parameter_error_of(const Striker& s, double h, double share) {
  const Model model = above_ground(s, h, share);
  const StepRecord record = one_step(model, s.q, s.v, s.tau, h);
  EXPECT_TRUE(bounces(record));
  const std::vector<std::string> names = surface_parameters(model);
  const MatX truth = difference_by_parameters(model, record, names, {s.q, s.v}, h);
  const StepParameterJacobian jacobian = by_parameters(model, record, names, {});
  EXPECT_EQ(jacobian.report.mode, GradientMode::bounce_mass_metric);
  return std::max(relative_error(jacobian.dqnext, truth.topRows(model.nv())),
                  relative_error(jacobian.dvnext, truth.bottomRows(model.nv())));
}

TEST(BounceByParameters, IsTheMotionThroughTheImpact) { expect_first_order(parameter_error_of); }

// A ball that is thrown at the ground, seen when it has left it again. It sticks to the ground as it hits it and rolls off, so
// that x, too, tells how large it is.
struct ThrownBall {
  static constexpr double kRadius = 0.1, kSpeed = 0.8, kRestitution = 0.7, kDrop = 0.3, kTime = 0.3;

  static Model model() {
    const Material rubber = {.friction = 5, .restitution = kRestitution};
    ModelBuilder builder;
    add_free_solid(builder, "ball", 1, Sphere{kRadius}, Pose::translation(0, 0, kRadius + kDrop), rubber);
    add_ground(builder, rubber);
    return builder.build();
  }

  // x, z, ẋ, ż, by the textbook; `changes` are those of the radius, of the height of the ground and of the start.
  static VecX end(const VecX& changes) {
    const double r = kRadius + changes[0];
    const double drop = kDrop + changes[2] - changes[0] - changes[1];
    const double t = std::sqrt(2 * drop / kGravity), rest = kTime - t;
    const double vx = kSpeed * r * r / (r * r + 0.4 * kRadius * kRadius);
    const double vz = kRestitution * kGravity * t;
    const double z = r + changes[1] + vz * rest - 0.5 * kGravity * rest * rest;
    return (VecX(4) << kSpeed * t + vx * rest, z, vx, vz - kGravity * rest).finished();
  }
};

TEST(BounceByParameters, OfABallInARolloutIsThatOfTheTextbook) {
  const Model model = ThrownBall::model();
  const StepParameters parameters(model, {"shape/ball/radius", "shape/ground/z"});
  const MatX truth = central_difference(ThrownBall::end, 3, 1e-3);
  for (const double h : {1e-3, 1e-4}) {
    const State start = {neutral_configuration(model), ThrownBall::kSpeed * VecX::Unit(6, 0)};
    StepOptions options;
    options.time_step = h;
    const std::vector<VecX> tau(static_cast<std::size_t>(std::lround(ThrownBall::kTime / h)));
    const Trajectory trajectory = roll_out(model, start, tau, options);
    const auto row = [&](int output, const GradientOptions& gradient_options) {
      StepCotangent by_end = {VecX::Zero(6), VecX::Zero(6)};
      (output < 2 ? by_end.q : by_end.v)[output % 2 == 0 ? 0 : 2] = 1;
      const TrajectoryGradient gradient =
          gradient_of(model, trajectory, at_end(trajectory, by_end), gradient_options, &parameters);
      EXPECT_EQ(gradient.bounced, gradient_options.bounce == Bounce::off ? 0 : 1);
      return Vec3(gradient.parameters[0], gradient.parameters[1], gradient.q[2]);
    };
    for (int k = 0; k < 4; ++k) {
      SCOPED_TRACE("output " + std::to_string(k) + ", time step " + std::to_string(h));
      EXPECT_LT(relative_error(row(k, {}), truth.row(k).transpose()), 20 * h);
      if (k % 2 == 0) continue;
      // The step as computed rises no higher where the ground does.
      EXPECT_EQ(row(k, GradientOptions::exact()).head<2>().norm(), 0);
    }
  }
}

TEST(BounceByParameters, OfAnArmInARolloutIsTheMotionThroughTheImpact) {
  for (const double friction : {0.0, 3.0}) {
    SCOPED_TRACE("friction " + std::to_string(friction));
    const Striker s = swinging_arm({.friction = friction, .restitution = 0.7});
    constexpr double kTime = 0.08;
    const Model model = above_ground(s, kTime, 0.5);
    const std::vector<std::string> names = surface_parameters(model);  // lengths of links among them
    const StepParameters parameters(model, names);
    const auto error_at = [&](double h) {
      StepOptions options;
      options.time_step = h;
      const std::vector<VecX> tau(static_cast<std::size_t>(std::lround(kTime / h)), s.tau);
      const Trajectory trajectory = roll_out(model, {s.q, s.v}, tau, options);
      const auto impact = std::find_if(trajectory.records.begin(), trajectory.records.end(),
                                       [](const StepRecord& record) { return bounces(record); });
      const MatX truth = difference_by_parameters(model, *impact, names, {s.q, s.v}, kTime);
      MatX gradients(6, parameters.size());
      for (int k = 0; k < 6; ++k) {
        const StepCotangent by_end = {k < 3 ? VecX(VecX::Unit(3, k)) : VecX(VecX::Zero(3)),
                                      k < 3 ? VecX(VecX::Zero(3)) : VecX(VecX::Unit(3, k - 3))};
        const TrajectoryGradient gradient = gradient_of(model, trajectory, at_end(trajectory, by_end), {}, &parameters);
        EXPECT_EQ(gradient.bounced, 1);
        gradients.row(k) = gradient.parameters.transpose();
      }
      return std::max(relative_error(gradients.topRows(3), truth.topRows(3)),
                      relative_error(gradients.bottomRows(3), truth.bottomRows(3)));
    };
    EXPECT_LT(error_at(1e-3), 0.05);
    EXPECT_LT(error_at(1e-4), 0.005);
  }
}

TEST(BounceByParameters, IsTheSameWhereverAllOfItTakesPlace) {
  // To raise the ground is to lower all the rest, by its coordinates or by where its first joint is.
  const Striker s = flying_rod({.friction = 0.15, .restitution = 0.7});
  const double h = 1e-3;
  const Model model = above_ground(s, h, 0.4);
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::explicit_position}) {
    const StepRecord record = one_step(model, s.q, s.v, s.tau, h, integrator);
    ASSERT_TRUE(bounces(record));
    for (const Bounce bounce : {Bounce::off, Bounce::mass_metric, Bounce::paper}) {
      const StepParameterJacobian by =
          by_parameters(model, record, {"shape/ground/z", "joint/rod.x/z"}, {.bounce = bounce});
      const StepJacobians jacobians = jacobians_of(model, record, {.bounce = bounce});
      EXPECT_LT((by.dqnext.col(0) + by.dqnext.col(1)).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT((by.dvnext.col(0) + by.dvnext.col(1)).cwiseAbs().maxCoeff(), 1e-11);
      EXPECT_LT((by.dqnext.col(1) + VecX::Unit(6, 2) - jacobians.dqnext_dq.col(2)).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT((by.dvnext.col(1) - jacobians.dvnext_dq.col(2)).cwiseAbs().maxCoeff(), 1e-11);
    }
  }
}

TEST(BounceByParameters, CorrectsJacobiansAndProductsAlike) {
  int moved = 0;
  for_random_cases(100, [&](std::mt19937_64& random) {
    const std::optional<BouncingCase> c = random_bounce(random);
    if (!c) return Outcome::skipped;
    const int n = c->model.nv();
    const StepParameters parameters(c->model, step_parameter_names(c->model));
    const StepCotangent lambda = {random_vector(random, n), random_vector(random, n)};
    const StepTangent x = {.parameters = random_vector(random, parameters.size())};
    const auto derivative_of = [&](Bounce bounce) {
      Derivative d{MatX(2 * n, parameters.size()), VecX(), VecX(2 * n)};
      const StepParameterJacobian J = by_parameters(c->model, c->record, parameters.names(), {.bounce = bounce});
      d.J << J.dqnext, J.dvnext;
      StepVjp vjp;
      step_vjp(c->model, c->record, lambda, vjp, {.bounce = bounce, .parameters = parameters});
      d.left = vjp.parameters;
      StepJvp jvp;
      step_jvp(c->model, c->record, x, jvp, {.bounce = bounce, .parameters = parameters});
      d.right << jvp.q, jvp.v;
      for (const GradientReport& report : {vjp.report, jvp.report}) EXPECT_EQ(J.report.mode, report.mode);
      return d;
    };
    const Derivative exact = derivative_of(Bounce::off);
    VecX weights(2 * n);
    weights << lambda.q, lambda.v;
    for (const Bounce bounce : {Bounce::mass_metric, Bounce::paper}) {
      const Derivative d = derivative_of(bounce);
      const MatX change = d.J - exact.J;
      const MatX size = d.J.cwiseAbs() + exact.J.cwiseAbs();
      const VecX left_error = d.left - exact.left - change.transpose() * weights;
      const VecX right_error = d.right - exact.right - change * x.parameters;
      EXPECT_LT(left_error.cwiseAbs().maxCoeff(), 1e-12 * (size.transpose() * weights.cwiseAbs()).maxCoeff());
      EXPECT_LT(right_error.cwiseAbs().maxCoeff(), 1e-12 * (size * x.parameters.cwiseAbs()).maxCoeff());
      for (int k = 0; k < parameters.size(); ++k) {
        const bool changed = !change.col(k).isZero(0);
        moved += changed ? 1 : 0;
        EXPECT_LE(changed, moves_surfaces(parameters.entries()[k])) << parameters.names()[k];
      }
    }
    return Outcome::checked;
  });
  if (few_cases()) return;
  EXPECT_GE(moved, 1000);
}

TEST(BounceByParameters, KnowsHowGapsMove) {
  // Over all shapes, against differences of the gaps that steps find.
  int checked = 0, compared = 0, left_out = 0;
  for_random_cases(200, [&](std::mt19937_64& random) {
    const ConstrainedCase at = random_solids_case(random);
    StepRecord record, moved;
    step(at.model, at.state, at.control, at.options, record);
    StepLinearization linearization;
    if (!bounces(record) || !linearize(at.model, record, record.modes, {}, linearization)) return;
    const auto gaps_of = [](const StepRecord& from) {
      VecX gaps = VecX::Zero(from.tape().problem.row_count());
      for (const Constraint& constraint : from.tape().problem.constraints) {
        if (constraint.rule != TargetRule::restitution) continue;
        gaps[constraint.first_row] = from.contacts.contacts[constraint.index].gap;
      }
      return gaps;
    };
    const StepParameters parameters(at.model, parameter_names(at.model));
    ParameterColumns columns;
    columns.start(at.model, record, linearization);
    for (int k = 0; k < parameters.size(); ++k) {
      const ParameterColumn& x = columns.column(at.model, record, linearization, parameters.entries()[k]);
      const VecX gap = Eigen::Map<const VecX>(x.gap.data(), static_cast<Eigen::Index>(record.f.size()));
      if (!moves_surfaces(parameters.entries()[k])) {
        EXPECT_TRUE(gap.isZero(0)) << parameters.names()[k];
        continue;
      }
      bool switched = false;
      const MatX numeric = central_difference(
          [&](const VecX& d) -> VecX {
            Model model = at.model;
            set_parameter(model, parameters.names()[k], parameter(at.model, parameters.names()[k]) + d[0]);
            step(model, at.state, at.control, at.options, moved);
            switched = switched || mode_switch(at.model, record, model, moved) != ModeSwitch::none;
            return switched ? gaps_of(record) : gaps_of(moved);
          },
          1, 1e-6);
      ++compared;
      if (switched) {
        ++left_out;
        continue;
      }
      EXPECT_LT(relative_error(gap, numeric, 1), 1e-8) << parameters.names()[k];
      checked += gap.isZero(0) ? 0 : 1;
    }
  });
  if (few_cases()) return;
  EXPECT_GE(checked, 200);
  EXPECT_LE(left_out, compared / 20);
}

}  // namespace
}  // namespace lithe::test
