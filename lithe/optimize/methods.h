#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lithe/optimize/solve.h"

namespace lithe {

// The solvers by name, for command lines and comparisons.
//
//   ddp        differential dynamic programming          shooting   single shooting, L-BFGS
//   adam       single shooting, Adam                     descent    single shooting, gradient descent
//   multiple   multiple shooting                         cem        stochastic search, cross entropy
//   mppi       stochastic search, path integral          hybrid     search and gradients in turn
std::vector<std::string> method_names();

struct MethodOptions : SolveOptions {
  int shot = 0;     // steps per shot of multiple shooting, rounded up to whole knots; 0: the solver's own
  double rate = 0;  // of adam and descent; 0: the solver's own
};

// An unknown method is an Error that lists the closest.
Solution solve_by(std::string_view method, const Problem& problem, const Plan& initial, const MethodOptions& options);

}  // namespace lithe
