#include "lithe/optimize/ddp.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>

#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/core/thread_pool.h"
#include "lithe/model/configuration.h"
#include "lithe/optimize/solvers/augmented_lagrangian.h"
#include "lithe/optimize/solvers/best_plan.h"
#include "lithe/optimize/solvers/motion_expansion.h"
#include "lithe/optimize/solvers/riccati.h"

namespace lithe {

using namespace internal;

namespace {

// A step is taken if it lowers the merit by at least this share of what the quadratic model promises (Armijo 1966).
constexpr double kArmijoOfMotions = 1e-4;
// The least regularization that is not zero, and the factors by which it grows after a failure and falls after a success.
constexpr double kFirstRegularization = 1e-6;
constexpr double kMoreRegularization = 10, kLessRegularization = 5;

// A motion, its controls and how far each step ends from where the next one starts.
struct Candidate {
  Plan plan;
  EvaluatedMotion motion;
  MatX gaps;         // 2nv × T; empty: none
  double gap = 0;    // the sum of their sizes
  int halvings = 0;  // of the step that led here
};

// The solver. An iteration is a backward pass along the motion at hand (riccati.h), which gives a policy, and a line
// search, which carries out shares of the policy's open steps. Its methods belong to the thread that called ddp();
// those of `pool_` work only while one of them waits.
class Ddp {
 public:
  Ddp(const Problem& problem, const Plan& initial, const DdpOptions& options, SolveLog& log)
      : problem_(problem),
        options_(options),
        log_(log),
        pool_(options.threads),
        nv_(problem.model.nv()),
        models_(problem, options.gradient, pool_.size()),
        riccati_(problem, pool_),
        trials_(pool_.size()),
        best_(options.feasibility) {
    for (int w = 0; w < pool_.size(); ++w) evaluators_.push_back(std::make_unique<MotionEvaluator>(problem));
    current_.plan = initial;
    start(initial);
  }

  // Iterates with these multipliers (null: there are no constraints) until nothing is left to gain. With multipliers,
  // the motion at hand has its records afterwards.
  StopReason run(const Multipliers* multipliers, double tolerance);

  const Candidate& current() const { return current_; }
  const Plan& best() const { return best_.plan(); }
  MotionEvaluator& evaluator() { return *evaluators_[0]; }
  // The feedback of each knot around the motion of this plan, by one more backward pass; empty if that one fails.
  std::vector<MatX> gains(const Plan& plan, const Multipliers* multipliers);
  StageSeconds& seconds() { return seconds_; }
  // Whether the last backward pass found that no control has any effect: all open steps and all gains are zero.
  bool saddle() const { return saddle_; }

 private:
  void start(const Plan& initial);
  void carry_out(MotionEvaluator::Keep keep);
  StopReason iterate(double tolerance);
  bool solve_backwards();
  bool search();
  // `stops` is asked before each step.
  void follow(double share, MotionEvaluator& evaluator, Candidate& out, const std::function<bool(int)>& stops);
  double merit(const Candidate& candidate) const { return candidate.motion.value + gap_price_ * candidate.gap; }
  void note(double share);

