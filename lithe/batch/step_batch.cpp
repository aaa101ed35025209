#include "lithe/batch/step_batch.h"

#include "lithe/batch/hand_over.h"
#include "lithe/core/check.h"

namespace lithe {

namespace {

template <class Work>
void for_each_item(std::size_t count, ThreadPool& pool, const Work& work) {
  pool.parallel_for(static_cast<int>(count), [&](int i, int worker) {
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
  // All records look at the same colliders, which the first of them keeps up to date.
  if (!records.empty() && (!records[0].colliders || records[0].collider_revision != model.collision_revision())) {
    records[0].colliders = std::make_shared<const ColliderSet>(model);
    records[0].collider_revision = model.collision_revision();
  }
  for (StepRecord& record : records) {
    if (record.colliders == records[0].colliders) continue;
    record.colliders = records[0].colliders;
    record.collider_revision = records[0].collider_revision;
  }
  const Control none;
  const int count = static_cast<int>(states.size());
  for_each_item(states.size(), pool, [&](int i, int worker) {
    const Control& control = controls.empty() ? none : controls[controls.size() == 1 ? 0 : i];
    StepRecord& record = records[i];
    // Workspaces go along with a worker, and at the end back to where it starts the next time: they stay in its cache.
    const int first = pool.first_item(count, worker), last = pool.first_item(count, worker + 1) - 1;
    if (i > first) hand_over(records[i - 1], record);
    step(model, states[i], control, options, record, guess == BatchGuess::last ? &record.warm_start : nullptr);
    if (i == last) hand_over(record, records[first]);
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
  for_each_item(records.size(), pool, [&](int i, int worker) {
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
  for_each_item(records.size(), pool, [&](int i, int) { step_jacobians(model, records[i], out[i], blocks, options); });
}

}  // namespace lithe
