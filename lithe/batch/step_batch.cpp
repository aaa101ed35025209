#include "lithe/batch/step_batch.h"

#include "lithe/core/check.h"

namespace lithe {

namespace {

// The records of a worker's next items are fetched while one is worked on.
template <class Work>
void for_each_item(std::span<const StepRecord> records, ThreadPool& pool, const Work& work) {
  const int count = static_cast<int>(records.size());
  pool.parallel_for(count, [&](int i, int worker) {
    const int end = pool.first_item(count, worker + 1);  // others write to those of their own
    if (i + 2 < end) prefetch_record(records[i + 2]);
    if (i + 1 < end) prefetch_buffers(records[i + 1]);
    try {
      work(i, worker);
    } catch (const Error& error) {
      throw Error(fmt::format("item {}: {}", i, error.what()));
    }
  });
}

}  // namespace

void step_batch(const Model& model, std::span<const State> states, std::span<const Control> controls,
                const StepOptions& options, ThreadPool& pool, std::vector<StepRecord>& records, BatchGuess guess) {
  LITHE_CHECK(controls.size() <= 1 || controls.size() == states.size(),
              "there are {} controls for {} states; give one each, one for all, or none", controls.size(),
              states.size());
  records.resize(states.size());
  const Control none;
  for_each_item(records, pool, [&](int i, int) {
    const Control& control = controls.empty() ? none : controls[controls.size() == 1 ? 0 : i];
    StepRecord& record = records[i];
    step(model, states[i], control, options, record, guess == BatchGuess::last ? &record.warm_start : nullptr);
  });
}

void vjp_batch(const Model& model, std::span<const StepRecord> records, std::span<const StepCotangent> by_next,
               ThreadPool& pool, StepVjpBatch& out, const GradientOptions& options, const StepParameters* parameters) {
  LITHE_CHECK(by_next.size() == records.size(), "there are {} gradients for {} records; give one each", by_next.size(),
              records.size());
  const auto count = static_cast<Eigen::Index>(records.size());
  for (MatX* part : {&out.q, &out.v, &out.tau}) part->resize(model.nv(), count);
  out.parameters.resize(parameters != nullptr ? parameters->size() : 0, count);
  out.reports.resize(records.size());
  if (out.workers.size() < static_cast<std::size_t>(pool.size())) out.workers.resize(pool.size());
  for_each_item(records, pool, [&](int i, int worker) {
    StepVjp& vjp = out.workers[worker];
    step_vjp(model, records[i], by_next[i], vjp, options, parameters);
    out.q.col(i) = vjp.q;
    out.v.col(i) = vjp.v;
    out.tau.col(i) = vjp.tau;
    if (parameters != nullptr) out.parameters.col(i) = vjp.parameters;
    out.reports[i] = vjp.report;
  });
}

void jacobians_batch(const Model& model, std::span<const StepRecord> records, ThreadPool& pool,
                     std::vector<StepJacobians>& out, StepBlocks blocks, const GradientOptions& options) {
  out.resize(records.size());
  for_each_item(records, pool, [&](int i, int) { step_jacobians(model, records[i], out[i], blocks, options); });
}

}  // namespace lithe
