#include "lithe/optimize/ddp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "lithe/batch/thread_pool.h"
#include "lithe/core/check.h"
#include "lithe/model/configuration.h"
#include "lithe/optimize/augmented_lagrangian.h"
#include "lithe/optimize/best_plan.h"
#include "lithe/optimize/riccati.h"

namespace lithe {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kArmijo = 1e-4;
constexpr double kFirstRegularization = 1e-6;
constexpr double kMoreRegularization = 10, kLessRegularization = 5;

// A motion with its records, its controls and how far each step ends from where the next one starts.
struct Candidate {
  Plan plan;
  Motion motion;
  MatX gaps;       // 2nv × T; empty: none
  double gap = 0;  // the sum of their sizes
};

class Ddp {
 public:
  Ddp(const Problem& problem, const Plan& initial, const DdpOptions& options, SolveLog& log)
      : problem_(problem),
        options_(options),
        log_(log),
        pool_(options.threads),
        nv_(problem.model.nv()),
        steps_(problem.steps + 1),
        riccati_(problem),
        candidates_(pool_.size()),
        best_(options.feasibility) {
    for (int w = 0; w < pool_.size(); ++w) workers_.push_back(std::make_unique<Worker>(problem));
    current_.plan = initial;
    start(initial);
  }

  // Iterates until nothing is left to gain, with these multipliers.
  StopReason run(const Multipliers* multipliers, double tolerance);

  const Candidate& current() const { return current_; }
  const Plan& best() const { return best_.plan(); }
  MotionEvaluator& evaluator() { return workers_[0]->evaluator; }
  // Around a motion without gaps.
  std::vector<MatX> gains(const Plan& plan, const Multipliers* multipliers);
  StageSeconds& seconds() { return seconds_; }
  // Nothing depends on any control.
  bool saddle() const { return saddle_; }

 private:
  struct Worker {
    explicit Worker(const Problem& problem) : evaluator(problem), costs(problem) {}
    MotionEvaluator evaluator;
    CostEvaluator costs;
    StepJacobians jacobians;
    StepVjp vjp;
  };

  void start(const Plan& initial);
  void linearize();
  void fill(const Candidate& at, int t, Worker& worker, const StepCotangent* wish);
  bool solve_backwards();
  bool search();
  void follow(double share, MotionEvaluator::Keep keep, Worker& worker, Candidate& out);
  double merit(const Candidate& candidate) const { return candidate.motion.value + gap_price_ * candidate.gap; }
  void note(double share);

  const Problem& problem_;
  const DdpOptions& options_;
  SolveLog& log_;
  ThreadPool pool_;
  int nv_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<StepModel> steps_;
  RiccatiPass riccati_;
  Candidate current_;
  std::vector<Candidate> candidates_;
  const Multipliers* multipliers_ = nullptr;
  double regularization_ = 0;
  double gap_price_ = 0;
  double decrement_ = kInfinity;
  BestPlan best_;
  StageSeconds seconds_;
  StepCotangent wish_;
  bool saddle_ = false;
};

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
  workers_[0]->evaluator.run(current_.plan, MotionEvaluator::Keep::records, nullptr, current_.motion, steering);
  LITHE_CHECK(
      std::isfinite(current_.motion.cost), "the initial plan leads to a motion that {}; start from other controls",
      current_.motion.diverged_at >= 0 ? fmt::format("diverges in step {}", current_.motion.diverged_at)
                                       : std::string("costs more than a number can hold, or nothing that is a number"));
  current_.gap = current_.gaps.size() > 0 ? current_.gaps.cwiseAbs().sum() : 0;
  if (current_.gap == 0) current_.gaps.resize(0, 0);
}

// The model of step t, around the motion at hand. `wish` is the gradient behind it, for complementarity-aware derivatives.
void Ddp::fill(const Candidate& at, int t, Worker& worker, const StepCotangent* wish) {
  StepModel& model = steps_[t];
  const bool end = t == problem_.steps;
  const StepRecord* record = end ? nullptr : &at.motion.records[t];
  const bool impulses = worker.costs.needs_impulses() && !end;
  if (!end) {
    const StepBlocks blocks = impulses ? StepBlocks::all : StepBlocks::state;
    StepJacobians& J = worker.jacobians;
    if (wish) {
      step_jacobians(problem_.model, *record, *wish, worker.vjp, J, blocks, options_.gradient);
    } else {
      step_jacobians(problem_.model, *record, J, blocks, options_.gradient);
    }
    model.A.resize(2 * nv_, 2 * nv_);
    model.A << J.dqnext_dq, J.dqnext_dv, J.dvnext_dq, J.dvnext_dv;
    model.B.resize(2 * nv_, problem_.controls());
    for (int k = 0; k < problem_.controls(); ++k) {
      model.B.col(k) << J.dqnext_dtau.col(problem_.actuated[k]), J.dvnext_dtau.col(problem_.actuated[k]);
    }
    if (wish) return;
  }
  worker.costs.evaluate(worker.evaluator.point(at.plan, t, at.motion.q.col(t), at.motion.v.col(t), record),
                        CostOrder::hessian, multipliers_, impulses ? &worker.jacobians : nullptr, model.cost);
}

