// What an iteration of the solvers takes, its split and what a second thread brings. A search goes its own way, which depends on every
// rounding on it: the motions it comes to, and how many shares of a step it tries, are not the same from one version to the next. So all
// passes here are around motions that are given.
#include <benchmark/benchmark.h>

#include <cmath>
#include <numbers>

#include "apps/experiments/humanoid_jump.h"
#include "lithe/core/check.h"
#include "lithe/optimize/ddp.h"
#include "lithe/optimize/scene_problem.h"
#include "lithe/optimize/solvers/motion_expansion.h"
#include "lithe/optimize/solvers/riccati.h"
#include "lithe/optimize/solvers/wall_clock.h"
#include "lithe/optimize/stochastic_search.h"
#include "lithe/scenes/catalogue.h"

namespace lithe {

using namespace internal;
namespace {

struct Start {
  Problem problem;
  Plan plan;
};

// Each joint also swings, at a pace of its own: the feet come off the ground and land again, as in the motions that a search is made of.
Start humanoid() {
  constexpr double kShare = 0.2, kSlowest = 1, kFaster = 0.2;  // of a joint's limit; Hz
  experiments::HumanoidJump jump = experiments::humanoid_jump();
  const Problem& problem = jump.problem;
  Plan plan = jump.holding_still;
  for (Eigen::Index knot = 0; knot < plan.u.cols(); ++knot) {
    const double time = static_cast<double>(knot) * problem.hold * problem.step.time_step;
    for (int k = 0; k < problem.controls(); ++k) {
      plan.u(k, knot) += kShare * problem.upper[k] * std::sin(2 * std::numbers::pi * (kSlowest + kFaster * k) * time);
    }
  }
  clamp(problem, plan);
  return {problem, plan};
}

Start catapult() {
  Problem problem = problem_of(scene("catapult"), {.hold = 10});
  Plan plan = initial_plan(problem);
  plan.u.colwise() = Vec3(-200, -100, -50);
  return {std::move(problem), std::move(plan)};
}

// The passes of an iteration of DDP: the motion of a plan forwards, and backwards through the models of its steps, which are made on the way.
class DdpPasses {
 public:
  DdpPasses(const Start& start, int threads)
      : start_(start),
        pool_(threads),
        evaluator_(start.problem),
        models_(start.problem, options_.gradient, pool_.size()),
        riccati_(start.problem, pool_) {
    riccati_.meanwhile = [this](int worker) { models_.help(worker); };
    riccati_.before_step = [this](int t, const ValueExpansion*) {
      const double before = wall_clock();
      models_.require(t);
      seconds_.derivatives += wall_clock() - before;
    };
  }

  void run() {
    const double start = wall_clock();
    evaluator_.run(start_.plan, MotionEvaluator::Keep::guesses, nullptr, motion_);
    const double there = wall_clock(), derivatives = seconds_.derivatives;
    models_.turn_to(start_.plan, motion_, nullptr);
    const bool solved = riccati_.compute(models_.steps(), {}, start_.plan.u, options_.initial_regularization);
    LITHE_CHECK(std::isfinite(motion_.cost) && solved,
                "this motion is none to measure: it diverges, or has no minimum");
    const double end = wall_clock();
    seconds_.rollout += there - start;
    seconds_.solve += end - there - (seconds_.derivatives - derivatives);
    seconds_.total += end - start;
  }

  const StageSeconds& seconds() const { return seconds_; }

 private:
  const Start& start_;
  DdpOptions options_;
  ThreadPool pool_;
  MotionEvaluator evaluator_;
  MotionExpansion models_;
  RiccatiPass riccati_;
  EvaluatedMotion motion_;
  StageSeconds seconds_;
};

// Means per iteration; the stages as shares of it.
void report(benchmark::State& state, const StageSeconds& seconds) {
  state.counters["ms_per_iteration"] = 1e3 * seconds.total / static_cast<double>(state.iterations());
  state.counters["rollout"] = seconds.rollout / seconds.total;
  state.counters["derivatives"] = seconds.derivatives / seconds.total;
  state.counters["solve"] = seconds.solve / seconds.total;
}

void run_ddp(benchmark::State& state, const Start& start) {
  DdpPasses passes(start, static_cast<int>(state.range(0)));
  for (auto _ : state) passes.run();
  report(state, passes.seconds());
}

// The first iteration draws around the plan that is given.
void run_search(benchmark::State& state, const Start& start) {
  StochasticSearchOptions options;
  options.max_iterations = 1;
  options.threads = static_cast<int>(state.range(0));
  StageSeconds sum;
  for (auto _ : state) {
    const StageSeconds seconds = stochastic_search(start.problem, start.plan, options).seconds;
    sum.rollout += seconds.rollout;
    sum.derivatives += seconds.derivatives;
    sum.solve += seconds.solve;
    sum.total += seconds.total;
  }
  report(state, sum);
}

void ddp_humanoid(benchmark::State& state) { run_ddp(state, humanoid()); }
void ddp_catapult(benchmark::State& state) { run_ddp(state, catapult()); }
void search_catapult(benchmark::State& state) { run_search(state, catapult()); }

BENCHMARK(ddp_humanoid)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(ddp_catapult)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(search_catapult)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lithe

BENCHMARK_MAIN();
