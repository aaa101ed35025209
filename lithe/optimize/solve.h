#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lithe/optimize/problem.h"
#include "lithe/rollout/rollout.h"
#include "lithe/step/gradient_options.h"

namespace lithe {

// What all solvers share: how they are told to stop, what they say on the way, and what they return.

// One line of progress.
struct Progress {
  int iteration = 0;
  double cost = 0;           // of the motion at hand, without constraints
  double infeasibility = 0;  // the largest violation of a constraint, a bound or (multiple shooting, DDP) the dynamics
  double step = 0;           // the share of the step that was taken, or its length; 0: none
  // The size of the first-order conditions, scaled: what `tolerance` is compared with. 0 where it is not known.
  double gradient = 0;
  double seconds = 0;    // since the start
  double best_cost = 0;  // of the best feasible motion so far
};

struct SolveOptions {
  int max_iterations = 200;
  double max_seconds = 1e9;
  double tolerance = 1e-6;    // of the first-order conditions
  double feasibility = 1e-6;  // of constraints
  int threads = 1;            // the result has the same bits for any number
  std::uint64_t seed = 1;     // of stochastic search
  GradientOptions gradient = GradientOptions{};
  // Called after each iteration, from the calling thread; returning false stops the solver, which then returns its best so far.
  std::function<bool(const Progress&)> progress = {};
};

enum class StopReason : std::uint8_t {
  converged,
  saddle,      // all gradients are zero although the costs are not at rest: rows of contacts hide them
  stalled,     // no step leads further down, short of the tolerance
  infeasible,  // the constraints could not be met
  iteration_limit,
  time_limit,
  interrupted,
};
const char* to_string(StopReason reason);

// Wall-clock seconds per stage, as the calling thread sees them: what other threads do meanwhile counts for nothing.
struct StageSeconds {
  double rollout = 0;      // steps, costs
  double derivatives = 0;  // of steps and costs
  double solve = 0;        // backward pass, linear systems, updates of a distribution
  double total = 0;
};

struct Solution {
  Plan plan;              // the best that was found: feasible if any was
  Trajectory trajectory;  // the motion it leads to, rolled out from the start
  double cost = 0;
  double infeasibility = 0;
  StopReason reason = StopReason::stalled;
  std::string message;  // a sentence for people: why it stopped, and what to try
  int iterations = 0;
  std::vector<Progress> history;  // the first entry is the initial plan
  StageSeconds seconds;
  std::vector<MatX> gains;  // DDP: per knot, controls × 2nv, by (q, v): u = plan.u + gains (x ⊖ trajectory)

  bool feasible(const SolveOptions& options) const { return infeasibility <= options.feasibility; }
};

// What solvers keep while they work: a clock, the history, and whether a limit or the user ends it. Not for several
// threads at once.
class SolveLog {
 public:
  explicit SolveLog(const SolveOptions& options);

  double seconds() const;
  // Adds a line and shows it. Returns whether to go on.
  bool note(Progress progress);
  // Time or iterations are used up, or the user said stop.
  bool exhausted() const { return exhausted_; }
  StopReason reason() const { return reason_; }  // why exhausted
  int iterations() const;
  std::vector<Progress>& history() { return history_; }

 private:
  const SolveOptions& options_;
  double start_;
  bool exhausted_ = false;
  StopReason reason_ = StopReason::iteration_limit;
  std::vector<Progress> history_;
};

}  // namespace lithe
