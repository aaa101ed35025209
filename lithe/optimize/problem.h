#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lithe/optimize/residual.h"

namespace lithe {

// The times at which a cost or a constraint counts: t = first … last. Negative numbers count from the end: −1 is T itself.
struct Times {
  int first = 0, last = -2;

  static constexpr Times running() { return {0, -2}; }  // all steps: t = 0 … T − 1
  static constexpr Times all() { return {0, -1}; }
  static constexpr Times final() { return {-1, -1}; }
  static constexpr Times at(int t) { return {t, t}; }

  bool contains(int t, int steps) const {
    const auto place = [&](int i) { return i < 0 ? steps + 1 + i : i; };
    return place(first) <= t && t <= place(last);
  }
};

// How the numbers r of a residual become a cost.
enum class Norm : std::uint8_t {
  square,         // weight · Σ s_k r_k²
  smooth_size,    // weight · Σ s_k (√(r_k² + width²) − width): |r| from afar, and quadratic within `width`
  signed_square,  // weight · Σ s_k r_k |r_k|: its sign counts, so that it can reward going one way
  linear,         // weight · Σ s_k r_k: r is the cost itself
};

// One term of the objective: a residual, made one number by a norm, at every time in `times`. It is a sum over steps
// and no integral over time: whoever halves the time step halves the weights of running costs.
struct Cost {
  ResidualPtr residual;
  Times times = Times::running();
  double weight = 1;
  VecX scales = {};  // s, one per number of the residual; empty: all 1
  Norm norm = Norm::square;
  double width = 1e-2;  // of smooth_size
};

// A residual whose numbers must all be zero, or must not be positive, at every time in `times`.
struct PathConstraint {
  enum class Kind : std::uint8_t { zero, not_positive };
  ResidualPtr residual;
  Times times = Times::final();
  Kind kind = Kind::zero;
};

// A number of the model that may be chosen too, within bounds: its name as in model/parameters.h.
struct FreeParameter {
  std::string name;
  double lower, upper;
};

// A DoF of the initial state that may be chosen: ± how far from Problem::start, in the tangent of q (velocity: in v).
struct FreeStart {
  int dof;
  bool velocity = false;
  double range = 0;
};

// What a motion shall be: x_{t+1} = step(x_t, u_t) for t = 0 … T − 1, with the controls u (forces on the actuated DoFs) chosen such that
// the costs are small and the constraints hold.
//
//   minimise Σ costs   over u_0 … , and the free numbers of the start and of the model,   lower ≤ u ≤ upper
struct Problem {
  Model model;
  State start;
  int steps = 0;  // T
  int hold = 1;   // steps for which a control stays; the last one may be cut short
  StepOptions step = {};
  VecX motor_targets = {};  // of the model's own motors, in all steps; empty: off

  std::vector<int> actuated = {};  // the DoF that each control pushes
  VecX lower = {}, upper = {};     // of the controls; empty: none
  VecX u_before = {};              // what control_change() compares the first controls with; empty: zero

  std::vector<Cost> costs = {};
  std::vector<PathConstraint> constraints = {};
  std::vector<FreeStart> free_start = {};
  std::vector<FreeParameter> free_parameters = {};

  int controls() const { return static_cast<int>(actuated.size()); }
  int knots() const { return (steps + hold - 1) / hold; }  // columns of a plan's u
};

// Every 1-DoF joint that has a finite effort limit above zero, and that limit as bounds; where none has one, every 1-DoF joint that is
// not part of a floating base, without bounds.
void actuate_joints(Problem& problem);
// These, by name, within ± their effort limits.
void actuate_joints(Problem& problem, const std::vector<std::string>& joints);

// Throws an Error that says which part makes no sense, and why: empty horizon, wrong sizes, a bound above the other, a cost of the
// controls at the end, an unknown parameter …
void check_problem(const Problem& problem);

// The values of everything that is free.
struct Plan {
  MatX u = {};           // controls × knots
  VecX start = {};       // one per FreeStart: the offset from Problem::start; empty: zero
  VecX parameters = {};  // one per FreeParameter; empty: the model's own

  // A guess of the states, nq and nv × (T + 1), for solvers that take it: multiple shooting, and DDP, which then closes the gaps
  // between them bit by bit. Empty: the states that u leads to.
  MatX q = {}, v = {};
};

// No forces (or the bound nearest to that), the start as given, the model's own numbers.
Plan initial_plan(const Problem& problem);
// Throws an Error that names the part and its size.
void check_plan(const Problem& problem, const Plan& plan);
// Moves all that is free into its bounds.
void clamp(const Problem& problem, Plan& plan);

// Moves a plan to the front when `steps` steps of it have been carried out: what is left becomes the beginning, and its
// last controls (and states, where it has a guess of them) are repeated. `steps` must be a multiple of Problem::hold.
void shift(const Problem& problem, int steps, Plan& plan);

}  // namespace lithe
