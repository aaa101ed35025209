#include "lithe/optimize/identification.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <memory>

#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/core/thread_pool.h"
#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/optimize/numerics/box_qp.h"
#include "lithe/simd/internal/finite.h"
#include "lithe/step/step.h"
#include "lithe/step/step_jacobians.h"

namespace lithe {

using namespace internal;

namespace {

// Levenberg–Marquardt's damping, in shares of the diagonal of the normal equations.
constexpr double kFirstDamping = 1e-4, kLeastDamping = 1e-12, kMostDamping = 1e12;

// A stretch of a measured motion that is simulated in one go.
struct Segment {
  const ObservedMotion* motion;
  int first, steps;
  State start;  // as estimated
};

// The normal equations of one segment, H δ = −g for δ = (start, parameters), with the Gauss–Newton Hessian
//
//   H = [ xx  xp ; xpᵀ  pp ],   g = (x, p)
//
// where the gradients are halved, so that cost(δ) ≈ cost + 2 gᵀδ + δᵀH δ.
struct NormalEquations {
  double cost = 0;  // infinite: the simulation diverged
  MatX xx, xp, pp;
  VecX x, p;  // gradients, halved
};

// Refuses what makes no sense, and says which part and why.
void check_identification(const Identification& problem) {
  const int nv = problem.model.nv();
  LITHE_CHECK(!problem.parameters.empty(), "no parameter is to be identified; name some in Identification::parameters");
  LITHE_CHECK(!problem.motions.empty(), "there is no measured motion to explain");
  LITHE_CHECK(problem.segment >= 0, "Identification::segment is {}; it must not be negative", problem.segment);
  check_options(problem.step);
  for (const auto* weights : {&problem.q_weights, &problem.v_weights}) {
    LITHE_CHECK(weights->size() == 0 || weights->size() == nv, "there are {} weights for {} DoFs", weights->size(), nv);
    LITHE_CHECK(weights->size() == 0 || (all_finite(*weights) && weights->minCoeff() >= 0),
                "weights must be finite and not negative");
  }
  for (const FreeParameter& free : problem.parameters) {
    LITHE_CHECK(free.lower <= free.upper, "{}: its lower bound {} is above the upper one {}", free.name, free.lower,
                free.upper);
  }
  for (std::size_t k = 0; k < problem.motions.size(); ++k) {
    const ObservedMotion& motion = problem.motions[k];
    check_controls(problem.model, motion.controls);
    const int states = motion.controls.steps + 1;
    LITHE_CHECK(motion.controls.steps > 0, "motion {} has no steps", k);
    LITHE_CHECK(motion.q.rows() == problem.model.nq() && motion.v.rows() == nv && motion.q.cols() == states &&
                    motion.v.cols() == states,
                "motion {}: the measured states are {} × {} and {} × {}; wanted are nq = {}, nv = {} and {} columns", k,
                motion.q.rows(), motion.q.cols(), motion.v.rows(), motion.v.cols(), problem.model.nq(), nv, states);
    LITHE_CHECK(motion.q.allFinite() && motion.v.allFinite(), "motion {} has a measurement that is not finite", k);
  }
}

// Levenberg & Marquardt's method (Marquardt 1963) on all segments together. Starts of different segments do not see one
// another, so each step first eliminates them (a Schur complement) and then solves for the parameters, which are few.
class Identifier {
 public:
  Identifier(const Identification& problem, const SolveOptions& options);
  IdentificationResult run();

 private:
  // What each thread simulates and differentiates with. Sx and Sp are the sensitivities ∂x_t/∂x_0 and ∂x_t/∂p of the
  // state (2nv rows) at the time that it is at.
  struct Worker {
    explicit Worker(const Model& shared) : model(shared) {}
    Model model;
    StepRecord record;
    StepJacobians jacobians;
    StepParameterJacobian by_parameters;
    Control control;
    MatX Sx, Sp;
  };

  // The cost of all segments from these starts, and their normal equations.
  double evaluate(const VecX& parameters, std::vector<Segment>& segments, bool derivatives);
  void simulate(const Segment& segment, bool derivatives, Worker& worker, NormalEquations& out) const;
  // The step of all unknowns at this damping: of the parameters, and of each segment's start. False: no such step.
  bool step(const VecX& parameters, double damping);

