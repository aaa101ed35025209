#pragma once

#include <functional>
#include <vector>

#include "lithe/core/internal/thread_team.h"
#include "lithe/optimize/numerics/box_qp.h"
#include "lithe/optimize/solvers/stage_expansion.h"

namespace lithe::internal {

// How the controls of one knot answer: δu = α·open + feedback·δx + previous·δu_before.
struct KnotPolicy {
  VecX open;
  MatX feedback;  // m × 2nv
  MatX previous;  // m × m
};

// The value function V(z) behind a step, to second order: z = (x, w), where w are the controls of that step, which the next one sees as
// those before it and, where a control is held, as its own.
struct ValueExpansion {
  VecX z;
  MatX zz;  // in full by (x, x); of the rest what is above the diagonal
};

// The Riccati recursion from the end of a motion to its start, with control bounds. What a step multiplies is shared out in blocks of
// columns, whose sizes do not depend on the number of threads: the bits are the same.
class RiccatiPass {
 public:
  RiccatiPass(const Problem& problem, ThreadPool& pool);

  // `steps` are the T + 1 models, `gaps` (2nv × T, or empty) how far each step ends from where the next one starts. `regularization` is
  // added to Q_uu, in shares of its largest mean diagonal. Returns false where Q_uu is not positive definite: more is needed.
  bool compute(const std::vector<StageExpansion>& steps, const MatX& gaps, const MatX& u, double regularization);

  const std::vector<KnotPolicy>& policy() const { return policy_; }
  // The value that a share α of the open steps is expected to add: α·first + α²/2·second.
  double first() const { return first_; }
  double second() const { return second_; }
  // The same of closing a share α of the gaps.
  double gap_first() const { return gap_first_; }
  double gap_second() const { return gap_second_; }

  // Called before compute() looks at step t, with V behind it, or null at the end; who makes models as they are needed makes this one.
  std::function<void(int t, const ValueExpansion* behind)> before_step = {};
  // What other threads do before they help.
  std::function<void(int worker)> meanwhile = {};

 private:
  bool recur(const std::vector<StageExpansion>& steps, const MatX& gaps, const MatX& u, double regularization);
  void expand(const StageExpansion& step, int t, const MatX& gaps);
  bool minimise(const StageExpansion& step, const MatX& u, int knot, double regularization);
  void answer(KnotPolicy& policy, const StageExpansion& step);
  void hold(const StageExpansion& step);
  template <class Body>
  void share(int blocks, Body&& body);

  const Problem& problem_;
  ThreadTeam team_;
  bool looks_back_;  // whether anything depends on the controls before: costs, or controls that are held
  std::vector<KnotPolicy> policy_;
  double first_ = 0, second_ = 0, gap_first_ = 0, gap_second_ = 0;
  double scale_ = 0;  // the largest mean diagonal of Q_uu so far
  // V behind the step at hand; once that step is done, V before it.
  ValueExpansion V_;
  ValueExpansion Q_;  // of the step at hand, over (x, u)
  MatX VAB_, Quu_, Qux_, regular_, half_;
  VecX lower_, upper_;
  BoxQp qp_;
};

}  // namespace lithe::internal
