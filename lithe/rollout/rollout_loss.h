#pragma once

#include <functional>

#include "lithe/rollout/rollout.h"

namespace lithe {

// What a loss sees of a rollout at one time.
struct LossPoint {
  int t;             // 0 … T
  ConstVecRef q, v;  // the state before step t; at t = T the end
  ConstVecRef tau;   // the forces in step t, nv; none at t = T
};

// Its derivatives there: zero when the loss is called, which adds to them or sets them.
struct LossGradient {
  VecRef q;    // nv, in the tangent of q: f(q ⊕ δ) ≈ f(q) + q·δ
  VecRef v;    // nv
  VecRef tau;  // nv; none at t = T
};

// A loss over a rollout,
//
//   ℓ = Σ_t ℓ_t(q_t, v_t, τ_t) + ℓ_T(q_T, v_T),   t = 0 … T − 1,
//
// as functions that return a value and write its gradient. Either may be missing. In a batch they are called from several
// threads at once.
struct RolloutLoss {
  using Term = std::function<double(const LossPoint& at, LossGradient& by)>;
  Term running = {};
  Term terminal = {};
};

// The gradient of a loss by everything in a rollout: what rollout_vjp() takes. Empty parts are zero.
struct RolloutCotangent {
  MatX q = {};    // nv × (T + 1), in the tangent of each q
  MatX v = {};    // nv × (T + 1)
  MatX tau = {};  // nv × T
};

struct LossValue {
  double value = 0;      // the sum over all terms in the order of time; infinite if one of them is not finite
  int overflow_at = -1;  // the first t whose term or gradient is not finite, or −1; its gradient is then set to zero
};

// The loss of a trajectory under these controls (with all columns of tau), and its gradient.
LossValue evaluate_loss(const RolloutLoss& loss, const Trajectory& trajectory, const Controls& controls,
                        RolloutCotangent& out);

}  // namespace lithe
