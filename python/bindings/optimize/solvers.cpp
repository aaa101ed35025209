#include <limits>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "lithe/optimize/ddp.h"
#include "lithe/optimize/hybrid.h"
#include "lithe/optimize/multiple_shooting.h"
#include "python/bindings/optimize/optimize_arguments.h"
#include "python/bindings/optimize/solve_options.h"
#include "python/bindings/parts.h"

namespace lithe::python {

namespace {

using ShootingMethod = SingleShootingOptions::Method;
using SearchMethod = StochasticSearchOptions::Method;

template <class Options>
using Solver = Solution (*)(const Problem&, const Plan&, const Options&);

template <class Options>
PythonSolution run(Solver<Options> solver, const PythonProblem& given, const PlanIn& initial,
                   const CommonOptions& common, Options options) {
  return in_python_words([&] {
    const ReadyProblem problem = ready(given);
    check_problem(problem.problem);
    const Plan plan = initial.get("initial", problem.problem);
    common.write(options, problem.state);
    Solution solution;
    {
      const nb::gil_scoped_release released;
      solution = solver(problem.problem, plan, options);
    }
    return to_python(problem.problem, std::move(solution), options, *problem.state);
  });
}

// A solver with its own options behind those that all have: `set(options, own...)` writes them.
template <class Options, class... Own, class... Extra>
void def_solver(nb::module_& m, const char* name, Solver<Options> solver, Options (*set)(Own...), const char* doc,
                const Extra&... extra) {
  m.def(
      name,
      [solver, set](const PythonProblem& problem, const PlanIn& initial, int max_iterations,
                    std::optional<double> max_seconds, double tolerance, double feasibility, int threads,
                    const std::optional<GradientOptions>& gradient, const ProgressIn& progress, Own... own) {
        return run(solver, problem, initial,
                   {max_iterations, max_seconds, tolerance, feasibility, threads, gradient, progress}, set(own...));
      },
      nb::arg("problem"), nb::arg("initial").none() = nb::none(), nb::kw_only(), nb::arg("max_iterations") = 200,
      nb::arg("max_seconds") = nb::none(), nb::arg("tolerance") = 1e-6, nb::arg("feasibility") = 1e-6,
      nb::arg("threads") = 1, nb::arg("gradient") = nb::none(), nb::arg("progress") = nb::none(), extra..., doc);
}

SingleShootingOptions shooting_options(const Choice<ShootingMethod>& method, double rate, int memory) {
  SingleShootingOptions options;
  options.method = method.get("method");
  options.rate = rate;
  options.memory = memory;
  return options;
}

MultipleShootingOptions multiple_options(int shot, bool gauss_newton, double initial_barrier) {
  MultipleShootingOptions options;
  options.shot = shot;
  options.gauss_newton = gauss_newton;
  options.initial_barrier = initial_barrier;
  return options;
}

StochasticSearchOptions search_options(std::uint64_t seed, const Choice<SearchMethod>& method, int samples,
                                       double elite, double deviation, double least_deviation, double temperature,
                                       double smoothing) {
  StochasticSearchOptions options;
  options.seed = seed;
  options.method = method.get("method");
  options.samples = samples;
  options.elite = elite;
  options.deviation = deviation;
  options.least_deviation = least_deviation;
  options.temperature = temperature;
  options.smoothing = smoothing;
  return options;
}

HybridOptions hybrid_options(std::uint64_t seed, int rounds, int search_iterations, int gradient_iterations,
                             const Choice<SearchMethod>& search, int samples, double elite, double deviation,
                             double least_deviation, double temperature, double smoothing,
                             const Choice<ShootingMethod>& shooting, double rate, int memory) {
  HybridOptions options;
  options.seed = seed;
  options.rounds = rounds;
  options.search_iterations = search_iterations;
  options.gradient_iterations = gradient_iterations;
  options.search = search_options(seed, search, samples, elite, deviation, least_deviation, temperature, smoothing);
  options.shooting = shooting_options(shooting, rate, memory);
  return options;
}

void bind_methods(nb::module_& m) {
  print_names(
      nb::enum_<ShootingMethod>(m, "ShootingMethod", "How single_shooting() walks along its gradient.", nb::is_str())
          .str_value("lbfgs", ShootingMethod::lbfgs, "lbfgs", "Projected L-BFGS with a line search: downhill only.")
          .str_value("adam", ShootingMethod::adam, "adam", "Kingma & Ba 2015.")
          .str_value("descent", ShootingMethod::gradient_descent, "descent",
                     "x ← x − rate · gradient, clamped; no line search."));
  print_names(
      nb::enum_<SearchMethod>(m, "SearchMethod", "How stochastic_search() moves its distribution.", nb::is_str())
          .str_value("cem", SearchMethod::cem, "cem", "Cross entropy: mean and deviation of the best few.")
          .str_value("mppi", SearchMethod::mppi, "mppi", "Exponential weights (path integral), fixed deviation."));
}

constexpr const char* kDdpDoc =
    R"(Differential dynamic programming with Gauss–Newton Hessians (iLQR): Riccati recursions along the motion.

For most problems. Controls stay within their bounds; constraints are kept by an augmented Lagrangian; a guess of
the states in the initial plan is taken, and its gaps close. It chooses controls only: a free start or free
parameters are an Error.

`initial` is a Plan, a Solution, controls (knots, m) or (m,) for all knots, or None: no forces. `gains=True` adds
feedback gains along the motion to the solution.

Of all solvers: `max_iterations`, `max_seconds` (None: no limit), `tolerance` of the first-order conditions,
`feasibility` of the constraints. `threads` (0: one per core) changes no bit of the result. `gradient` is a
GradientOptions: how steps are differentiated. `progress(line)` is called with a Progress after each iteration;
returning False stops. Ctrl-C (in the main thread) stops after the iteration as well, and is not raised: the best so
far is returned, with the reason 'interrupted'. What `progress` or a residual raises is passed on as it is. Other
threads of Python run meanwhile. The problem is copied first, and may be changed.)";

constexpr const char* kSingleDoc =
    R"(Gradients of the whole motion by all that is free, by VJPs back through all steps, and a method to walk along
them.

For free starts and free parameters, and for first-order methods; the motion must not be chaotic over its whole
length. `method` is 'lbfgs' (downhill only), 'adam' or 'descent', with `rate`; `memory` is the pairs that L-BFGS
keeps. Bounds are kept by projection, constraints by an augmented Lagrangian. ddp() explains the options of all
solvers.)";

