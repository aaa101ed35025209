#pragma once

#include "lithe/optimize/solvers/evaluated_motion.h"

namespace lithe::internal {

// All that is free in a plan as one vector y, in units in which a step of 1 is a large one for every part: x = scale · y with
//
//   controls     half the range between their bounds
//   start        the range
//   parameters   half the range between their bounds
//
// and 1 where the range is infinite, zero or above 10⁶. Derivatives by y are those by x, times the scale.
class FreeVariables {
 public:
  explicit FreeVariables(const Problem& problem);

  int size() const { return static_cast<int>(scale_.size()); }
  int controls() const { return controls_; }  // the first ones: knot by knot
  const VecX& scale() const { return scale_; }
  const VecX& lower() const { return lower_; }  // bounds of y
  const VecX& upper() const { return upper_; }

  VecX pack(const Plan& plan) const;
  VecX pack(const PlanGradient& gradient) const;
  // Every part at its full size, and within its bounds to the last bit. A guess of the states is dropped.
  void unpack(const VecX& y, Plan& plan) const;

  // The nearest y within the bounds.
  VecX project(const VecX& y) const { return y.cwiseMax(lower_).cwiseMin(upper_); }
  // max |y − P(y − gradient)|: the first-order conditions, zero where no way leads down that the bounds leave open.
  double first_order(const VecX& y, const VecX& gradient) const;

 private:
  const Problem& problem_;
  int controls_, start_, parameters_;  // how many
  VecX model_parameters_;              // the model's own
  VecX scale_, lower_, upper_;
};

// Whether every number of a plan is, apart from its guess of the states.
bool is_finite(const Plan& plan);

}  // namespace lithe::internal
