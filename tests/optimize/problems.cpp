#include "tests/optimize/problems.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lithe/model/model_builder.h"
#include "lithe/optimize/residuals.h"
#include "lithe/scenes/robots/drone.h"
#include "lithe/scenes/robots/pendulum.h"
#include "lithe/step/step.h"

namespace lithe::test {

namespace {

Model rail(double mass, double damping = 0) {
  Joint slide = prismatic("slide", Vec3::UnitX());
  slide.damping = damping;
  return ModelBuilder()
      .set_gravity(Vec3::Zero())
      .add_body("world", {.name = "mass", .inertia = SpatialInertia::sphere(mass, 0.1)}, slide)
      .build();
}

Problem on_rail(double mass, int steps, double time_step, double x, double v) {
  Problem problem = {.model = rail(mass), .start = {VecX::Constant(1, x), VecX::Constant(1, v)}, .steps = steps};
  problem.step.time_step = time_step;
  problem.actuated = {0};
  return problem;
}

}  // namespace

VecX numbers(std::initializer_list<double> list) {
  return Eigen::Map<const VecX>(list.begin(), static_cast<Eigen::Index>(list.size()));
}

Problem MassOnRail::problem() const {
  Problem problem = on_rail(mass, steps, time_step, start[0], start[1]);
  problem.hold = hold;
  const ResidualPtr position = residuals::joint_position(problem.model, "slide");
  const ResidualPtr velocity = residuals::joint_velocity(problem.model, "slide");
  problem.costs = {{.residual = position},
                   {.residual = velocity, .weight = velocity_weight},
                   {.residual = residuals::controls(VecX::Zero(1)), .weight = effort},
                   {.residual = position, .times = Times::final(), .weight = end},
                   {.residual = velocity, .times = Times::final(), .weight = end}};
  return problem;
}

Eigen::Matrix2d MassOnRail::A() const { return (Eigen::Matrix2d() << 1, time_step, 0, 1).finished(); }

// Semi-implicit: the position moves with the new velocity.
Eigen::Vector2d MassOnRail::B() const { return {time_step * time_step / mass, time_step / mass}; }

MassOnRail::StateMap MassOnRail::state(int t) const {
  StateMap x = {MatX::Zero(2, knots()), start};
  for (int k = 0; k < t; ++k) {
    x.map = (A() * x.map).eval();
    x.map.col(k / hold) += B();
    x.offset = (A() * x.offset).eval();
  }
  return x;
}

MassOnRail::Quadratic MassOnRail::cost() const {
  Quadratic sum = {MatX::Zero(knots(), knots()), VecX::Zero(knots()), 0};
  const auto add = [&](const auto& row, double offset, double weight) {
    sum.H += 2 * weight * row.transpose() * row;
    sum.g += 2 * weight * offset * row.transpose();
    sum.constant += weight * offset * offset;
  };
  for (int t = 0; t <= steps; ++t) {
    const StateMap x = state(t);
    const bool last = t == steps;
    add(x.map.row(0), x.offset[0], last ? end : 1);
    add(x.map.row(1), x.offset[1], last ? end : velocity_weight);
    if (!last) sum.H(t / hold, t / hold) += 2 * effort;
  }
  return sum;
}

VecX MassOnRail::riccati_controls() const {
  const Eigen::Matrix2d Q = Eigen::Vector2d(1, velocity_weight).asDiagonal();
  Eigen::Matrix2d P = end * Eigen::Matrix2d::Identity();
  std::vector<Eigen::RowVector2d> gains(steps);
  for (int t = steps - 1; t >= 0; --t) {
    gains[t] = -(B().transpose() * P * A()) / (effort + B().dot(P * B()));
    P = (Q + A().transpose() * P * (A() + B() * gains[t])).eval();
  }
  VecX u(steps);
  Eigen::Vector2d x = start;
  for (int t = 0; t < steps; ++t) {
    u[t] = gains[t] * x;
    x = A() * x + B() * u[t];
  }
  return u;
}

VecX MassOnRail::best_controls() const {
  const Quadratic q = cost();
  return q.H.llt().solve(-q.g);
}

VecX MassOnRail::best_controls_within(double lower, double upper) const {
  const Quadratic q = cost();
  VecX u = VecX::Zero(knots());
  for (int sweep = 0; sweep < 200000; ++sweep) {
    double largest = 0;
    for (int k = 0; k < knots(); ++k) {
      const double next = std::clamp(u[k] - (q.H.row(k).dot(u) + q.g[k]) / q.H(k, k), lower, upper);
      largest = std::max(largest, std::abs(next - u[k]));
      u[k] = next;
    }
    if (largest < 1e-14) break;
  }
  return u;
}

VecX MassOnRail::best_controls_through(int t, int row, double target) const {
  const Quadratic q = cost();
  const StateMap x = state(t);
  const int n = knots();
  MatX K = MatX::Zero(n + 1, n + 1);
  K.topLeftCorner(n, n) = q.H;
  K.topRightCorner(n, 1) = x.map.row(row).transpose();
  K.bottomLeftCorner(1, n) = x.map.row(row);
  VecX right(n + 1);
  right << -q.g, target - x.offset[row];
  return K.fullPivLu().solve(right).head(n);
}

Problem swing_up(int steps, double time_step, double torque) {
  Problem problem = {.model = pendulum().build(), .start = {VecX::Zero(1), VecX::Zero(1)}, .steps = steps};
  problem.step.time_step = time_step;
  problem.actuated = {0};
  problem.lower = VecX::Constant(1, -torque);
  problem.upper = VecX::Constant(1, torque);
  problem.costs = {
      {.residual = residuals::joint_position(problem.model, "hinge", std::numbers::pi),
       .times = Times::final(),
       .weight = 100},
      {.residual = residuals::joint_velocity(problem.model, "hinge"), .times = Times::final(), .weight = 10},
      {.residual = residuals::controls(VecX::Zero(1)), .weight = 1e-3}};
  return problem;
}

Problem farthest(int steps) {
  Problem problem = on_rail(1, steps, 0.1, 0, 0);
  problem.lower = VecX::Constant(1, -1);
  problem.upper = VecX::Constant(1, 1);
  problem.costs = {{.residual = residuals::joint_position(problem.model, "slide"),
                    .times = Times::final(),
                    .weight = -1,
                    .norm = Norm::linear}};
  return problem;
}

Problem drone_to_five_metres() {
  const Scene scene = resting_drone();
  Problem problem = {.model = scene.model, .start = {scene.q, scene.v}, .steps = scene.task->steps};
  problem.step.time_step = scene.time_step;
  actuate_joints(problem);
  problem.costs = {{.residual = residuals::joint_position(problem.model, "rotor", 5), .times = Times::final()}};
  return problem;
}

Problem ThrownBall::problem() const {
  constexpr double kDamping = 0.5, kTimeStep = 0.05;
  constexpr int kSteps = 30;
  Problem problem = {.model = rail(1, kDamping), .start = {VecX::Zero(1), VecX::Constant(1, 1)}, .steps = kSteps};
  problem.step.time_step = kTimeStep;
  problem.free_start = {{.dof = 0, .velocity = true, .range = 5}};
  problem.free_parameters = {{.name = "body/mass/mass", .lower = 0.1, .upper = 5}};

  // The observations.
  State state = {VecX::Zero(1), VecX::Constant(1, velocity)};
  const Model truth = rail(mass, kDamping);
  StepRecord record;
  for (int t = 1; t <= kSteps; ++t) {
    step(truth, state, {}, problem.step, record);
    state = record.next;
    problem.costs.push_back(
        {.residual = residuals::joint_position(problem.model, "slide", state.q[0]), .times = Times::at(t)});
  }
  return problem;
}

}  // namespace lithe::test
