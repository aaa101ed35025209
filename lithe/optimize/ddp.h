#pragma once

#include "lithe/optimize/solve.h"

namespace lithe {

// Differential dynamic programming with Gauss–Newton Hessians (iLQR): Riccati recursions along the motion.
//
// - Controls stay within bounds: the backward pass solves box-constrained quadratic programmes (Tassa et al. 2014).
// - A plan may come with a guess of the states; the gaps between them close as full steps are taken (Mastalli et al. 2020).
// - Constraints are kept by an augmented Lagrangian.
// - Complementarity-aware: each step is seen under the classification that the value function behind it suggests.
//
// Threads linearize steps while the backward pass follows, share its products and try shares of a step; the result has the same bits on
// any number of them.
struct DdpOptions : SolveOptions {
  double initial_regularization = 0;  // of Q_uu, in shares of its scale; grows where a step fails, and falls again
  double largest_regularization = 1e10;
  int line_search = 10;  // halvings of a step
  bool gains = false;    // whether Solution::gains are wanted: one more pass at the end
};

Solution ddp(const Problem& problem, const Plan& initial, const DdpOptions& options = {});

}  // namespace lithe