  const Identification& problem_;
  const SolveOptions& options_;
  SolveLog log_;
  ThreadPool pool_;
  StepParameters names_;
  GradientOptions by_parameters_;
  VecX lower_, upper_, weights_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<NormalEquations> normal_, trial_;
  MatX reduced_;
  VecX reduced_gradient_, parameter_step_;
  std::vector<VecX> start_steps_;
  double predicted_ = 0;
};

// The names of the parameters, in their order.
std::vector<std::string> names_of(const Identification& problem) {
  std::vector<std::string> names;
  for (const FreeParameter& free : problem.parameters) names.push_back(free.name);
  return names;
}

Identifier::Identifier(const Identification& problem, const SolveOptions& options)
    : problem_(problem),
      options_(options),
      log_(options),
      pool_(options.threads),
      names_(problem.model, names_of(problem)),
      by_parameters_{.bounce = options.gradient.bounce, .parameters = names_} {
  LITHE_CHECK(!options.gradient.complementarity_aware,
              "identify: complementarity-aware gradients are for losses of motions; identification has sensitivities");
  const int nv = problem.model.nv(), count = names_.size();
  lower_.resize(count);
  upper_.resize(count);
  for (int k = 0; k < count; ++k) {
    lower_[k] = problem.parameters[k].lower;
    upper_[k] = problem.parameters[k].upper;
  }
  weights_ = VecX::Ones(2 * nv);
  if (problem.q_weights.size() > 0) weights_.head(nv) = problem.q_weights;
  if (problem.v_weights.size() > 0) weights_.tail(nv) = problem.v_weights;
  for (int w = 0; w < pool_.size(); ++w) workers_.push_back(std::make_unique<Worker>(problem.model));
}

// Simulates one segment and compares it with what was measured. The sensitivities go forward with the state:
//
//   S_{t+1} = (∂x_{t+1}/∂x_t) S_t + ∂x_{t+1}/∂p,   the last only in Sp
//
// Forward, as the parameters are few and every state counts: a pass back would be needed for each measured number.
void Identifier::simulate(const Segment& segment, bool derivatives, Worker& worker, NormalEquations& out) const {
  const int nv = worker.model.nv(), n = 2 * nv, count = names_.size();
  const ObservedMotion& seen = *segment.motion;
  out.cost = 0;
  if (derivatives) {
    worker.Sx.setIdentity(n, n);
    worker.Sp.setZero(n, count);
    out.xx.setZero(n, n);
    out.xp.setZero(n, count);
    out.pp.setZero(count, count);
    out.x.setZero(n);
    out.p.setZero(count);
  }
  State state = segment.start;
  VecX off(n);
  const auto compare = [&](int t) {
    const VecX dq = difference(worker.model, state.q, seen.q.col(t));
    off << dq, state.v - seen.v.col(t);
    out.cost += weights_.dot(off.cwiseAbs2());
    if (!derivatives) return;
    MatX& Sx = worker.Sx;
    MatX& Sp = worker.Sp;
    // The difference is taken in the tangent at the measured q; the sensitivities are in that at the simulated one.
    const MatX to_seen = difference_derivative_q1(worker.model, dq);
    MatX Jx = Sx, Jp = Sp;
    Jx.topRows(nv) = to_seen * Sx.topRows(nv);
    Jp.topRows(nv) = to_seen * Sp.topRows(nv);
    const MatX wJx = weights_.asDiagonal() * Jx, wJp = weights_.asDiagonal() * Jp;
    out.xx.noalias() += Jx.transpose() * wJx;
    out.xp.noalias() += Jx.transpose() * wJp;
    out.pp.noalias() += Jp.transpose() * wJp;
    out.x.noalias() += wJx.transpose() * off;
    out.p.noalias() += wJp.transpose() * off;
  };
  compare(segment.first);
  const WarmStart* guess = nullptr;
  for (int t = segment.first; t < segment.first + segment.steps; ++t) {
    control_at(seen.controls, t, worker.control);
    lithe::step(worker.model, state, worker.control, problem_.step, worker.record, guess);
    if (worker.record.status.diverged) {
      out.cost = kInfinity;
      return;
    }
    guess = &worker.record.warm_start;
    if (derivatives) {
      const StepJacobians& J = worker.jacobians;
      step_jacobians(worker.model, worker.record, worker.jacobians, StepBlocks::state, options_.gradient);
      step_parameter_jacobian(worker.model, worker.record, worker.by_parameters, by_parameters_);
      const auto carry = [&](MatX& S) {
        MatX next(n, S.cols());
        next.topRows(nv).noalias() = J.dqnext_dq * S.topRows(nv) + J.dqnext_dv * S.bottomRows(nv);
        next.bottomRows(nv).noalias() = J.dvnext_dq * S.topRows(nv) + J.dvnext_dv * S.bottomRows(nv);
        S.swap(next);
      };
      carry(worker.Sx);
      carry(worker.Sp);
      worker.Sp.topRows(nv) += worker.by_parameters.dqnext;
      worker.Sp.bottomRows(nv) += worker.by_parameters.dvnext;
    }
    state = worker.record.next;
    compare(t + 1);
  }
  if (!std::isfinite(out.cost)) out.cost = kInfinity;
}

// Segments are simulated by several threads, each with a model of its own that gets the new numbers first. Costs are
// added in the order of segments, so that the sum has the same bits on any number of threads.
double Identifier::evaluate(const VecX& parameters, std::vector<Segment>& segments, bool derivatives) {
  std::vector<NormalEquations>& to = derivatives ? normal_ : trial_;
  to.resize(segments.size());
  for (auto& worker : workers_) set_parameters(worker->model, names_.names(), parameters);
  pool_.parallel_for(static_cast<int>(segments.size()),
                     [&](int k, int worker) { simulate(segments[k], derivatives, *workers_[worker], to[k]); });
  double cost = 0;
  for (const NormalEquations& part : to) cost += part.cost;
  return cost;
}

// The parameters' own system is H_pp − Σ H_px H_xx⁻¹ H_xp, over the segments. Damping makes the diagonals larger before
// anything is eliminated or solved, and bounds of the parameters make that a box-constrained quadratic programme.
bool Identifier::step(const VecX& parameters, double damping) {
  const int count = names_.size();
  reduced_.setZero(count, count);
  reduced_gradient_.setZero(count);
  std::vector<Eigen::LLT<MatX>> factors(normal_.size());
  for (std::size_t k = 0; k < normal_.size(); ++k) {
    const NormalEquations& part = normal_[k];
    reduced_ += part.pp;
    reduced_gradient_ += part.p;
    if (!problem_.free_starts) continue;
    MatX xx = part.xx;
    xx.diagonal() *= 1 + damping;
    // Directions that nothing measures stay where they are.
    xx.diagonal().array() += 1e-12 * std::max(1e-300, part.xx.diagonal().maxCoeff());
    factors[k].compute(xx);
    if (factors[k].info() != Eigen::Success) return false;
    reduced_.noalias() -= part.xp.transpose() * factors[k].solve(part.xp);
    reduced_gradient_.noalias() -= part.xp.transpose() * factors[k].solve(part.x);
  }
  MatX damped = reduced_;
  const double least = 1e-14 * std::max(1e-300, reduced_.diagonal().maxCoeff());
  for (int k = 0; k < count; ++k) damped(k, k) += damping * std::abs(reduced_(k, k)) + least;
  BoxQp qp;
  qp.solve(damped, reduced_gradient_, lower_ - parameters, upper_ - parameters);
  if (!qp.solved || !qp.x.allFinite()) return false;
  parameter_step_ = qp.x;
  // What the quadratic model promises, by the parameters' share of it and the starts' own.
  predicted_ = -(2 * reduced_gradient_.dot(parameter_step_) + parameter_step_.dot(reduced_ * parameter_step_));
  start_steps_.resize(normal_.size());
  for (std::size_t k = 0; k < normal_.size(); ++k) {
    const NormalEquations& part = normal_[k];
    start_steps_[k].setZero(part.x.size());
    if (!problem_.free_starts) continue;
    predicted_ += part.x.dot(factors[k].solve(part.x));
    start_steps_[k] = -factors[k].solve(part.x + part.xp * parameter_step_);
  }
  return true;
}

// Steps until none improves the fit. Damping grows tenfold where a step does not, and falls to a tenth where one does
// more than half of what the quadratic model promised.
IdentificationResult Identifier::run() {
  const Model& model = problem_.model;
  const int nv = model.nv();
  std::vector<Segment> segments;
  long numbers = 0;
  for (const ObservedMotion& motion : problem_.motions) {
    const int steps = motion.controls.steps, length = problem_.segment > 0 ? problem_.segment : steps;
    for (int first = 0; first < steps; first += length) {
      segments.push_back({&motion, first, std::min(length, steps - first), {motion.q.col(first), motion.v.col(first)}});
      numbers += 2L * nv * (segments.back().steps + 1);
    }
  }
  VecX parameters = lithe::parameters(model, names_.names()).cwiseMax(lower_).cwiseMin(upper_);
  double cost = evaluate(parameters, segments, true);
  LITHE_CHECK(std::isfinite(cost),
              "the simulation diverges with the model's own numbers; start from others, or use segments");
  IdentificationResult result;
  double damping = kFirstDamping, gradient = 0;
  result.reason = StopReason::stalled;
  log_.note({.iteration = 0, .cost = cost, .best_cost = cost});
  while (!log_.exhausted()) {
    if (!step(parameters, damping)) {
      damping *= 10;
      if (damping > kMostDamping) break;
      continue;
    }
    gradient = std::sqrt(std::max(0.0, predicted_) / std::max(cost, 1e-300));
    if (gradient <= options_.tolerance || cost == 0) {
      result.reason = StopReason::converged;
      break;
    }
    std::vector<Segment> moved = segments;
    for (std::size_t k = 0; k < segments.size(); ++k) {
      moved[k].start.q = retract(model, segments[k].start.q, start_steps_[k].head(nv));
      moved[k].start.v += start_steps_[k].tail(nv);
    }
    const VecX trial = (parameters + parameter_step_).cwiseMax(lower_).cwiseMin(upper_);
    const double found = evaluate(trial, moved, false);
    // The motion at hand and its normal equations stay: only the damping is another one when the step is computed
    // again.
    if (!(found < cost)) {
      damping *= 10;
      if (damping > kMostDamping) break;
      continue;
    }
    damping = std::max(kLeastDamping, found - cost < -0.5 * predicted_ ? damping / 10 : damping);
    parameters = trial;
    segments = std::move(moved);
    cost = evaluate(parameters, segments, true);
    log_.note({.iteration = log_.iterations() + 1,
               .cost = cost,
               .step = parameter_step_.norm(),
               .gradient = gradient,
               .best_cost = cost});
  }
  if (log_.exhausted()) result.reason = log_.reason();
  result.parameters = parameters;
  result.cost = cost;
  result.root_mean_square = std::sqrt(cost / static_cast<double>(numbers));
  // The noise that is left, spread by the inverse of the reduced Hessian.
  const double variance = cost / std::max(1.0, static_cast<double>(numbers - names_.size()));
  step(parameters, 0);
  const Eigen::LDLT<MatX> factor(reduced_);
  result.deviations = VecX::Constant(names_.size(), kInfinity);
  if (factor.info() == Eigen::Success && factor.isPositive()) {
    const MatX inverse = factor.solve(MatX::Identity(names_.size(), names_.size()));
    for (int k = 0; k < names_.size(); ++k) {
      if (inverse(k, k) > 0) result.deviations[k] = std::sqrt(variance * inverse(k, k));
    }
  }
  result.iterations = log_.iterations();
  result.history = std::move(log_.history());
  switch (result.reason) {
    case StopReason::converged:
      result.message = "converged: no change of the parameters explains the motions better";
      break;
    case StopReason::stalled:
      result.message =
          "stalled: no step improves the fit, short of the tolerance; motions may be chaotic (try segments) or the "
          "parameters not visible in them";
      break;
    default:
      result.message = fmt::format("stopped by {} after {} iterations", to_string(result.reason), result.iterations);
  }
  return result;
}

}  // namespace

IdentificationResult identify(const Identification& problem, const SolveOptions& options) {
  check_identification(problem);
  return Identifier(problem, options).run();
}

}  // namespace lithe
