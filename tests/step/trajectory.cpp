#include "tests/step/trajectory.h"

#include <gtest/gtest.h>

#include <utility>

namespace lithe::test {

Trajectory roll_out(const Model& model, const State& start, const std::vector<VecX>& tau, const StepOptions& options) {
  Trajectory trajectory;
  trajectory.records.resize(tau.size());
  const StepRecord* last = nullptr;
  for (std::size_t k = 0; k < tau.size(); ++k) {
    StepRecord& record = trajectory.records[k];
    step(model, last ? last->next : start, {.tau = tau[k]}, options, record, last ? &last->warm_start : nullptr);
    EXPECT_TRUE(record.status.solved()) << "step " << k;
    last = &record;
  }
  return trajectory;
}

TrajectoryGradient gradient_of(const Model& model, const Trajectory& trajectory,
                               const std::vector<StepCotangent>& by_state, const GradientOptions& options,
                               const StepParameters* parameters) {
  TrajectoryGradient gradient;
  gradient.tau.resize(trajectory.records.size());
  gradient.parameters = VecX::Zero(parameters ? parameters->size() : 0);
  StepCotangent by_next = {VecX::Zero(model.nv()), VecX::Zero(model.nv())};
  StepVjp vjp;
  GradientOptions how = options;
  if (parameters) how.parameters = *parameters;
  for (std::size_t k = trajectory.records.size(); k-- > 0;) {
    if (k < by_state.size()) {
      if (by_state[k].q.size() > 0) by_next.q += by_state[k].q;
      if (by_state[k].v.size() > 0) by_next.v += by_state[k].v;
    }
    step_vjp(model, trajectory.records[k], by_next, vjp, how);
    by_next.q = vjp.q;
    by_next.v = vjp.v;
    gradient.tau[k] = vjp.tau;
    if (parameters) gradient.parameters += vjp.parameters;
    switch (vjp.report.mode) {
      case GradientMode::exact: ++gradient.exact; break;
      case GradientMode::bounce_mass_metric:
      case GradientMode::bounce_paper: ++gradient.bounced; break;
      case GradientMode::complementarity_aware: ++gradient.relabelled; break;
    }
  }
  gradient.q = by_next.q;
  gradient.v = by_next.v;
  return gradient;
}

std::vector<StepCotangent> at_end(const Trajectory& trajectory, StepCotangent by_end) {
  std::vector<StepCotangent> by_state(trajectory.records.size());
  by_state.back() = std::move(by_end);
  return by_state;
}

}  // namespace lithe::test
