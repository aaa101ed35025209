#include "lithe/optimize/stochastic_search.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/core/thread_pool.h"
#include "lithe/optimize/numerics/normal_draws.h"
#include "lithe/optimize/solvers/best_plan.h"
#include "lithe/optimize/solvers/free_variables.h"

namespace lithe {

using namespace internal;

namespace {

using SearchMethod = StochasticSearchOptions::Method;

constexpr double kInertia = 0.5;  // the share of cem's deviation that stays from one iteration to the next
// At first, a typical violation of the constraints counts as much as this many times the spread of the costs.
constexpr double kViolationWorth = 10;
constexpr double kLargestWeight = 1e12;

// One draw: a point y in the units of free_variables.h, the plan that it stands for and what its motion comes to.
struct SampledPlan {
  VecX y;
  Plan plan;
  double cost = kInfinity;
  double violation = 0;  // the largest
  double squares = 0;    // Σc² over what is violated
};

// One search. An iteration draws plans around mean_, carries them out on all threads, ranks them and moves the
// distribution; all but carrying out happens on the calling thread, so the draws do not depend on the number of
// threads.
class Search {
 public:
  Search(const Problem& problem, const Plan& initial, const StochasticSearchOptions& options)
      : problem_(problem),
        options_(options),
        log_(options),
        variables_(problem),
        pool_(options.threads),
        draws_(options.seed),
        best_(options.feasibility),
        // ρ = 2, λ = 0: value = cost + Σc².
        squares_(initial_multipliers(problem, 2)),
        mean_(variables_.pack(initial)),
        deviation_(VecX::Constant(variables_.size(), options.deviation)),
        samples_(options.samples) {
    for (int k = 0; k < pool_.size(); ++k) workers_.push_back(std::make_unique<Worker>(problem));
  }

  Solution solve();

 private:
  // What each thread carries out plans with.
  struct Worker {
    explicit Worker(const Problem& problem) : evaluator(problem) {}
    MotionEvaluator evaluator;
    EvaluatedMotion motion;
  };

  void start();
  void draw();
  VecX noise();
  void evaluate(SampledPlan& sample, Worker& worker);
  bool judge();
  void weigh_violations();
  void choose_elite();
  void weigh_all();
  void note(double step);
  double merit(const SampledPlan& sample) const { return sample.cost + weight_ * sample.squares; }
  std::string message(StopReason reason) const;

