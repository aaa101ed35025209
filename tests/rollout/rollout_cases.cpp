#include "tests/rollout/rollout_cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/robots/pendulum.h"
#include "lithe/scenes/solids/incline.h"
#include "lithe/scenes/solids/solids.h"
#include "tests/support/differentiate.h"

namespace lithe::test {

namespace {

// How deep what rests on the ground is in it, so that small displacements leave it there.
constexpr double kDepth = 1e-4;  // m

RolloutCase pushed(std::string name, const Scene& scene, int steps, double push) {
  RolloutCase c = {std::move(name), scene.model, {scene.q, scene.v}, {.steps = steps}, {}};
  c.options.step.time_step = scene.time_step;
  c.options.gradient = GradientOptions::exact();
  c.controls.tau.resize(scene.model.nv(), steps);
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < scene.model.nv(); ++i) c.controls.tau(i, t) = push * std::sin(1.7 * i + 0.3 * t + 0.4);
  }
  if (scene.motor_targets.size() > 0) c.controls.motor_targets = scene.motor_targets.replicate(1, steps);
  return c;
}

// The same a little lower; the third DoF of the scene moves it up and down.
RolloutCase lowered(const std::string& name, int steps, double push) {
  Scene low = scene(name);
  low.q[2] -= kDepth;
  return pushed(name, low, steps, push);
}

// The loss of a rollout like `c` from another start, with other forces or other parameters.
double loss_of(const RolloutCase& c, const RolloutLoss& loss) {
  RolloutOptions options = c.options;
  options.tape = Tape::none;
  Rollout motion;
  rollout(c.model, c.start, c.controls, options, motion);
  RolloutCotangent unused;
  return evaluate_loss(loss, motion.trajectory, motion.controls, unused).value;
}

void add_to_parameter(RolloutCase& c, const std::string& name, double change) {
  constexpr std::string_view kTarget = "/target";
  if (name == "time_step") {
    c.options.step.time_step += change;
  } else if (name.starts_with("motor/") && name.ends_with(kTarget)) {
    const std::string motor = name.substr(6, name.size() - 6 - kTarget.size());
    c.controls.motor_targets.row(c.model.motor(motor)).array() += change;
  } else {
    set_parameter(c.model, name, parameter(c.model, name) + change);
  }
}

}  // namespace

RolloutCase pushed_case(const std::string& name, int steps, double push) {
  return pushed(name, scene(name), steps, push);
}

RolloutCase driven_pendulum(int steps) {
  Scene scene = at_rest(pendulum());
  set_initial(scene, "hinge", 0.5, 1);
  return pushed("driven pendulum", scene, steps, 2);
}

RolloutCase sliding_box(int steps) {
  ModelBuilder builder;
  add_ground(builder, {.friction = 0.3});
  add_free_solid(builder, "box", 2, Box{{0.2, 0.15, 0.1}}, Pose::translation(0, 0, 0.1 - kDepth), {.friction = 0.3});
  Scene scene = at_rest(builder);
  set_initial(scene, "box.x", 0, 1.5);
  set_initial(scene, "box.y", 0, 1);
  return pushed("sliding box", scene, steps, 0.1);
}

RolloutCase sticking_box(int steps) {
  Scene scene = incline(0.2, 0.6);
  scene.q.head<3>() -= kDepth * Vec3(std::sin(0.2), 0, std::cos(0.2));
  return pushed("sticking box", scene, steps, 0.2);
}

std::vector<RolloutCase> smooth_cases() {
  return {driven_pendulum(60),
          pushed_case("double_pendulum", 60, 1),
          pushed_case("tumbling_body", 40, 0.1),
          sliding_box(30),
          sticking_box(30),
          lowered("rolling_sphere", 30, 0.1),
          pushed_case("four_bar", 30, 0.1),
          lowered("humanoid", 5, 0.5)};
}

