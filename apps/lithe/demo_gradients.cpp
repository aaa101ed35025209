#include <fmt/core.h>

#include <algorithm>

#include "apps/lithe/demo.h"
#include "apps/lithe/stopwatch.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/step/finite_differences.h"
#include "lithe/step/step_vjp.h"
#include "lithe/step/world.h"

namespace lithe::cli {

namespace {

constexpr int kRuns = 200;

// How far two blocks differ, relative to the larger one.
double difference(const MatX& a, const MatX& b) {
  return (a - b).cwiseAbs().maxCoeff() / std::max(1.0, b.cwiseAbs().maxCoeff());
}

void show_scene(const char* name, int steps) {
  const Scene start = scene(name);
  World world(start.model);
  world.options.constraints.time_step = start.time_step;
  world.set_state(start.q, start.v);
  const Control control = {.motor_targets = start.motor_targets};
  for (int i = 0; i < steps; ++i) world.step(control);
  const Model& model = world.model();
  const StepRecord& record = world.record();

  StepJacobians analytic, numeric;
  StepVjp vjp;
  const StepCotangent by_next = {.q = VecX::Ones(model.nv()), .v = VecX::Ones(model.nv())};
  const GradientOptions exact = GradientOptions::exact();
  const double all = best_seconds(kRuns, [&] { step_jacobians(model, record, analytic, StepBlocks::state, exact); });
  const double one = best_seconds(kRuns, [&] { step_vjp(model, record, by_next, vjp, exact); });
  DifferenceReport report;
  const double central = best_seconds(5, [&] { report = step_differences(model, record, numeric); });
  const double error =
      std::max({difference(analytic.dvnext_dq, numeric.dvnext_dq), difference(analytic.dvnext_dv, numeric.dvnext_dv),
                difference(analytic.dvnext_dtau, numeric.dvnext_dtau)});
  fmt::print("  {:<14}{:>5}{:>9}{:>7}{:>12.1f}{:>9.1f}{:>15.0f}{:>9.0f}×{:>12.0e}{}\n", name, model.nv(),
             analytic.report.clamping, analytic.report.rank, 1e6 * all, 1e6 * one, 1e6 * central, central / all, error,
             report.switched > 0 ? "  (differences met another contact mode)" : "");
}

}  // namespace

void show_gradients() {
  fmt::print("Gradients through contact: the derivatives of a whole step by q, v and τ, in µs.\n\n");
  fmt::print("  {:<14}{:>5}{:>9}{:>7}{:>12}{:>9}{:>15}{:>10}{:>12}\n", "scene", "DoFs", "clamping", "rank", "Jacobians",
             "VJP", "central diff.", "ratio", "difference");
  show_scene("humanoid", 1);
  show_scene("half_cheetah", 50);
  show_scene("stack:5", 20);
}

}  // namespace lithe::cli