constexpr const char* kMultipleDoc =
    R"(The motion is cut into shots of `shot` steps (a multiple of Problem.hold); the states between them are free,
and that they meet is a constraint of a sparse nonlinear programme, which IPOPT solves.

For constraints that must hold exactly, long or unstable motions, and guesses of the states. A shot should contain
its contacts. `gauss_newton=False`, a limited-memory Hessian, is better where constraints rule. `initial_barrier` is
IPOPT's mu_init: for a warm start smaller, such as 1e-6. Solves in several threads of one program take turns. ddp()
explains the options of all solvers.)";

constexpr const char* kSearchDoc =
    R"(Draws plans around the best, weighs them by their cost and moves the distribution towards them. No
derivatives.

For a start where gradients lead nowhere: no contact yet, many local optima. `method` is 'cem' or 'mppi'; `samples`
per iteration, half of them mirrored; `elite` the share of them that cem keeps; `deviation` of the first samples in
shares of half the range between the bounds, down to `least_deviation`; `temperature` of mppi; `smoothing` of the
noise along time, 0 … 1. Plans depend on `seed` alone. Constraints are met roughly. ddp() explains the options of
all solvers.)";

constexpr const char* kHybridDoc =
    R"(Stochastic search leaves local optima and gradients finish: `rounds` of both, each from the best motion so
far, of `search_iterations` and `gradient_iterations`. `search` and `shooting` are the methods of the two parts, and
the options behind each are those of stochastic_search() and single_shooting(). ddp() explains the options of all
solvers.)";

}  // namespace

void bind_solvers(nb::module_& m) {
  bind_methods(m);
  def_solver(m, "ddp", &ddp, &ddp_options, kDdpDoc, nb::arg("initial_regularization") = 0.0,
             nb::arg("largest_regularization") = 1e10, nb::arg("line_search") = 10, nb::arg("gains") = false);
  def_solver(m, "single_shooting", &single_shooting, &shooting_options, kSingleDoc, nb::arg("method") = "lbfgs",
             nb::arg("rate") = 1e-2, nb::arg("memory") = 10);
  def_solver(m, "multiple_shooting", &multiple_shooting, &multiple_options, kMultipleDoc, nb::arg("shot") = 20,
             nb::arg("gauss_newton") = true, nb::arg("initial_barrier") = 0.1);
  def_solver(m, "stochastic_search", &stochastic_search, &search_options, kSearchDoc, nb::arg("seed") = 1,
             nb::arg("method") = "cem", nb::arg("samples") = 64, nb::arg("elite") = 0.1, nb::arg("deviation") = 0.3,
             nb::arg("least_deviation") = 1e-3, nb::arg("temperature") = 0.1, nb::arg("smoothing") = 0.8);
  def_solver(m, "hybrid", &hybrid, &hybrid_options, kHybridDoc, nb::arg("seed") = 1, nb::arg("rounds") = 5,
             nb::arg("search_iterations") = 10, nb::arg("gradient_iterations") = 20, nb::arg("search") = "cem",
             nb::arg("samples") = 64, nb::arg("elite") = 0.1, nb::arg("deviation") = 0.3,
             nb::arg("least_deviation") = 1e-3, nb::arg("temperature") = 0.1, nb::arg("smoothing") = 0.8,
             nb::arg("shooting") = "lbfgs", nb::arg("rate") = 1e-2, nb::arg("memory") = 10);
}

}  // namespace lithe::python
