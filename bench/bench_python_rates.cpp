// What bench/python_overhead.py compares with: a step of the half cheetah, and the steps and VJPs of 1,024 of them on one thread. Prints
// JSON; the shortest of several runs each, µs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>

#include "lithe/rollout/step_batch.h"
#include "lithe/scenes/catalogue.h"

namespace {

using namespace lithe;

template <class Action>
double microseconds(int repeats, Action action) {
  double shortest = std::numeric_limits<double>::infinity();
  for (int k = 0; k < repeats; ++k) {
    const auto start = std::chrono::steady_clock::now();
    action();
    shortest =
        std::min(shortest, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  return shortest;
}

}  // namespace

int main() {
  constexpr int kSteps = 5000, kWorlds = 1024;
  const Scene cheetah = scene("half_cheetah");
  StepOptions options;
  options.time_step = cheetah.time_step;
  const int nv = cheetah.model.nv();

  StepRecord record;
  const State state = {cheetah.q, cheetah.v};
  const Control control = {.tau = VecX::Zero(nv)};
  step(cheetah.model, state, control, options, record);
  const double one = microseconds(7, [&] {
    for (int k = 0; k < kSteps; ++k) step(cheetah.model, state, control, options, record, &record.warm_start);
  });

  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto draw = [&](double size) {
    return VecX::NullaryExpr(nv, [&](Eigen::Index) { return size * normal(random); });
  };
  std::vector<State> states;
  std::vector<Control> controls;
  std::vector<StepCotangent> by_next;
  for (int i = 0; i < kWorlds; ++i) {
    states.push_back({cheetah.q, cheetah.v + draw(0.1)});
    controls.push_back({.tau = draw(1)});
    by_next.push_back({.v = draw(1)});
  }
  ThreadPool pool(1);
  std::vector<StepRecord> records;
  StepVjpBatch gradients;
  const auto all = [&] {
    step_batch(cheetah.model, states, controls, options, pool, records, BatchGuess::last);
    vjp_batch(cheetah.model, records, by_next, pool, gradients);
  };
  step_batch(cheetah.model, states, controls, options, pool, records);
  all();
  const double many = microseconds(30, all);
  fmt::print("{{\"step_us\": {:.4f}, \"step_vjp_us\": {:.4f}}}\n", one / kSteps, many / kWorlds);
}
