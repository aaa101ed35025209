#pragma once

#include "lithe/optimize/ddp.h"

namespace lithe {

// Model-predictive control: the same problem, solved again and again from wherever the model is by then. The plan is kept; each solution
// starts from what is left of the last one, so a few iterations are enough.
//
//   RecedingHorizon controller(problem, {{.max_iterations = 3}});
//   for (;;) tau = controller.update(measured_state, 10);   // 10 steps have passed since the last call
class RecedingHorizon {
 public:
  // `first` is what the first plan starts from; that one may take `first_iterations`.
  RecedingHorizon(Problem problem, const DdpOptions& options, int first_iterations = 200);
  RecedingHorizon(Problem problem, const DdpOptions& options, const Plan& first, int first_iterations = 200);

  // The controls for now: those of the first knot of a new plan. `steps` have passed since the last call (a multiple of
  // Problem::hold; ignored the first time). If the old plan leads from here to a motion that diverges, planning starts anew from no
  // forces, and `solution().message` says so.
  const VecX& update(const State& now, int steps);

  const Problem& problem() const { return problem_; }
  const Solution& solution() const { return solution_; }  // of the last update
  int updates() const { return updates_; }

 private:
  Problem problem_;
  DdpOptions options_;
  int first_iterations_;
  Plan plan_;
  VecX u_;
  Solution solution_;
  int updates_ = 0;
};

}  // namespace lithe
