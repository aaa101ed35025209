#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <vector>

#include "lithe/optimize/solvers/evaluated_motion.h"
#include "lithe/optimize/solvers/stage_expansion.h"
#include "lithe/step/step_jacobians.h"

namespace lithe::internal {

// The models of all steps of a motion, made by several threads from the last step to the first, so that who goes through them in this
// order can start at once.
class MotionExpansion {
 public:
  MotionExpansion(const Problem& problem, const GradientOptions& options, int workers);

  // Turns to a motion, which must last: one that a MotionEvaluator carried out with this plan, keeping guesses.
  void turn_to(const Plan& plan, const EvaluatedMotion& motion, const Multipliers* multipliers);

  // By worker 0: waits until the model of step t is there, and makes models meanwhile. What another thread threw is passed on.
  void require(int t);
  bool has(int t) const { return filled_[t].load(std::memory_order_acquire); }
  // By the other workers: makes models until all are under way.
  void help(int worker);
  // By worker 0, of a model that is there: the derivatives of the classes that a gradient behind this step suggests.
  void make_aware(int t, const StepCotangent& wish);

  const std::vector<StageExpansion>& steps() const { return steps_; }

 private:
  // What each thread makes models with.
  struct Worker {
    explicit Worker(const Problem& problem) : evaluator(problem), costs(problem) {}
    MotionEvaluator evaluator;
    CostEvaluator costs;
    CostExpansion expansion;
    StepRecord record;
    StepJacobians jacobians;
    StepVjp vjp;
  };

  bool fill_next(Worker& worker);
  void fill(int t, Worker& worker);
  void linearize(int t, Worker& worker, const StepCotangent* wish);

  const Problem& problem_;
  const GradientOptions& options_;
  const Plan* plan_ = nullptr;
  const EvaluatedMotion* motion_ = nullptr;
  const Multipliers* multipliers_ = nullptr;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<StageExpansion> steps_;
  std::vector<std::atomic<bool>> filled_;
  std::atomic<int> left_ = 0;  // steps before this one, which nobody has started to fill
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;  // of the first model that could not be made
};

}  // namespace lithe::internal