void Ddp::linearize() {
  const StageClock clock(log_, seconds_.derivatives);
  pool_.parallel_for(problem_.steps + 1, [&](int t, int worker) { fill(current_, t, *workers_[worker], nullptr); });
}

// Regularizes more until Q_uu is positive definite everywhere.
bool Ddp::solve_backwards() {
  const StageClock clock(log_, seconds_.solve);
  if (options_.gradient.complementarity_aware) {
    riccati_.before_step = [&](int t, const ValueExpansion& behind) {
      wish_.q = behind.x.head(nv_);
      wish_.v = behind.x.tail(nv_);
      fill(current_, t, *workers_[0], &wish_);
    };
  }
  while (!riccati_.compute(steps_, current_.gaps, current_.plan.u, regularization_)) {
    regularization_ = std::max(kFirstRegularization, kMoreRegularization * regularization_);
    if (regularization_ > options_.largest_regularization) return false;
  }
  return true;
}

// The motion under a share of the open steps, with feedback; gaps close by the same share.
void Ddp::follow(double share, MotionEvaluator::Keep keep, Worker& worker, Candidate& out) {
  out.plan.u = current_.plan.u;
  out.plan.start = current_.plan.start;
  const bool gaps = current_.gaps.size() > 0;
  out.gaps.resize(0, 0);
  if (gaps && share < 1) out.gaps = (1 - share) * current_.gaps;
  out.gap = (1 - share) * current_.gap;
  VecX moved(2 * nv_);
  Steering steering;
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
  worker.evaluator.run(out.plan, keep, multipliers_, out.motion, steering);
}

// The largest share of the step that leads down; several are tried at once.
bool Ddp::search() {
  const StageClock clock(log_, seconds_.rollout);
  const double first = riccati_.first(), second = riccati_.second();
  if (current_.gap > 0) {
    // A price at which closing the gaps pays for what it costs.
    const double rise = std::max(0.0, first + second / 2);
    gap_price_ = std::max(gap_price_, 2 * rise / current_.gap + 1e-3 * std::abs(current_.motion.value) / current_.gap);
  }
  const double before = merit(current_);
  const int at_once = pool_.size();
  for (int tried = 0; tried <= options_.line_search; tried += at_once) {
    const int count = std::min(at_once, options_.line_search + 1 - tried);
    // Records are a hundred kilobytes per step of a humanoid: only the full step, which is often taken, keeps them at once.
    const auto keep = [&](int k) {
      return tried + k == 0 ? MotionEvaluator::Keep::records : MotionEvaluator::Keep::nothing;
    };
    pool_.parallel_for(count, [&](int k, int worker) {
      follow(std::ldexp(1.0, -(tried + k)), keep(k), *workers_[worker], candidates_[k]);
    });
    for (int k = 0; k < count; ++k) {
      const double share = std::ldexp(1.0, -(tried + k));
      const double expected = share * (first + share / 2 * second) - gap_price_ * share * current_.gap;
      const double actual = merit(candidates_[k]) - before;
      if (!(actual <= kArmijo * std::min(0.0, expected)) || !(actual < 0)) continue;
      if (keep(k) == MotionEvaluator::Keep::nothing) {
        follow(share, MotionEvaluator::Keep::records, *workers_[0], candidates_[k]);
      }
      std::swap(current_, candidates_[k]);
      note(share);
      return true;
    }
  }
  return false;
}

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

StopReason Ddp::run(const Multipliers* multipliers, double tolerance) {
  multipliers_ = multipliers;
  if (multipliers) {
    // The same motion under other prices.
    const StageClock clock(log_, seconds_.rollout);
    workers_[0]->evaluator.run(current_.plan, MotionEvaluator::Keep::records, multipliers_, current_.motion);
    current_.gaps.resize(0, 0);
    current_.gap = 0;
  }
  regularization_ = options_.initial_regularization;
  if (log_.history().empty()) note(0);
  while (!log_.exhausted()) {
    linearize();
    if (!solve_backwards()) return StopReason::stalled;
    const double size = std::max(1.0, std::abs(current_.motion.value));
    const double expected = -(riccati_.first() + riccati_.second() / 2);
    decrement_ = std::sqrt(2 * std::max(0.0, expected) / size);
    double largest = 0;
    for (const KnotPolicy& policy : riccati_.policy()) {
      if (policy.open.size() > 0) largest = std::max(largest, policy.open.cwiseAbs().maxCoeff());
    }
    saddle_ = largest == 0;
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
  current_.gaps.resize(0, 0);
  workers_[0]->evaluator.run(plan, MotionEvaluator::Keep::records, multipliers_, current_.motion);
  linearize();
  regularization_ = options_.initial_regularization;
  std::vector<MatX> gains;
  if (!solve_backwards()) return gains;
  for (const KnotPolicy& policy : riccati_.policy()) gains.push_back(policy.feedback);
  return gains;
}

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
