#pragma once

#include <initializer_list>

#include "lithe/optimize/problem.h"

namespace lithe::test {

VecX numbers(std::initializer_list<double> list);

// Small problems whose best motion is known, or known to exist.

// A mass on a rail, pushed along it: x = (position, velocity) from `start`, and
//
//   minimise  Σ_{t<T} (position² + velocity_weight velocity² + effort u²) + end (position² + velocity²)_T
//
// Linear and quadratic, so everything about it is computed here with matrices alone: no step, no solver of ours.
struct MassOnRail {
  int steps = 40, hold = 1;
  double time_step = 0.05, mass = 2;
  Eigen::Vector2d start = {1, 0.5};
  double velocity_weight = 0.1, effort = 0.02, end = 10;

  Problem problem() const;
  int knots() const { return (steps + hold - 1) / hold; }

  // x_t = A x_{t−1} + B u_{t−1}.
  Eigen::Matrix2d A() const;
  Eigen::Vector2d B() const;
  // The state x_t is map·u + offset for the controls u of all knots.
  struct StateMap {
    MatX map;  // 2 × knots
    Eigen::Vector2d offset;
  };
  StateMap state(int t) const;
  // cost(u) = uᵀH u/2 + gᵀu + constant.
  struct Quadratic {
    MatX H;
    VecX g;
    double constant = 0;
    double at(const VecX& u) const { return u.dot(H * u) / 2 + g.dot(u) + constant; }
  };
  Quadratic cost() const;

  // The best controls: by the Riccati recursion (hold = 1), by solving H u = −g, within bounds by sweeps over the controls one by one,
  // and with map·u + offset = target for one row of a state by the conditions of Lagrange.
  VecX riccati_controls() const;
  VecX best_controls() const;
  VecX best_controls_within(double lower, double upper) const;
  VecX best_controls_through(int t, int row, double target) const;
};

// A pendulum (1 kg, 1 m) that hangs and shall stand upright and at rest at the end, with up to `torque` N·m at its hinge; m g l = 9.81,
// so that it must swing below that.
Problem swing_up(int steps = 80, double time_step = 0.05, double torque = 5);

// A mass on a rail, ±1 N, that shall be as far as it can after T steps: full force throughout.
Problem farthest(int steps = 20);

// lithe/scenes/robots/drone.h: the paper's drone that shall be 5 m up after 500 steps of 1 ms, and rests on the ground.
Problem drone_to_five_metres();

// What can be seen of a thrown ball tells its mass: a drag force that is known, and a mass and an initial velocity that are not. All residuals
// vanish at the truth.
struct ThrownBall {
  double mass = 0.7, velocity = 3;  // the truth
  Problem problem() const;          // free: the velocity within ±5 of 1, the mass within 0.1 … 5
  double free_velocity() const { return velocity - 1; }
};

}  // namespace lithe::test
