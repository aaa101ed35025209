#include "lithe/step/gradients/complementarity.h"

#include <algorithm>
#include <cmath>

#include "lithe/step/gradients/bounce.h"
#include "lithe/step/gradients/mode_vjp.h"
#include "lithe/step/internal/recorded_stages.h"

namespace lithe::internal {

namespace {

// Shares of the largest |s| below this are rounding: such rows keep their mode.
constexpr double kRounding = 1e-9;
// The second candidate has to be better by more than rounding.
constexpr double kBetter = 1 + 1e-9;

// Calls visit(constraint) for contacts and limits, apart from contacts that bounce.
template <class Visit>
void for_each_one_sided(const ContactProblem& problem, Visit visit) {
  for (const Constraint& constraint : problem.constraints) {
    const bool one_sided = problem.rows[constraint.first_row].kind == RowKind::one_sided;
    if (one_sided && constraint.rule != TargetRule::restitution) visit(constraint);
  }
}

// s = Kᵀλ with every one-sided row in C; λ is what mode_vjp() has left in the workspace.
void find_wishes(const Model& model, const StepRecord& record, const StepCotangent& by_next, StepVjpWorkspace& work) {
  const ContactProblem& problem = problem_of(record);
  ComplementarityWorkspace& own = work.complementarity;
  own.modes = record.modes;
  for_each_one_sided(problem,
                     [&](const Constraint& constraint) { own.modes[constraint.first_row] = RowMode::clamping; });
  own.response.compute(model.tree(), problem, own.modes, record.reports);
  grow(own.touches, problem.touches.size);
  grow(own.s, problem.rows.size() + kLanes);
  multiply_transposed(model, record.tape().inverse, work.lambda, work.z);
  problem.touches.product(model.tree(), work.z, own.touches.data());
  const double* f_bar = by_next.f.size() > 0 ? by_next.f.data() : nullptr;
  grow(own.s_hat, own.response.size() + kLanes);
  own.response.respond_transposed(problem, own.touches.data(), f_bar, own.s_hat.data());
  own.response.to_rows(problem, own.s_hat.data(), own.s.data());
}

// The second classification. Returns how many rows differ from the step's.
int follow_wishes(const StepRecord& record, ComplementarityWorkspace& own) {
  const ContactProblem& problem = problem_of(record);
  double largest = 0;
  for_each_one_sided(problem, [&](const Constraint& constraint) {
    largest = std::max(largest, std::abs(own.s[constraint.first_row]));
  });
  own.modes = record.modes;
  for_each_one_sided(problem, [&](const Constraint& constraint) {
    const int row = constraint.first_row;
    if (!(std::abs(own.s[row]) > kRounding * largest)) return;
    if (own.s[row] > 0) {
      own.modes[row] = RowMode::clamping;
    } else {
      std::fill_n(own.modes.begin() + row, constraint.rows, RowMode::separating);
    }
  });
  int relabelled = 0;
  for (std::size_t i = 0; i < own.modes.size(); ++i) relabelled += own.modes[i] != record.modes[i] ? 1 : 0;
  return relabelled;
}

// Puts the gradient in `out` aside, or back.
void exchange(ComplementarityWorkspace& own, StepVjp& out) {
  std::swap(own.q, out.q);
  std::swap(own.v, out.v);
  std::swap(own.tau, out.tau);
  std::swap(own.parameters, out.parameters);
  std::swap(own.report, out.report);
}

// How large a gradient is, by v and by τ: the measure by which the two candidates are compared.
double weight_of(const StepVjp& gradient, double time_step) {
  return gradient.v.squaredNorm() + gradient.tau.squaredNorm() / time_step;
}

// Puts the second candidate into `out` if it is the larger one.
void try_second(const Model& model, const StepRecord& record, const StepCotangent& by_next,
                const StepParameters* parameters, StepVjp& out) {
  StepVjpWorkspace& work = out.workspace();
  ComplementarityWorkspace& own = work.complementarity;
  find_wishes(model, record, by_next, work);
  const int relabelled = follow_wishes(record, own);
  if (relabelled == 0) return;
  const double h = record.options.time_step;
  const double first = weight_of(out, h);
  exchange(own, out);
  const bool finite = mode_vjp(model, record, own.modes, by_next, parameters, out);
  if (finite && weight_of(out, h) > kBetter * first) {
    out.report.mode = GradientMode::complementarity_aware;
    out.report.relabelled_rows = relabelled;
  } else {
    exchange(own, out);
  }
}

}  // namespace

void complementarity_aware_vjp(const Model& model, const StepRecord& record, const StepCotangent& by_next,
                               const GradientOptions& options, const StepParameters* parameters, StepVjp& out) {
  const bool finite = mode_vjp(model, record, record.modes, by_next, parameters, out);
  if (!finite || out.report.diverged) return;
  if (!record.f.empty()) try_second(model, record, by_next, parameters, out);
  if (options.bounce != Bounce::off && bounces(record))
    add_bounce(model, record, by_next, options.bounce, out, parameters);
}

std::span<const RowMode> modes_of(StepVjp& vjp, const StepRecord& record) {
  if (vjp.report.mode != GradientMode::complementarity_aware) return record.modes;
  return vjp.workspace().complementarity.modes;
}

}  // namespace lithe::internal
