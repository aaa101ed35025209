#include "lithe/optimize/hybrid.h"

#include <algorithm>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/optimize/solvers/best_plan.h"

namespace lithe {

using namespace internal;

namespace {

// Search and gradients in turn. Each part starts from the best plan so far and reports to the one log.
class Hybrid {
 public:
  Hybrid(const Problem& problem, const Plan& initial, const HybridOptions& options)
      : problem_(problem), options_(options), log_(options), best_(options.feasibility), initial_(initial) {}

  Solution solve();

 private:
  SolveOptions part(int iterations);
  bool search(int round, double deviation);
  void follow();
  bool take(const Solution& solution);
  const Plan& start() const { return best_.any() ? best_.plan() : initial_; }
  StopReason reason() const;
  std::string message(StopReason reason) const;

  const Problem& problem_;
  const HybridOptions& options_;
  SolveLog log_;
  BestPlan best_;
  Plan initial_;
  StageSeconds seconds_;
  bool followed_ = false;                          // gradients have been down from the best plan
  StopReason last_ = StopReason::iteration_limit;  // of the gradients
  std::string last_message_;
};

// What one part is told: what is left of the limits, and to report here.
SolveOptions Hybrid::part(int iterations) {
  SolveOptions part = options_;
  const int before = log_.iterations();
  part.max_iterations = std::min(iterations, options_.max_iterations - before);
  part.max_seconds = options_.max_seconds - log_.seconds();
  part.progress = [this, before](const Progress& progress) {
    // A part starts with a motion that the one before has shown already.
    if (progress.iteration == 0 && !log_.history().empty()) return true;
    Progress shown = progress;
    shown.iteration += before;
    shown.best_cost = std::min(progress.best_cost, best_.feasible_cost());
    return log_.note(shown);
  };
  return part;
}

// Adds up the time that a part took and keeps its plan if it is the best so far. Returns whether it is.
bool Hybrid::take(const Solution& solution) {
  seconds_.rollout += solution.seconds.rollout;
  seconds_.derivatives += solution.seconds.derivatives;
  return best_.offer(solution.plan, solution.cost, solution.infeasibility, solution.infeasibility);
}

// A round of search, with draws of its own. Returns whether it found something better than it started from: than the
// best plan so far or, in the first round, than the initial one.
bool Hybrid::search(int round, double deviation) {
  StochasticSearchOptions options = options_.search;
  static_cast<SolveOptions&>(options) = part(options_.search_iterations);
  options.seed = options_.seed + static_cast<std::uint64_t>(round);
  options.deviation = deviation;
  const bool first = !best_.any();
  const Solution solution = stochastic_search(problem_, start(), options);
  const bool better = take(solution);
  return first ? solution.cost < solution.history.front().cost : better;
}

// Follows the gradient downhill from the best plan so far.
void Hybrid::follow() {
  SingleShootingOptions options = options_.shooting;
  static_cast<SolveOptions&>(options) = part(options_.gradient_iterations);
  const Solution solution = single_shooting(problem_, start(), options);
  take(solution);
  last_ = solution.reason;
  last_message_ = solution.message;
  followed_ = true;
}

// Rounds of search, each followed by gradients if it found something to follow, and the first in any case. A search
// that found nothing looks further away the next time.
Solution Hybrid::solve() {
  double deviation = options_.search.deviation;
  for (int round = 0; round < options_.rounds && !log_.exhausted(); ++round) {
    if (search(round, deviation)) {
      followed_ = false;
      deviation = options_.search.deviation;
    } else {
      deviation *= 2;
    }
    if (!followed_ && !log_.exhausted()) follow();
  }
  MotionEvaluator evaluator(problem_);
  const StopReason stop = reason();
  return finish_solution(evaluator, best_.plan(), stop, message(stop), log_, seconds_);
}

// What the gradients said last counts only if they have been down from the best plan. If search found that one, nothing
// is known of the way down from it.
StopReason Hybrid::reason() const {
  if (log_.exhausted() && log_.reason() == StopReason::interrupted) return StopReason::interrupted;
  if (followed_ && last_ == StopReason::converged) return last_;
  if (log_.exhausted()) return log_.reason();
  return followed_ ? last_ : StopReason::iteration_limit;
}

// Why it stopped, as a sentence.
std::string Hybrid::message(StopReason reason) const {
  switch (reason) {
    case StopReason::interrupted: return "stopped by SolveOptions::progress";
    case StopReason::time_limit: return "the time is used up (SolveOptions::max_seconds)";
    case StopReason::iteration_limit:
      return log_.exhausted() ? "the iterations are used up (SolveOptions::max_iterations)"
                              : "all rounds are done (HybridOptions::rounds), and gradients still led down";
    default: return last_message_;
  }
}

}  // namespace

Solution hybrid(const Problem& problem, const Plan& initial, const HybridOptions& options) {
  check_problem(problem);
  check_plan(problem, initial);
  LITHE_CHECK(options.rounds > 0, "HybridOptions::rounds is {}; there must be at least one", options.rounds);
  LITHE_CHECK(options.search_iterations > 0 && options.gradient_iterations > 0,
              "HybridOptions has {} iterations of search and {} of gradients per round; both must be positive",
              options.search_iterations, options.gradient_iterations);
  return Hybrid(problem, initial, options).solve();
}

}  // namespace lithe
