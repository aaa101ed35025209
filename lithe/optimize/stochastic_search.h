#pragma once

#include "lithe/optimize/solve.h"

namespace lithe {

// The paper's baseline: draws plans around the best, weighs them by their cost and moves the distribution towards them. No derivatives.
//
// - Draws are made in units of the bounds (free_variables.h), moved into the bounds, and come in pairs mirrored about the mean. They
//   depend on SolveOptions::seed alone: the same plans for any number of threads.
// - A plan counts by cost + w·Σc² over what its motion violates of the constraints. w starts at ten times the spread of the costs per
//   violation among the first samples and doubles while the best plan is not feasible. So equations hold roughly at the end: whoever
//   needs more lets a solver with derivatives finish (hybrid.h).
// - The best plan that was met is returned, not the mean. cem counts it among the best few of every iteration.
//
// Converged: cem has narrowed to `least_deviation` everywhere. mppi goes on until a limit.
struct StochasticSearchOptions : SolveOptions {
  enum class Method : std::uint8_t {
    cem,   // cross entropy: mean and deviation of the best few
    mppi,  // exponential weights (path integral), fixed deviation
  };
  Method method = Method::cem;
  int samples = 64;        // per iteration, half of them mirrored
  double elite = 0.1;      // the share of the samples that cem keeps
  double deviation = 0.3;  // of the first samples, in shares of half the range between the bounds; without bounds, of 1
  double least_deviation = 1e-3;
  double temperature = 0.1;  // of mppi, in shares of the spread of the costs
  double smoothing = 0.8;    // noise is filtered along time: 0 … 1, 1 would be constant
};

Solution stochastic_search(const Problem& problem, const Plan& initial, const StochasticSearchOptions& options = {});

}  // namespace lithe
