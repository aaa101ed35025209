#include "lithe/optimize/solvers/ipopt_program.h"

#include <IpIpoptApplication.hpp>
#include <IpTNLP.hpp>
#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/optimize/solvers/wall_clock.h"

namespace lithe::internal {

namespace {

using Ipopt::Index;
using Ipopt::Number;

// IPOPT takes bounds beyond ±10¹⁹ for none.
constexpr double kIpoptInfinity = 2e19;

void copy_bound(const VecX& from, Number* to) {
  for (Eigen::Index i = 0; i < from.size(); ++i) to[i] = std::clamp(from[i], -kIpoptInfinity, kIpoptInfinity);
}

// The structure of a sparse matrix as IPOPT takes it: row and column of each entry, counted from 0 (C_STYLE).
void copy_places(const std::vector<ProgramShape::Place>& places, Index* rows, Index* columns) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    rows[i] = places[i].row;
    columns[i] = places[i].column;
  }
}

// Lets IPOPT see a programme. It may ask for the parts in any order; each point is evaluated once and linearized at most once.
class Adapter final : public Ipopt::TNLP {
 public:
  Adapter(NonlinearProgram& program, const IpoptSettings& settings)
      : program_(program), shape_(program.shape()), settings_(settings) {
    result.x = program.start();
  }

  IpoptResult result;
  std::exception_ptr error;  // of the programme or the callback

  bool get_nlp_info(Index& n, Index& m, Index& jacobian, Index& hessian, IndexStyleEnum& style) override {
    n = static_cast<Index>(shape_.lower.size());
    m = static_cast<Index>(shape_.constraint_lower.size());
    jacobian = static_cast<Index>(shape_.jacobian.size());
    hessian = static_cast<Index>(shape_.hessian.size());
    style = C_STYLE;
    return true;
  }

  bool get_bounds_info(Index, Number* lower, Number* upper, Index, Number* c_lower, Number* c_upper) override {
    copy_bound(shape_.lower, lower);
    copy_bound(shape_.upper, upper);
    copy_bound(shape_.constraint_lower, c_lower);
    copy_bound(shape_.constraint_upper, c_upper);
    return true;
  }

  bool get_starting_point(Index, bool, Number* x, bool, Number*, Number*, Index, bool, Number*) override {
    std::ranges::copy(result.x, x);
    return true;
  }

  bool eval_f(Index n, const Number* x, bool, Number& f) override {
    if (!evaluate(n, x)) return false;
    f = program_.objective();
    return true;
  }

  bool eval_g(Index n, const Number* x, bool, Index, Number* c) override {
    if (!evaluate(n, x)) return false;
    std::ranges::copy(program_.constraints(), c);
    return true;
  }

  bool eval_grad_f(Index n, const Number* x, bool, Number* gradient) override {
    if (!linearize(n, x)) return false;
    std::ranges::copy(program_.gradient(), gradient);
    return true;
  }

  bool eval_jac_g(Index n, const Number* x, bool, Index, Index, Index* rows, Index* columns, Number* values) override {
    if (!values) {
      copy_places(shape_.jacobian, rows, columns);
      return true;
    }
    if (!linearize(n, x)) return false;
    std::ranges::copy(program_.jacobian(), values);
    return true;
  }

  bool eval_h(Index n, const Number* x, bool, Number factor, Index, const Number*, bool, Index, Index* rows,
              Index* columns, Number* values) override {
    if (!values) {
      copy_places(shape_.hessian, rows, columns);
      return true;
    }
    if (!linearize(n, x)) return false;
    const VecX& hessian = program_.hessian();
    for (Eigen::Index i = 0; i < hessian.size(); ++i) values[i] = factor * hessian[i];
    return true;
  }

  bool intermediate_callback(Ipopt::AlgorithmMode mode, Index iteration, Number objective, Number primal, Number dual,
                             Number, Number, Number, Number, Number step, Index, const Ipopt::IpoptData*,
                             Ipopt::IpoptCalculatedQuantities*) override {
    if (error) return false;
    if (!settings_.iteration) return true;
    // While it restores feasibility, IPOPT shows the numbers of another problem; ours are those of the last point.
    if (mode == Ipopt::RestorationPhaseMode && evaluated_) {
      objective = program_.objective();
      primal = infeasibility(shape_, program_.constraints());
    }
    const double best = best_infeasibility_ <= settings_.feasibility ? best_objective_ : kInfinity;
    return guarded(
        [&] { return settings_.iteration({iteration, objective, primal, dual, iteration > 0 ? step : 0, best}); });
  }

  void finalize_solution(Ipopt::SolverReturn, Index n, const Number* x, const Number*, const Number*, Index,
                         const Number*, const Number*, Number, const Ipopt::IpoptData*,
                         Ipopt::IpoptCalculatedQuantities*) override {
    result.x = Eigen::Map<const VecX>(x, n);
  }

 private:
  // Exceptions do not cross IPOPT: the first is kept, and whatever is asked next is answered with false.
  template <class Action>
  bool guarded(Action action) {
    if (error) return false;
    try {
      return action();
    } catch (...) {
      error = std::current_exception();
      return false;
    }
  }

  // Makes x the point at hand. IPOPT asks for objective, constraints and derivatives of one point in separate calls;
  // only the first of them computes.
  bool evaluate(Index n, const Number* x) {
    const Eigen::Map<const VecX> at(x, n);
    if (x_.size() == n && x_ == at) return evaluated_;
    x_ = at;
    linearized_ = false;
    const double start = wall_clock();
    evaluated_ = guarded([&] { return x_.allFinite() && program_.evaluate(x_); });
    result.evaluate_seconds += wall_clock() - start;
    return evaluated_;
  }

