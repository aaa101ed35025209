#include "lithe/rollout/rollout_loss.h"

#include <cmath>
#include <limits>

#include "lithe/core/check.h"

namespace lithe {

namespace {

void call(const RolloutLoss::Term& term, const LossPoint& at, LossGradient& by, LossValue& sum) {
  if (!term) return;
  const double value = term(at, by);
  if (std::isfinite(value) && by.q.allFinite() && by.v.allFinite() && by.tau.allFinite()) {
    sum.value += value;
    return;
  }
  if (sum.overflow_at < 0) sum.overflow_at = at.t;
  by.q.setZero();
  by.v.setZero();
  by.tau.setZero();
}

}  // namespace

LossValue evaluate_loss(const RolloutLoss& loss, const Trajectory& trajectory, const Controls& controls,
                        RolloutCotangent& out) {
  const int steps = trajectory.steps();
  const Eigen::Index nv = trajectory.v.rows();
  LITHE_CHECK(controls.tau.rows() == nv && controls.tau.cols() == steps,
              "the loss of a trajectory of {} steps and {} DoFs is asked for with a tau of {} rows and {} columns",
              steps, nv, controls.tau.rows(), controls.tau.cols());
  out.q.setZero(nv, steps + 1);
  out.v.setZero(nv, steps + 1);
  out.tau.setZero(nv, steps);
  LossValue sum;
  for (int t = 0; t < steps; ++t) {
    LossGradient by = {out.q.col(t), out.v.col(t), out.tau.col(t)};
    call(loss.running, {t, trajectory.q.col(t), trajectory.v.col(t), controls.tau.col(t)}, by, sum);
  }
  LossGradient by = {out.q.col(steps), out.v.col(steps), VecRef(out.q.col(steps).head(0))};
  call(loss.terminal, {steps, trajectory.q.col(steps), trajectory.v.col(steps), trajectory.v.col(steps).head(0)}, by,
       sum);
  if (sum.overflow_at >= 0 || !std::isfinite(sum.value)) sum.value = std::numeric_limits<double>::infinity();
  return sum;
}

}  // namespace lithe
