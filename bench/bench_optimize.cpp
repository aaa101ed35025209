// Iterations of the solvers: their time, its split and what a second thread brings.
#include <benchmark/benchmark.h>

#include "apps/experiments/humanoid_jump.h"
#include "apps/experiments/scene_problem.h"
#include "lithe/optimize/ddp.h"
#include "lithe/optimize/stochastic_search.h"
#include "lithe/scenes/catalogue.h"

namespace lithe {
namespace {

constexpr int kIterations = 10;

struct Start {
  Problem problem;
  Plan plan;
};

Start humanoid() {
  experiments::HumanoidJump jump = experiments::humanoid_jump();
  return {jump.problem, jump.holding_still};
}

Start catapult() {
  Problem problem = experiments::problem_of(scene("catapult"), {.hold = 10});
  Plan plan = initial_plan(problem);
  plan.u.colwise() = Vec3(-200, -100, -50);
  return {std::move(problem), std::move(plan)};
}

// Means per iteration; the stages as shares of it.
void report(benchmark::State& state, const StageSeconds& seconds, int iterations) {
  state.counters["ms_per_iteration"] = 1e3 * seconds.total / iterations;
  state.counters["rollout"] = seconds.rollout / seconds.total;
  state.counters["derivatives"] = seconds.derivatives / seconds.total;
  state.counters["solve"] = seconds.solve / seconds.total;
}

template <class Options, class Solve>
void run(benchmark::State& state, const Start& start, Options options, Solve solve) {
  options.max_iterations = kIterations;
  options.tolerance = 0;
  options.threads = static_cast<int>(state.range(0));
  StageSeconds sum;
  int iterations = 0;
  for (auto _ : state) {
    const Solution solution = solve(start.problem, start.plan, options);
    sum.rollout += solution.seconds.rollout;
    sum.derivatives += solution.seconds.derivatives;
    sum.solve += solution.seconds.solve;
    sum.total += solution.seconds.total;
    iterations += solution.iterations;
  }
  report(state, sum, iterations);
}

void ddp_humanoid(benchmark::State& state) { run(state, humanoid(), DdpOptions{}, ddp); }
void ddp_catapult(benchmark::State& state) { run(state, catapult(), DdpOptions{}, ddp); }
void search_catapult(benchmark::State& state) { run(state, catapult(), StochasticSearchOptions{}, stochastic_search); }

BENCHMARK(ddp_humanoid)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(ddp_catapult)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(search_catapult)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lithe

BENCHMARK_MAIN();