  bool linearize(Index n, const Number* x) {
    if (!evaluate(n, x)) return false;
    if (linearized_) return true;
    const double start = wall_clock();
    linearized_ = guarded([&] {
      program_.linearize();
      return true;
    });
    result.linearize_seconds += wall_clock() - start;
    if (linearized_) compare_with_best();
    return linearized_;
  }

  // Keeps the best point. This is called where derivatives are asked for, which happens at accepted points only: trial
  // points of a line search do not count.
  void compare_with_best() {
    const double objective = program_.objective(), violation = infeasibility(shape_, program_.constraints());
    const bool feasible = violation <= settings_.feasibility, before = best_infeasibility_ <= settings_.feasibility;
    if (before && !(feasible && objective < best_objective_)) return;
    if (!before && violation >= best_infeasibility_) return;
    result.best = x_;
    best_objective_ = objective;
    best_infeasibility_ = violation;
  }

  NonlinearProgram& program_;
  const ProgramShape& shape_;
  const IpoptSettings& settings_;
  VecX x_;
  bool evaluated_ = false, linearized_ = false;
  double best_objective_ = kInfinity, best_infeasibility_ = kInfinity;
};

// What a status of IPOPT means for the solver, and its name for messages.
struct Named {
  IpoptOutcome outcome;
  const char* words;
};

// Statuses by what they mean for a solver. What IPOPT calls acceptable met no tolerance of ours, so it counts as no
// progress.
Named name_of(Ipopt::ApplicationReturnStatus status) {
  switch (status) {
    case Ipopt::Solve_Succeeded: return {IpoptOutcome::solved, "solved"};
    case Ipopt::Solved_To_Acceptable_Level: return {IpoptOutcome::no_progress, "solved to an acceptable level"};
    case Ipopt::Feasible_Point_Found: return {IpoptOutcome::solved, "feasible point found"};
    case Ipopt::Infeasible_Problem_Detected: return {IpoptOutcome::infeasible, "infeasible problem detected"};
    case Ipopt::Search_Direction_Becomes_Too_Small: return {IpoptOutcome::no_progress, "the step became too small"};
    case Ipopt::Diverging_Iterates: return {IpoptOutcome::no_progress, "the iterates diverge"};
    case Ipopt::Restoration_Failed: return {IpoptOutcome::no_progress, "the restoration of feasibility failed"};
    case Ipopt::Error_In_Step_Computation: return {IpoptOutcome::no_progress, "no step could be computed"};
    case Ipopt::User_Requested_Stop: return {IpoptOutcome::stopped, "stopped"};
    case Ipopt::Maximum_Iterations_Exceeded: return {IpoptOutcome::stopped, "too many iterations"};
    case Ipopt::Maximum_CpuTime_Exceeded: return {IpoptOutcome::stopped, "too much time"};
    case Ipopt::Not_Enough_Degrees_Of_Freedom: return {IpoptOutcome::overdetermined, "not enough degrees of freedom"};
    case Ipopt::Invalid_Number_Detected: return {IpoptOutcome::not_finite, "a number is not finite"};
    case Ipopt::Insufficient_Memory: return {IpoptOutcome::failed, "not enough memory"};
    default: return {IpoptOutcome::failed, "IPOPT failed"};
  }
}

// IPOPT's options, by their names in its manual. Limits of time and iterations are the callback's affair.
void set_options(Ipopt::OptionsList& options, const IpoptSettings& settings) {
  options.SetIntegerValue("print_level", 0);
  options.SetStringValue("sb", "yes");  // no banner
  options.SetStringValue("linear_solver", "mumps");
  options.SetNumericValue("tol", settings.tolerance);
  options.SetNumericValue("constr_viol_tol", settings.feasibility);
  options.SetIntegerValue("acceptable_iter", 0);  // nothing less than `tol` counts as solved
  options.SetNumericValue("mu_init", settings.barrier);
  // How far the start is moved inside its bounds. With a small barrier it is meant to be near them.
  const double push = std::min(1e-2, settings.barrier);
  options.SetNumericValue("bound_push", push);
  options.SetNumericValue("bound_frac", push);
  options.SetNumericValue("bound_relax_factor", 0);  // what is outside of its bounds would be moved inside at the end
  options.SetIntegerValue("max_iter", 1000000000);   // the callback counts
  if (!settings.hessian) options.SetStringValue("hessian_approximation", "limited-memory");
}

}  // namespace

IpoptResult solve_with_ipopt(NonlinearProgram& program, const IpoptSettings& settings) {
  // Recursive: a callback may solve another programme.
  static std::recursive_mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const Ipopt::SmartPtr<Ipopt::IpoptApplication> application = new Ipopt::IpoptApplication(false);
  set_options(*application->Options(), settings);
  const Ipopt::ApplicationReturnStatus ready = application->Initialize("");
  LITHE_CHECK(ready == Ipopt::Solve_Succeeded, "IPOPT does not start: {}", name_of(ready).words);
  const Ipopt::SmartPtr<Adapter> adapter = new Adapter(program, settings);
  const Ipopt::ApplicationReturnStatus status = application->OptimizeTNLP(Ipopt::GetRawPtr(adapter));
  if (adapter->error) std::rethrow_exception(adapter->error);
  const auto [outcome, words] = name_of(status);
  adapter->result.outcome = outcome;
  adapter->result.words = words;
  return std::move(adapter->result);
}

}  // namespace lithe::internal
