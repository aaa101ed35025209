#pragma once

#include <functional>
#include <vector>

#include "lithe/optimize/box_qp.h"
#include "lithe/optimize/cost_expansion.h"

namespace lithe {

// One step of a motion, to first order, and its costs, to second: δx⁺ = A δx + B δu + gap, x = (q, v).
struct StepModel {
  MatX A, B;           // 2nv × 2nv, 2nv × m
  CostExpansion cost;  // at the end of the motion: the only part
};

// How the controls of one knot answer: δu = α·open + feedback·δx + previous·δu_before.
struct KnotPolicy {
  VecX open;
  MatX feedback;  // m × 2nv
  MatX previous;  // m × m
};

// The value function V(x, w) behind a step, to second order; w are the controls of that step, which the next one sees as those before
// it and, where a control is held, as its own.
struct ValueExpansion {
  VecX x, w;
  MatX xx, wx, ww;
};

// The Riccati recursion from the end of a motion to its start, with control bounds.
class RiccatiPass {
 public:
  explicit RiccatiPass(const Problem& problem);

  // `steps` are the T + 1 models, `gaps` (2nv × T, or empty) how far each step ends from where the next one starts. `regularization` is
  // added to Q_uu, in shares of its largest mean diagonal. Returns false where Q_uu is not positive definite: more is needed.
  bool compute(const std::vector<StepModel>& steps, const MatX& gaps, const MatX& u, double regularization);

  const std::vector<KnotPolicy>& policy() const { return policy_; }
  // The value that a share α of the open steps is expected to add: α·first + α²/2·second.
  double first() const { return first_; }
  double second() const { return second_; }

  // V behind step t while compute() is under way, for those who look at the gradient there.
  std::function<void(int t, const ValueExpansion& behind)> before_step = {};

 private:
  void expand(const StepModel& step, int t, const MatX& gaps);
  bool minimise(const MatX& u, int knot, double regularization);
  void hold();

  const Problem& problem_;
  std::vector<KnotPolicy> policy_;
  double first_ = 0, second_ = 0;
  double scale_ = 0;  // the largest mean diagonal of Q_uu so far
  ValueExpansion V_;
  // Q of the step at hand, over (x, u, u_before).
  VecX Qx_, Qu_, Qb_;
  MatX Qxx_, Qux_, Quu_, Qbx_, Qbu_, Qbb_;
  MatX VA_, VB_, wxA_, regular_;
  VecX lower_, upper_;
  BoxQp qp_;
};

}  // namespace lithe