std::vector<RolloutCase> eventful_cases() {
  return {pushed_case("half_cheetah", 120, 5), pushed_case("gripper", 300, 0.1),
          pushed_case("stack:3", 80, 0.5),     pushed_case("pile:6", 250, 0.2),
          pushed_case("humanoid", 40, 2),      pushed_case("bouncing_ball", 600, 0.1)};
}

RolloutLoss loss_of_everything(const Model& model, const VecX& q0) {
  const auto term = [&model, &q0](const LossPoint& at, LossGradient& by, double weight) {
    const VecX xi = difference(model, at.q, q0);
    const MatX dxi_dq = difference_derivative_q1(model, xi);
    double value = 0;
    VecX by_xi(model.nv());
    for (int i = 0; i < model.nv(); ++i) {
      const double a = std::sin(0.9 * i + 0.21 * at.t), b = std::cos(1.3 * i + 0.17 * at.t);
      value += a * xi[i] + 0.5 * xi[i] * xi[i] + b * at.v[i] + at.v[i] * at.v[i] / 8;
      by_xi[i] = weight * (a + xi[i]);
      by.v[i] = weight * (b + at.v[i] / 4);
    }
    by.q = dxi_dq.transpose() * by_xi;
    return weight * value;
  };
  RolloutLoss loss;
  loss.running = [term](const LossPoint& at, LossGradient& by) {
    by.tau = at.tau / 3;
    return term(at, by, 1) + at.tau.squaredNorm() / 6;
  };
  loss.terminal = [term](const LossPoint& at, LossGradient& by) { return term(at, by, 10); };
  return loss;
}

RolloutGradient difference_gradient(const RolloutCase& c, const RolloutLoss& loss, const std::vector<int>& steps,
                                    const DifferenceSteps& reach) {
  // The gradient of the loss by δ, which `displace` applies to a copy of the case.
  const auto by = [&](int n, double step, auto displace) -> VecX {
    const auto value = [&](const VecX& delta) {
      RolloutCase moved = c;
      displace(moved, delta);
      return VecX::Constant(1, loss_of(moved, loss));
    };
    return central_difference(value, n, step).row(0);
  };
  const int nv = c.model.nv();
  RolloutGradient gradient;
  gradient.value = loss_of(c, loss);
  gradient.q =
      by(nv, reach.q, [&](RolloutCase& moved, const VecX& d) { moved.start.q = retract(c.model, c.start.q, d); });
  gradient.v = by(nv, reach.v, [&](RolloutCase& moved, const VecX& d) { moved.start.v += d; });
  gradient.tau.setZero(nv, c.controls.steps);
  for (const int t : steps) {
    gradient.tau.col(t) = by(nv, reach.tau, [t](RolloutCase& moved, const VecX& d) { moved.controls.tau.col(t) += d; });
  }
  const std::vector<std::string>& names = c.options.gradient.parameters.names();
  gradient.parameters = by(static_cast<int>(names.size()), reach.parameters, [&](RolloutCase& moved, const VecX& d) {
    for (std::size_t k = 0; k < names.size(); ++k) add_to_parameter(moved, names[k], d[k]);
  });
  return gradient;
}

std::vector<int> all_steps(const RolloutCase& c) {
  std::vector<int> steps(c.controls.steps);
  std::iota(steps.begin(), steps.end(), 0);
  return steps;
}

void expect_same_bits(const RolloutGradient& a, const RolloutGradient& b) {
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
  EXPECT_TRUE(a.tau == b.tau);
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_TRUE(a.step_parameters == b.step_parameters);
  EXPECT_EQ(a.report.margin, b.report.margin);
  EXPECT_EQ(a.report.margin_step, b.report.margin_step);
  EXPECT_EQ(a.report.modes, b.report.modes);
  EXPECT_EQ(to_string(a.report), to_string(b.report));
}

void expect_same_bits(const Trajectory& a, const Trajectory& b) {
  EXPECT_TRUE(a.q == b.q);
  EXPECT_TRUE(a.v == b.v);
  EXPECT_EQ(a.status.size(), b.status.size());
  EXPECT_EQ(a.diverged_at, b.diverged_at);
}

}  // namespace lithe::test
