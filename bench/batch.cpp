#include "bench/batch.h"

#include <algorithm>
#include <malloc.h>
#include <vector>

#include "bench/clocks.h"
#include "lithe/core/check.h"
#include "lithe/rollout/step_batch.h"

namespace lithe::bench {

namespace {

constexpr double kEnoughSeconds = 2;
constexpr int kSingleWorlds = 8;

double kilobytes_in_use() { return static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd) / 1024; }

// Adds up the processor's time and the wall's.
struct Stopwatch {
  double cpu = 0, wall = 0;

  template <class Action>
  void time(Action action) {
    const double cpu_start = process_microseconds(), wall_start = wall_microseconds();
    action();
    cpu += process_microseconds() - cpu_start;
    wall += wall_microseconds() - wall_start;
  }
};

std::uint64_t seed_of(int world) { return static_cast<std::uint64_t>(world) + 1; }

StepOptions step_options(const Subject& subject) {
  StepOptions options;
  options.time_step = subject.scene.time_step;
  return options;
}

StepCotangent ones(const Model& model) { return {.q = VecX::Ones(model.nv()), .v = VecX::Ones(model.nv())}; }

State start_of(const Subject& subject) { return {subject.scene.q, subject.scene.v}; }

bool enough(const Stopwatch& a, const Stopwatch& b) { return a.cpu + b.cpu > 1e6 * kEnoughSeconds; }

void finish(BatchResult& result, const Stopwatch& steps, const Stopwatch& vjps, double count) {
  result.step_us = steps.cpu / count;
  result.step_wall_us = steps.wall / count;
  result.vjp_us = vjps.cpu / count;
  result.vjp_wall_us = vjps.wall / count;
}

}  // namespace

BatchResult measure_batch(const Subject& subject, const BatchSettings& settings) {
  const Model& model = subject.scene.model;
  const StepOptions options = step_options(subject);
  ThreadPool pool(settings.threads);
  const auto worlds = static_cast<std::size_t>(settings.worlds);
  std::vector<State> states(worlds, start_of(subject));
  std::vector<Control> controls(worlds);
  const std::vector<StepCotangent> by_next(worlds, ones(model));
  std::vector<StepRecord> records;
  StepVjpBatch gradients;
  Drive drive(subject, 1);

  BatchResult result;
  Stopwatch steps, vjps;
  for (int i = 0; i < settings.skipped + settings.steps; ++i) {
    for (Control& control : controls) {
      drive.next();
      control = drive.ours();
    }
    if (i == settings.skipped) {
      steps = vjps = {};
      for (const StepRecord& record : records) result.kilobytes += static_cast<double>(memory_of(record)) / 1024;
      result.kilobytes /= static_cast<double>(settings.worlds);
    }
    const BatchGuess guess = i == 0 ? BatchGuess::none : BatchGuess::last;
    steps.time([&] { step_batch(model, states, controls, options, pool, records, guess); });
    for (std::size_t k = 0; k < worlds; ++k) states[k] = records[k].next;
    // Also in the steps that are skipped: a fresh workspace is no part of a warm batch.
    if (settings.vjp && i >= settings.skipped - 1) {
      vjps.time([&] { vjp_batch(model, records, by_next, pool, gradients); });
      if (i < settings.skipped) vjps = {};
    }
    if (i < settings.skipped) continue;
    ++result.steps;
    if (enough(steps, vjps)) break;
  }
  finish(result, steps, vjps, static_cast<double>(settings.worlds) * result.steps);
  return result;
}

BatchResult measure_one_by_one(const Subject& subject, const BatchSettings& settings) {
  const Model& model = subject.scene.model;
  const StepOptions options = step_options(subject);
  const StepCotangent by_next = ones(model);
  StepRecord record;
  StepVjp gradient;
  BatchResult result;
  Stopwatch steps, vjps;
  for (int world = 0; world < kSingleWorlds; ++world) {
    Drive drive(subject, seed_of(world));
    State state = start_of(subject);
    for (int i = 0; i < settings.skipped + settings.steps; ++i) {
      drive.next();
      const WarmStart* guess = i == 0 ? nullptr : &record.warm_start;
      const double forward = thread_microseconds_of([&] { step(model, state, drive.ours(), options, record, guess); });
      state = record.next;
      double backward = 0;
      if (settings.vjp) backward = thread_microseconds_of([&] { step_vjp(model, record, by_next, gradient); });
      if (i < settings.skipped) continue;
      steps.cpu += forward;
      vjps.cpu += backward;
      ++result.steps;
    }
  }
  steps.wall = steps.cpu;  // nothing is waited for
  vjps.wall = vjps.cpu;
  finish(result, steps, vjps, result.steps);
  return result;
}

const BatchResult& quicker(const BatchResult& a, const BatchResult& b) {
  return a.step_us + a.vjp_us <= b.step_us + b.vjp_us ? a : b;
}

BatchResult measure_mujoco_batch(const Subject& subject, const MujocoWorld& mujoco, const BatchSettings& settings) {
  const MujocoBridge bridge(subject.loaded);
  ThreadPool pool(settings.threads);
  std::vector<MujocoWorld> worlds;
  const double before = kilobytes_in_use();
  for (int k = 0; k < settings.worlds; ++k) {
    worlds.push_back(mujoco.another());
    worlds.back().start(bridge.qpos_from_q(subject.scene.q), bridge.qvel_from_v(subject.scene.v));
  }
  Drive drive(subject, 1);
  BatchResult result;
  result.kilobytes = (kilobytes_in_use() - before) / static_cast<double>(settings.worlds);
  Stopwatch steps;
  for (int i = 0; i < settings.skipped + settings.steps; ++i) {
    for (MujocoWorld& world : worlds) {
      drive.next();
      drive.give(world);
    }
    if (i == settings.skipped) steps = {};
    steps.time([&] {
      pool.parallel_for(settings.worlds, [&](int world, int) { worlds[static_cast<std::size_t>(world)].step(); });
    });
    if (i < settings.skipped) continue;
    ++result.steps;
    if (enough(steps, {})) break;
  }
  finish(result, steps, {}, static_cast<double>(settings.worlds) * result.steps);
  return result;
}

}  // namespace lithe::bench
