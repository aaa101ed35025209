#include "lithe/rollout/step_batch.h"

#include "lithe/core/check.h"
#include "lithe/core/internal/prefetch.h"
#include "lithe/rollout/internal/for_each_record.h"

namespace lithe {

using namespace internal;

namespace {

// Its errors say which item they are about.
template <class Work>
auto by_item(const Work& work) {
  return [work](int i, int worker) {
    try {
      work(i, worker);
    } catch (const Error& error) {
      throw Error(fmt::format("item {}: {}", i, error.what()));
    }
  };
}

}  // namespace

void step_batch(const Model& model, std::span<const State> states, std::span<const Control> controls,
                const StepOptions& options, ThreadPool& pool, std::vector<StepRecord>& records, BatchGuess guess) {
  LITHE_CHECK(controls.size() <= 1 || controls.size() == states.size(),
              "there are {} controls for {} states; give one each, one for all, or none", controls.size(),
              states.size());
  records.resize(states.size());
  const Control none;
  const auto control_of = [&](int i) -> const Control& {
    return controls.empty() ? none : controls[controls.size() == 1 ? 0 : i];
  };
  const int count = static_cast<int>(states.size());
  const auto take_step = [&](int i, int) {
    if (i + 1 < count) {
      prefetch_record(records[i + 1]);
      prefetch_elements(states[i + 1].q, states[i + 1].v, control_of(i + 1).tau);
    }
    StepRecord& record = records[i];
    step(model, states[i], control_of(i), options, record, guess == BatchGuess::last ? &record.warm_start : nullptr);
  };
  pool.parallel_for(count, by_item(take_step));
}

void vjp_batch(const Model& model, std::span<const StepRecord> records, std::span<const StepCotangent> by_next,
               ThreadPool& pool, StepVjpBatch& out, const GradientOptions& options) {
  LITHE_CHECK(by_next.size() == records.size(), "there are {} gradients for {} records; give one each", by_next.size(),
              records.size());
  const auto count = static_cast<Eigen::Index>(records.size());
  for (MatX* part : {&out.q, &out.v, &out.tau}) part->resize(model.nv(), count);
  out.parameters.resize(options.parameters.size(), count);
  out.motor_targets.resize(options.motor_targets ? static_cast<Eigen::Index>(model.motors().size()) : 0, count);
  LITHE_CHECK(!options.wrenches, "vjp_batch: gradients by wrenches are step_vjp()'s alone");
  out.reports.resize(records.size());
  if (out.workers.size() < static_cast<std::size_t>(pool.size())) out.workers.resize(pool.size());
  const auto fetch = [&](int i) { prefetch_elements(by_next[i].q, by_next[i].v, by_next[i].f); };
  const auto differentiate = [&](int i, int worker) {
    StepVjp& vjp = out.workers[worker];
    step_vjp(model, records[i], by_next[i], vjp, options);
    out.q.col(i) = vjp.q;
    out.v.col(i) = vjp.v;
    out.tau.col(i) = vjp.tau;
    if (out.parameters.rows() > 0) out.parameters.col(i) = vjp.parameters;
    if (out.motor_targets.rows() > 0) out.motor_targets.col(i) = vjp.motor_targets;
    out.reports[i] = vjp.report;
  };
  for_each_record(records, pool, fetch, by_item(differentiate));
}

void jacobians_batch(const Model& model, std::span<const StepRecord> records, ThreadPool& pool,
                     std::vector<StepJacobians>& out, StepBlocks blocks, const GradientOptions& options) {
  out.resize(records.size());
  const auto differentiate = [&](int i, int) { step_jacobians(model, records[i], out[i], blocks, options); };
  for_each_record(records, pool, by_item(differentiate));
}

}  // namespace lithe
