#pragma once

#include "lithe/optimize/single_shooting.h"
#include "lithe/optimize/stochastic_search.h"

namespace lithe {

// Stochastic search leaves local optima and gradients finish: rounds of both, each from the best motion so far. A round of search whose
// best sample does not beat it doubles the deviation of the next; one that does lets gradients follow it down. Gradients follow the first
// round in any case.
//
// Iterations are counted across all parts, and so are time and progress. `search` and `shooting` say how each part works; what they have
// of SolveOptions (limits, tolerances, threads, seed, gradient, progress) is not looked at: that of HybridOptions holds for both.
struct HybridOptions : SolveOptions {
  int rounds = 5;
  int search_iterations = 10, gradient_iterations = 20;  // per round
  StochasticSearchOptions search = {};
  SingleShootingOptions shooting = {};
};

Solution hybrid(const Problem& problem, const Plan& initial, const HybridOptions& options = {});

}  // namespace lithe
