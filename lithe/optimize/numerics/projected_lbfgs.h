#pragma once

#include <functional>
#include <vector>

#include "lithe/core/eigen.h"

namespace lithe::internal {

// Minimises a smooth function within bounds, one step per call: L-BFGS (Nocedal 1980) with projection (Bertsekas 1982).
//
// Variables at a bound, or within ε of it, whose gradient points outwards, go straight along it and end at the bound; the two-loop
// recursion sees only the others. The step is the first on the projected path P(y + α d), α falling, with
//
//   f(P(y + α d)) ≤ f(y) + 10⁻⁴ gᵀ(P(y + α d) − y)
//
// Without pairs to recur on, d = −g, of the length of the last step, and longer ones are tried as well. A direction without such a step
// is followed by −g, its pairs forgotten.
//
// Gradients may be wrong in places (bounces, contacts), and sums have rounding errors. So a step that leaves f where it is, to the last
// few bits, is taken too: up to ten in a row, which also crosses plateaus.
class ProjectedLbfgs {
 public:
  ProjectedLbfgs(VecX lower, VecX upper, int memory);

  using Function = std::function<double(const VecX& y)>;  // may be infinite, not NaN

  // From y, where the function is `value`, to `next`: the last point at which f was called. Returns the length |next − y|; 0: there is
  // no step.
  double advance(const VecX& y, double value, const VecX& gradient, const Function& f, VecX& next);

  // The function has changed.
  void forget();

 private:
  struct Pair {
    VecX s, y;  // the step, and what it changed in the gradient
  };

  void remember(const VecX& y, const VecX& gradient);
  void choose_direction(const VecX& y, const VecX& gradient);
  // Pairs that curve the wrong way among the free variables are passed over. Returns whether any was left.
  bool recur(const VecX& gradient);
  double search(const VecX& y, double value, const VecX& gradient, const Function& f, VecX& next);
  double stretch(const VecX& y, const VecX& gradient, const Function& f, double value, VecX& next);
  VecX project(const VecX& y) const { return y.cwiseMax(lower_).cwiseMin(upper_); }

  VecX lower_, upper_;
  int memory_;
  std::vector<Pair> pairs_;  // oldest first
  VecX last_y_, last_gradient_;
  double last_length_ = 1;
  int flat_steps_ = 0;
  bool steepest_ = true;
  VecX free_, direction_;  // free_: 1 or 0
};

}  // namespace lithe::internal