  const Problem& problem_;
  const StochasticSearchOptions& options_;
  SolveLog log_;
  FreeVariables variables_;
  ThreadPool pool_;
  std::vector<std::unique_ptr<Worker>> workers_;
  NormalDraws draws_;
  BestPlan best_;
  Multipliers squares_;
  double weight_ = 0;  // of violations; 0: not known yet
  VecX mean_, deviation_;
  SampledPlan best_sample_;
  std::vector<SampledPlan> samples_;
  std::vector<int> order_;  // of the samples with finite costs, best first
  StageSeconds seconds_;
};

// Carries out one draw. Its cost is infinite where its motion diverges, or where no model has such numbers.
void Search::evaluate(SampledPlan& sample, Worker& worker) {
  sample.cost = kInfinity;
  variables_.unpack(sample.y, sample.plan);
  if (!is_finite(sample.plan)) return;
  try {
    worker.evaluator.set_parameters(sample.plan);
  } catch (const Error&) {
    return;  // the model refuses this mix of numbers
  }
  worker.evaluator.run(sample.plan, MotionEvaluator::Keep::nothing, &squares_, worker.motion);
  sample.cost = worker.motion.cost;
  sample.violation = worker.motion.violation;
  sample.squares = worker.motion.value - worker.motion.cost;
}

// The initial plan is the first mean and the first best. One whose motion diverges is an Error.
void Search::start() {
  const StageClock clock(log_, seconds_.rollout);
  best_sample_.y = mean_;
  evaluate(best_sample_, *workers_[0]);
  if (!std::isfinite(best_sample_.cost)) {
    // The model's own Error where it refuses the numbers.
    workers_[0]->evaluator.set_parameters(best_sample_.plan);
    check_initial_motion(workers_[0]->motion);
  }
  best_.offer(best_sample_.plan, best_sample_.cost, best_sample_.violation, merit(best_sample_));
}

// Filtered along the knots such that the deviation stays 1: n_k = s n_{k−1} + √(1 − s²) ε_k.
VecX Search::noise() {
  VecX n(variables_.size());
  const double keep = options_.smoothing, add = std::sqrt(1 - keep * keep);
  const int controls = problem_.controls();
  for (int i = 0; i < n.size(); ++i) {
    const double fresh = draws_.next();
    const bool follows = i >= controls && i < variables_.controls();
    n[i] = follows ? keep * n[i - controls] + add * fresh : fresh;
  }
  return n;
}

// Draws come in pairs mirrored about the mean (antithetic variates): their mean has less noise.
void Search::draw() {
  for (std::size_t k = 0; k < samples_.size(); k += 2) {
    const VecX offset = deviation_.cwiseProduct(noise());
    samples_[k].y = variables_.project(mean_ + offset);
    if (k + 1 < samples_.size()) samples_[k + 1].y = variables_.project(mean_ - offset);
  }
}

// Decides how much violations count. The first samples give the scale, as the size of violations says nothing of what
// meeting the constraints costs; after that the weight grows for as long as no plan meets them.
void Search::weigh_violations() {
  if (problem_.constraints.empty()) return;
  if (weight_ == 0) {
    double low = kInfinity, high = -kInfinity, squares = 0;
    for (const int k : order_) {
      low = std::min(low, samples_[k].cost);
      high = std::max(high, samples_[k].cost);
      squares += samples_[k].squares / static_cast<double>(order_.size());
    }
    const double spread = std::max(high - low, 1e-3 * std::max(1.0, std::abs(high)));
    if (squares > 0) weight_ = std::min(kViolationWorth * spread / squares, kLargestWeight);
  } else if (!best_.feasible()) {
    weight_ = std::min(2 * weight_, kLargestWeight);
  }
  best_.set_merit(merit(best_sample_));
}

// Ranks the samples. Returns whether any is of use.
bool Search::judge() {
  order_.clear();
  for (int k = 0; k < static_cast<int>(samples_.size()); ++k) {
    if (std::isfinite(samples_[k].cost)) order_.push_back(k);
  }
  if (order_.empty()) return false;
  weigh_violations();
  std::ranges::stable_sort(order_, {}, [&](int k) { return merit(samples_[k]); });
  for (const int k : order_) {
    const SampledPlan& sample = samples_[k];
    if (best_.offer(sample.plan, sample.cost, sample.violation, merit(sample))) best_sample_ = sample;
  }
  return true;
}

// The cross-entropy method (Rubinstein 1999): mean and deviation become those of the best few. Some of the old
// deviation stays, so that the distribution does not collapse before it has found its way.
void Search::choose_elite() {
  const int wanted = std::max(2, static_cast<int>(std::lround(options_.elite * options_.samples)));
  std::vector<const SampledPlan*> elite = {&best_sample_};
  for (const int k : order_) {
    if (static_cast<int>(elite.size()) > wanted) break;
    if (samples_[k].y != best_sample_.y) elite.push_back(&samples_[k]);
  }
  const double count = static_cast<double>(elite.size());
  VecX mean = VecX::Zero(mean_.size()), square = VecX::Zero(mean_.size());
  for (const SampledPlan* sample : elite) mean += sample->y / count;
  for (const SampledPlan* sample : elite) square += (sample->y - mean).cwiseAbs2() / std::max(1.0, count - 1);
  mean_ = mean;
  deviation_ = (kInertia * deviation_ + (1 - kInertia) * square.cwiseSqrt()).cwiseMax(options_.least_deviation);
}

// Path integral control (Williams, Aldrich & Theodorou 2017): the new mean weighs every sample by exp(−(merit −
// lowest)/temperature). The temperature is in units of the merits' own deviation, so costs may have any scale.
void Search::weigh_all() {
  const double lowest = merit(samples_[order_.front()]), count = static_cast<double>(order_.size());
  double mean_merit = 0, variance = 0;
  for (const int k : order_) mean_merit += merit(samples_[k]) / count;
  for (const int k : order_) variance += std::pow(merit(samples_[k]) - mean_merit, 2) / count;
  const double temperature = options_.temperature * std::sqrt(variance);
  if (!(temperature > 0)) return;  // all cost the same
  VecX mean = VecX::Zero(mean_.size());
  double total = 0;
  for (const int k : order_) {
    const double weight = std::exp((lowest - merit(samples_[k])) / temperature);
    total += weight;
    mean += weight * samples_[k].y;
  }
  mean_ = mean / total;
}

// Logs the best plan so far, as the mean itself is never carried out. `step` is how far the mean moved.
void Search::note(double step) {
  log_.note({.iteration = log_.history().empty() ? 0 : log_.iterations() + 1,
             .cost = best_sample_.cost,
             .infeasibility = best_sample_.violation,
             .step = step,
             .best_cost = best_.feasible_cost()});
}

// Why it stopped, as a sentence, with what to try next.
std::string Search::message(StopReason reason) const {
  switch (reason) {
    case StopReason::converged:
      return "the distribution has narrowed to StochasticSearchOptions::least_deviation; gradients may finish it "
             "(hybrid())";
    case StopReason::infeasible:
      return fmt::format(
          "the distribution has narrowed, and the best motion still violates a constraint by {:.3g}; "
          "random plans meet equations only roughly: let a solver with gradients finish (hybrid())",
          best_.violation());
    case StopReason::iteration_limit: return "the iterations are used up (SolveOptions::max_iterations)";
    case StopReason::time_limit: return "the time is used up (SolveOptions::max_seconds)";
    case StopReason::interrupted: return "stopped by SolveOptions::progress";
    default: return to_string(reason);
  }
}

// Iterates until a limit is reached or, with cem, until the distribution is narrow in every direction.
Solution Search::solve() {
  start();
  note(0);
  bool narrow = false;
  while (!log_.exhausted() && !narrow) {
    draw();
    {
      const StageClock clock(log_, seconds_.rollout);
      pool_.parallel_for(options_.samples, [&](int k, int worker) { evaluate(samples_[k], *workers_[worker]); });
    }
    const VecX before = mean_;
    if (!judge()) {
      // Every motion diverged: stay closer to the one that did not.
      mean_ = best_sample_.y;
      deviation_ = (deviation_ / 2).cwiseMax(options_.least_deviation);
    } else if (options_.method == SearchMethod::cem) {
      choose_elite();
    } else {
      weigh_all();
    }
    note((mean_ - before).norm());
    narrow = options_.method == SearchMethod::cem && deviation_.maxCoeff() <= options_.least_deviation;
  }
  StopReason reason = log_.reason();
  const bool interrupted = log_.exhausted() && reason == StopReason::interrupted;
  if (narrow && !interrupted) reason = best_.feasible() ? StopReason::converged : StopReason::infeasible;
  return finish_solution(workers_[0]->evaluator, best_.plan(), reason, message(reason), log_, seconds_);
}

}  // namespace

Solution stochastic_search(const Problem& problem, const Plan& initial, const StochasticSearchOptions& options) {
  check_problem(problem);
  check_plan(problem, initial);
  const auto check = [](bool good, const char* name, auto value, const char* rule) {
    LITHE_CHECK(good, "StochasticSearchOptions::{} is {}; it must be {}", name, value, rule);
  };
  check(options.samples >= 2, "samples", options.samples, "at least 2");
  check(options.elite > 0 && options.elite <= 1, "elite", options.elite, "above 0 and up to 1");
  check(options.deviation > 0 && std::isfinite(options.deviation), "deviation", options.deviation, "positive");
  check(options.least_deviation > 0, "least_deviation", options.least_deviation, "positive");
  check(options.temperature > 0, "temperature", options.temperature, "positive");
  check(options.smoothing >= 0 && options.smoothing <= 1, "smoothing", options.smoothing, "between 0 and 1");
  return Search(problem, initial, options).solve();
}

}  // namespace lithe
