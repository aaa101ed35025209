#include "apps/lithe/demo_throw.h"

#include <array>
#include <cmath>

#include "apps/experiments/recorded_motion.h"
#include "lithe/optimize/scene_problem.h"
#include "lithe/optimize/single_shooting.h"
#include "lithe/scenes/paper/catapult.h"

namespace lithe::cli {

namespace {

// Steps for which a torque stays. Descent may end beside the target, and where it does depends on rounding, so on the machine: then
// another choice of torques, another descent.
constexpr std::array kHolds = {20, 50, 1};

// How far the box is from the target at the end, m: the task is nothing but the square of it.
double miss(const Scene& scene, const ConstVecRef& q) {
  return std::sqrt(task_loss(*scene.task, scene.model, q, VecX::Zero(scene.model.nv())).value);
}

DemoThrow attempt(int hold, const SingleShootingOptions& options) {
  const Scene scene = armed_catapult();
  const Problem problem = problem_of(scene, {.hold = hold});
  DemoThrow result = {.scene = scene,
                      .problem = problem,
                      .start = initial_plan(problem),
                      .solution = single_shooting(problem, initial_plan(problem), options)};
  result.miss_before = miss(scene, experiments::recorded_motion(problem, result.start).back().q);
  result.miss_after = miss(scene, result.solution.trajectory.q.col(problem.steps));
  return result;
}

}  // namespace

DemoThrow find_throw(int iterations, int threads, const std::function<bool(const lithe::Progress&)>& progress) {
  SingleShootingOptions options;
  options.max_iterations = iterations;
  options.threads = threads;
  options.progress = progress;
  DemoThrow result = attempt(kHolds[0], options);
  for (std::size_t i = 1; i < kHolds.size() && !result.hits(); ++i) {
    if (result.solution.reason == StopReason::interrupted) break;
    result = attempt(kHolds[i], options);
    result.attempts = static_cast<int>(i) + 1;
  }
  return result;
}

}  // namespace lithe::cli