  const Problem& problem_;
  const DdpOptions& options_;
  SolveLog& log_;
  ThreadPool pool_;
  int nv_;
  std::vector<std::unique_ptr<MotionEvaluator>> evaluators_;  // one per thread
  MotionExpansion models_;                                    // of the motion at hand
  RiccatiPass riccati_;
  Candidate current_;
  std::vector<Candidate> trials_;  // one per thread
  const Multipliers* multipliers_ = nullptr;
  double regularization_ = 0;     // of Q_uu, in shares of its scale
  double gap_price_ = 0;          // what a unit of gap costs in merit(); it only grows
  double decrement_ = kInfinity;  // as of the last backward pass; infinite: there was none
  BestPlan best_;
  StageSeconds seconds_;
  StepCotangent wish_;  // the gradient of the value function behind a step, as make_aware() takes it
  bool saddle_ = false;
};

// The first motion. With a guess of the states, each step starts from the guessed state, and its gap is how far it ends
// from the next one, step(x_t, u_t) ⊖ x_{t+1}. The guess of the first state does not count: a motion starts at
// Problem::start.
void Ddp::start(const Plan& initial) {
  const StageClock clock(log_, seconds_.rollout);
  Steering steering;
  if (initial.q.size() > 0) {
    current_.gaps.setZero(2 * nv_, problem_.steps);
    steering.move = [&](int t, State& next) {
      const VecX q = initial.q.col(t + 1), v = initial.v.col(t + 1);
      current_.gaps.col(t) << difference(problem_.model, next.q, q), next.v - v;
      next = {q, v};
    };
  }
  evaluators_[0]->run(current_.plan, MotionEvaluator::Keep::guesses, nullptr, current_.motion, steering);
  LITHE_CHECK(
      std::isfinite(current_.motion.cost), "the initial plan leads to a motion that {}; start from other controls",
      current_.motion.diverged_at >= 0 ? fmt::format("diverges in step {}", current_.motion.diverged_at)
                                       : std::string("costs more than a number can hold, or nothing that is a number"));
  current_.gap = current_.gaps.size() > 0 ? current_.gaps.cwiseAbs().sum() : 0;
  if (current_.gap == 0) current_.gaps.resize(0, 0);
}

// Steps are linearized from the last to the first, by all threads, while the backward pass follows on one. Where Q_uu is not positive
// definite, it starts again with more regularization.
bool Ddp::solve_backwards() {
  const double start = log_.seconds(), before = seconds_.derivatives;
  riccati_.meanwhile = [&](int worker) { models_.help(worker); };
  // Where derivatives are complementarity-aware, the value function behind a step is the loss that the classification
  // of its contacts is chosen for.
  riccati_.before_step = [&](int t, const ValueExpansion* behind) {
    const bool aware = behind && options_.gradient.complementarity_aware;
    if (models_.has(t) && !aware) return models_.require(t);
    const StageClock clock(log_, seconds_.derivatives);
    models_.require(t);
    if (!aware) return;
    wish_.q = behind->z.head(nv_);
    wish_.v = behind->z.segment(nv_, nv_);
    models_.make_aware(t, wish_);
  };
  bool solved = true;
  while (!riccati_.compute(models_.steps(), current_.gaps, current_.plan.u, regularization_)) {
    regularization_ = std::max(kFirstRegularization, kMoreRegularization * regularization_);
    solved = regularization_ <= options_.largest_regularization;
    if (!solved) break;
  }
  // Models that this thread made on its way back have been counted as derivatives.
  seconds_.solve += log_.seconds() - start - (seconds_.derivatives - before);
  return solved;
}

// Carries out a share α of the open steps, with feedback, within the bounds:
//
//   u_t = ū_t + α k + K (x_t ⊖ x̄_t) + P (u_before − ū_before)
//
// where the bars mark the motion at hand. Gaps close by the same share: each step starts where the last one ended,
// moved back by 1 − α of the gap that was there.
void Ddp::follow(double share, MotionEvaluator& evaluator, Candidate& out, const std::function<bool(int)>& stops) {
  out.plan.u = current_.plan.u;
  out.plan.start = current_.plan.start;
  const bool gaps = current_.gaps.size() > 0;
  out.gaps.resize(0, 0);
  if (gaps && share < 1) out.gaps = (1 - share) * current_.gaps;
  out.gap = (1 - share) * current_.gap;
  VecX moved(2 * nv_);
  Steering steering;
  steering.stops = stops;
  steering.choose = [&](int t, const State& state) {
    if (t % problem_.hold != 0) return;
    const int knot = t / problem_.hold;
    const KnotPolicy& policy = riccati_.policy()[knot];
    moved.head(nv_) = difference(problem_.model, state.q, current_.motion.q.col(t));
    moved.tail(nv_) = state.v - current_.motion.v.col(t);
    auto u = out.plan.u.col(knot);
    u += share * policy.open + policy.feedback * moved;
    if (knot > 0) u += policy.previous * (out.plan.u.col(knot - 1) - current_.plan.u.col(knot - 1));
    if (problem_.lower.size() > 0) u = u.cwiseMax(problem_.lower).eval();
    if (problem_.upper.size() > 0) u = u.cwiseMin(problem_.upper).eval();
    if (!u.allFinite()) u.setZero();  // the motion has long diverged
  };
  if (gaps && share < 1) {
    steering.move = [&](int t, State& next) {
      next.q = retract(problem_.model, next.q, -out.gaps.col(t).head(nv_));
      next.v -= out.gaps.col(t).tail(nv_);
    };
  }
  evaluator.run(out.plan, MotionEvaluator::Keep::guesses, multipliers_, out.motion, steering);
}

// Finds the largest of the shares 1, ½, ¼ … of the step that leads down. Threads take the shares in this order; once
// one leads down, those smaller than it are abandoned, but larger ones are carried out to their end. So the result does
// not depend on the number of threads.
bool Ddp::search() {
  const double first = riccati_.first() + riccati_.gap_first(), second = riccati_.second() + riccati_.gap_second();
  if (current_.gap > 0) {
    // A price at which closing the gaps pays for what it costs: merit() is an exact ℓ₁ penalty of the gaps (Nocedal &
    // Wright 2006, §15.4), so their share of the decrease is linear.
    const double rise = std::max(0.0, first + second / 2);
    gap_price_ = std::max(gap_price_, 2 * rise / current_.gap + 1e-3 * std::abs(current_.motion.value) / current_.gap);
  }
  const double before = merit(current_);
  const auto leads_down = [&](double share, const Candidate& candidate) {
    const double expected = share * (first + share / 2 * second) - gap_price_ * share * current_.gap;
    const double actual = merit(candidate) - before;
    return actual <= kArmijoOfMotions * std::min(0.0, expected) && actual < 0;
  };
  const int shares = options_.line_search + 1;
  std::atomic<int> next = 0, taken = shares;  // halvings
  for (Candidate& trial : trials_) trial.halvings = -1;
  {
    const StageClock clock(log_, seconds_.rollout);
    pool_.parallel_for(pool_.size(), [&](int, int worker) {
      for (int k = next.fetch_add(1); k < taken; k = next.fetch_add(1)) {
        const double share = std::ldexp(1.0, -k);
        Candidate& trial = trials_[worker];
        trial.halvings = k;
        follow(share, *evaluators_[worker], trial, [&](int) { return taken < k; });
        if (!leads_down(share, trial)) continue;
        // The shares that this thread would try next are smaller: its trial stays as it is.
        int smallest = taken;
        while (k < smallest && !taken.compare_exchange_weak(smallest, k)) {
        }
      }
    });
  }
  const auto found =
      std::find_if(trials_.begin(), trials_.end(), [&](const Candidate& trial) { return trial.halvings == taken; });
  if (found == trials_.end()) return false;
  std::swap(current_, *found);
  models_.turn_to(current_.plan, current_.motion, multipliers_);
  note(std::ldexp(1.0, -taken));
  return true;
}

// Logs the motion at hand. A gap counts as a violation: the motion is not yet what its controls lead to.
void Ddp::note(double share) {
  const double gap = current_.gaps.size() > 0 ? current_.gaps.cwiseAbs().maxCoeff() : 0.0;
  const double infeasibility = std::max(current_.motion.violation, gap);
  best_.offer(current_.plan, current_.motion.cost, infeasibility, infeasibility);
  log_.note({.iteration = log_.history().empty() ? 0 : log_.iterations() + 1,
             .cost = current_.motion.cost,
             .infeasibility = infeasibility,
             .step = share,
             .gradient = std::isfinite(decrement_) ? decrement_ : 0,
             .best_cost = best_.feasible_cost()});
}

// Carries out the plan at hand from the start, which leaves no gaps, and values it with the multipliers at hand.
void Ddp::carry_out(MotionEvaluator::Keep keep) {
  const StageClock clock(log_, seconds_.rollout);
  evaluators_[0]->run(current_.plan, keep, multipliers_, current_.motion);
  current_.gaps.resize(0, 0);
  current_.gap = 0;
  models_.turn_to(current_.plan, current_.motion, multipliers_);
}

// Multipliers change what a motion is worth, so the motion at hand is carried out anew before the first iteration.
StopReason Ddp::run(const Multipliers* multipliers, double tolerance) {
  multipliers_ = multipliers;
  if (!multipliers) return iterate(tolerance);
  carry_out(MotionEvaluator::Keep::guesses);
  const StopReason reason = iterate(tolerance);
  carry_out(MotionEvaluator::Keep::records);  // for those who ask what the constraints are like
  return reason;
}

// A step that leads down lowers the regularization. Where none does, it grows, and the same models are solved again: a
// larger one makes steps shorter and turns them towards steepest descent.
StopReason Ddp::iterate(double tolerance) {
  models_.turn_to(current_.plan, current_.motion, multipliers_);
  regularization_ = options_.initial_regularization;
  if (log_.history().empty()) note(0);
  while (!log_.exhausted()) {
    if (!solve_backwards()) return StopReason::stalled;
    const double size = std::max(1.0, std::abs(current_.motion.value));
    // The Newton decrement (Boyd & Vandenberghe 2004, §9.5.1) relative to the value: the root of twice the decrease
    // that the quadratic model promises.
    const double expected = -(riccati_.first() + riccati_.second() / 2);
    decrement_ = std::sqrt(2 * std::max(0.0, expected) / size);
    // At an optimum the open steps are zero too, but the controls would answer to a change of the state.
    saddle_ = std::ranges::all_of(
        riccati_.policy(), [](const KnotPolicy& policy) { return policy.open.isZero(0) && policy.feedback.isZero(0); });
    if (decrement_ <= tolerance && current_.gap == 0) return StopReason::converged;
    if (search()) {
      regularization_ = regularization_ / kLessRegularization < kFirstRegularization
                            ? options_.initial_regularization
                            : regularization_ / kLessRegularization;
      continue;
    }
    // Rounding hides what is left.
    if (expected <= 1e-13 * size && current_.gap == 0) return StopReason::converged;
    regularization_ = std::max(kFirstRegularization, kMoreRegularization * regularization_);
    if (regularization_ > options_.largest_regularization) return StopReason::stalled;
  }
  return log_.reason();
}

std::vector<MatX> Ddp::gains(const Plan& plan, const Multipliers* multipliers) {
  multipliers_ = multipliers;
  current_.plan = plan;
  carry_out(MotionEvaluator::Keep::guesses);
  regularization_ = options_.initial_regularization;
  std::vector<MatX> gains;
  if (!solve_backwards()) return gains;
  for (const KnotPolicy& policy : riccati_.policy()) gains.push_back(policy.feedback);
  return gains;
}

// Why the solver stopped, as a sentence, with what to try next.
std::string message_of(const Solution& solution, bool aware) {
  switch (solution.reason) {
    case StopReason::converged: return "converged: no change of the controls promises a lower cost";
    case StopReason::saddle:
      return aware ? "stalled at a saddle: nothing depends on any control, not even with complementarity-aware "
                     "derivatives"
                   : "stalled at a saddle: nothing depends on any control, as where contacts hold the bodies whatever "
                     "acts; try "
                     "complementarity-aware gradients (GradientOptions::complementarity_aware)";
    case StopReason::stalled:
      return "stalled: no share of the last step leads further down; try another start, or a smoother cost";
    case StopReason::infeasible:
      return fmt::format(
          "infeasible: the constraints are still violated by {:.3g}; try more steps, wider bounds or another start",
          solution.infeasibility);
    case StopReason::iteration_limit: return fmt::format("stopped after {} iterations", solution.iterations);
    case StopReason::time_limit: return fmt::format("stopped after {:.3g} s", solution.seconds.total);
    case StopReason::interrupted: return "interrupted";
  }
  return {};
}

}  // namespace

Solution ddp(const Problem& problem, const Plan& initial, const DdpOptions& options) {
  check_problem(problem);
  check_plan(problem, initial);
  LITHE_CHECK(
      problem.free_parameters.empty() && problem.free_start.empty(),
      "DDP chooses controls only; for a free start or free parameters use single_shooting() or multiple_shooting()");
  SolveLog log(options);
  Plan clamped = initial;
  clamp(problem, clamped);
  Ddp solver(problem, clamped, options, log);
  AugmentedLagrangianResult outer = augmented_lagrangian(
      problem, solver.evaluator(), clamped, options, [&](const Multipliers* multipliers, double tolerance) {
        const StopReason reason = solver.run(multipliers, tolerance);
        return InnerResult{reason, &solver.current().plan, &solver.current().motion};
      });

  // A cost of zero is no saddle: nothing is left to gain that contacts could hide.
  const bool saddle = outer.reason == StopReason::converged && solver.saddle() && solver.current().motion.cost != 0;
  const StopReason reason = saddle ? StopReason::saddle : outer.reason;
  Solution solution = finish_solution(solver.evaluator(), solver.best(), reason, {}, log, solver.seconds());
  solution.message = message_of(solution, options.gradient.complementarity_aware);
  if (options.gains) {
    solution.gains = solver.gains(solution.plan, problem.constraints.empty() ? nullptr : &outer.multipliers);
  }
  return solution;
}

}  // namespace lithe
