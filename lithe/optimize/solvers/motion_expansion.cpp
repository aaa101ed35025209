#include "lithe/optimize/solvers/motion_expansion.h"

#include <thread>

#include "lithe/core/internal/spin.h"

namespace lithe::internal {

MotionExpansion::MotionExpansion(const Problem& problem, const GradientOptions& options, int workers)
    : problem_(problem), options_(options), steps_(problem.steps + 1), filled_(problem.steps + 1) {
  for (int w = 0; w < workers; ++w) workers_.push_back(std::make_unique<Worker>(problem));
}

// Called between backward passes, when no other thread is at work on this.
void MotionExpansion::turn_to(const Plan& plan, const EvaluatedMotion& motion, const Multipliers* multipliers) {
  plan_ = &plan;
  motion_ = &motion;
  multipliers_ = multipliers;
  for (std::atomic<bool>& filled : filled_) filled.store(false, std::memory_order_relaxed);
  left_ = problem_.steps + 1;
}

// The records of a motion take hundreds of kilobytes per step: to do a step again takes less time than to fetch them.
void MotionExpansion::linearize(int t, Worker& worker, const StepCotangent* wish) {
  worker.evaluator.repeat(*plan_, *motion_, t, worker.record);
  const StepBlocks blocks = worker.costs.needs_impulses() ? StepBlocks::all : StepBlocks::state;
  StepJacobians& J = worker.jacobians;
  if (wish) {
    step_jacobians(problem_.model, worker.record, *wish, worker.vjp, J, blocks, options_);
  } else {
    step_jacobians(problem_.model, worker.record, J, blocks, {.bounce = options_.bounce});
  }
  const int nv = problem_.model.nv();
  MatX& AB = steps_[t].AB;
  AB.resize(2 * nv, 2 * nv + problem_.controls());
  AB.leftCols(2 * nv) << J.dqnext_dq, J.dqnext_dv, J.dvnext_dq, J.dvnext_dv;
  for (int k = 0; k < problem_.controls(); ++k) {
    AB.col(2 * nv + k) << J.dqnext_dtau.col(problem_.actuated[k]), J.dvnext_dtau.col(problem_.actuated[k]);
  }
}

// Makes the model of one time: the derivatives of its step, and its costs to second order. At the end there are only
// costs.
void MotionExpansion::fill(int t, Worker& worker) {
  const bool end = t == problem_.steps;
  if (!end) linearize(t, worker, nullptr);
  const ResidualPoint point =
      worker.evaluator.point(*plan_, t, motion_->q.col(t), motion_->v.col(t), end ? nullptr : &worker.record);
  const bool impulses = worker.costs.needs_impulses() && !end;
  worker.costs.evaluate(point, CostOrder::hessian, multipliers_, impulses ? &worker.jacobians : nullptr,
                        worker.expansion);
  steps_[t].set_cost(worker.expansion, worker.costs.needs_previous_controls());
}

// Makes the model of the last step that nobody is at. Returns false if there is none.
bool MotionExpansion::fill_next(Worker& worker) {
  if (failed_ || left_ <= 0) return false;
  const int t = left_.fetch_sub(1) - 1;
  if (t < 0) return false;
  try {
    fill(t, worker);
  } catch (...) {
    // The step counts as filled all the same, so that nobody waits for it for ever; require() passes the error on.
    if (!failed_.exchange(true)) error_ = std::current_exception();
  }
  filled_[t].store(true, std::memory_order_release);
  return true;
}

void MotionExpansion::help(int worker) {
  while (fill_next(*workers_[worker])) {
  }
}

void MotionExpansion::require(int t) {
  while (!has(t) && !failed_) {
    if (!fill_next(*workers_[0]) && !spin_until([&] { return has(t); })) std::this_thread::yield();
  }
  if (failed_) std::rethrow_exception(error_);
  if (t == 0 || !has(t - 1)) return;
  // The next one is in another core's cache as a rule.
  const MatX& next = steps_[t - 1].AB;
  for (Eigen::Index k = 0; k < next.size(); k += 8) __builtin_prefetch(next.data() + k);
}

void MotionExpansion::make_aware(int t, const StepCotangent& wish) { linearize(t, *workers_[0], &wish); }

}  // namespace lithe::internal
