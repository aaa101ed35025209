#include "lithe/rollout/rollout_batch.h"

#include "lithe/core/check.h"

namespace lithe {

namespace {

// What is asked of each task but can be said before any of them starts.
void check_task(const RolloutTask& task, std::size_t i, bool with_loss) {
  LITHE_CHECK(task.model != nullptr, "rollout {}: it has no model", i);
  LITHE_CHECK(task.controls != nullptr, "rollout {}: it has no controls", i);
  LITHE_CHECK(!with_loss || task.loss != nullptr, "rollout {}: it has no loss to differentiate", i);
}

template <class Work>
void for_each_task(std::span<const RolloutTask> tasks, ThreadPool& pool, RolloutBatch& out, bool with_loss,
                   const Work& work) {
  for (std::size_t i = 0; i < tasks.size(); ++i) check_task(tasks[i], i, with_loss);
  out.results.resize(tasks.size());
  if (out.workers.size() < static_cast<std::size_t>(pool.size())) out.workers.resize(pool.size());
  pool.parallel_for(static_cast<int>(tasks.size()), [&](int i, int worker) {
    try {
      work(tasks[i], out.workers[worker], out.results[i]);
    } catch (const Error& error) {
      throw Error(fmt::format("rollout {}: {}", i, error.what()));
    }
  });
}

}  // namespace

void rollouts(std::span<const RolloutTask> tasks, const RolloutOptions& options, ThreadPool& pool, RolloutBatch& out) {
  const RolloutOptions forward = {.step = options.step, .tape = Tape::none};
  for_each_task(tasks, pool, out, false, [&](const RolloutTask& task, RolloutWorkspace& worker, RolloutResult& result) {
    rollout(*task.model, task.start, *task.controls, forward, worker.rollout);
    result.trajectory = worker.rollout.trajectory;
  });
}

void rollout_gradients(std::span<const RolloutTask> tasks, const RolloutOptions& options, ThreadPool& pool,
                       RolloutBatch& out) {
  for_each_task(tasks, pool, out, true, [&](const RolloutTask& task, RolloutWorkspace& worker, RolloutResult& result) {
    rollout_gradient(*task.model, task.start, *task.controls, *task.loss, options, worker, result.gradient);
    result.trajectory = worker.rollout.trajectory;
  });
}

GradientSum gradient_sum(std::span<const RolloutResult> results) {
  GradientSum total;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const RolloutGradient& gradient = results[i].gradient;
    if (i == 0) {
      total.tau.setZero(gradient.tau.rows(), gradient.tau.cols());
      total.parameters.setZero(gradient.parameters.size());
    }
    LITHE_CHECK(gradient.tau.rows() == total.tau.rows() && gradient.tau.cols() == total.tau.cols() &&
                    gradient.parameters.size() == total.parameters.size(),
                "rollout {} has {} DoFs, {} steps and {} parameters, the first one has {}, {} and {}: their gradients "
                "cannot be added",
                i, gradient.tau.rows(), gradient.tau.cols(), gradient.parameters.size(), total.tau.rows(),
                total.tau.cols(), total.parameters.size());
    total.value += gradient.value;
    total.tau += gradient.tau;
    total.parameters += gradient.parameters;
  }
  return total;
}

}  // namespace lithe
