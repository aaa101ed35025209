#include "lithe/contact/correction_energy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lithe::internal {

namespace {

// What targets leave of b when they are reduced counts as rounding up to this share of the largest b.
constexpr double kRounding = 1e-13;
// Through a lever of thirty to one a row presses on a thousand times the mass; what seems heavier presses on a joint's axis.
constexpr double kMostLever = 1000;

// Whether a target of this rule is there to take an error back.
bool corrects(TargetRule rule) {
  return rule == TargetRule::correction || rule == TargetRule::capped || rule == TargetRule::reduced;
}

// Calls visit(constraint, row) for each row whose target is there to correct an error.
template <class Problem, class Visit>
void for_each_correction(Problem& problem, int island_index, Visit visit) {
  const Island& island = problem.islands.islands()[island_index];
  for (int c = 0; c < island.constraint_count; ++c) {
    auto& constraint = problem.constraints[island.first_constraint + c];
    if (!corrects(constraint.rule)) continue;
    const bool two_sided = problem.rows[constraint.first_row].kind == RowKind::two_sided;
    const int rows = two_sided ? constraint.rows : 1;  // friction rows have no target
    for (int row = constraint.first_row; row < constraint.first_row + rows; ++row) {
      if (problem.target[row] > 0 || two_sided) visit(constraint, row);
    }
  }
}

}  // namespace

double energy_gain(const ContactProblem& problem, int island_index, std::span<const double> f,
                   std::span<const double> w) {
  const Island& island = problem.islands.islands()[island_index];
  double gain = 0;
  for (int c = 0; c < island.constraint_count; ++c) {
    const Constraint& constraint = problem.constraints[island.first_constraint + c];
    double work = 0;
    for (int row = constraint.first_row; row < constraint.first_row + constraint.rows; ++row) {
      const int i = row - island.first_row;
      // J v⁺ = w + d and J v_free = b + d, but for a motor's compliance.
      const double velocity = w[i] + problem.target[row] - problem.compliance[row] * f[i];
      work += f[i] * (velocity + problem.b[row] + problem.target[row]) / 2;
    }
    // Motors may put in what they like; what they take out counts.
    gain += constraint.kind == ConstraintKind::motor ? std::min(work, 0.0) : work;
  }
  return gain;
}

// The formula of the header, over the rows that correct something.
double energy_allowance(const ContactProblem& problem, int island_index, double mass, double gravity_step) {
  const Island& island = problem.islands.islands()[island_index];
  const LcpDiagonal diagonal = problem.diagonal(island_index);
  double largest = 0;
  for (int i = 0; i < island.row_count; ++i) largest = std::max(largest, diagonal[i]);
  double fastest = 0;
  double alone = 0;
  for_each_correction(problem, island_index, [&](const Constraint&, int row) {
    const double response = diagonal[row - island.first_row];
    if (!(response > kInertShare * largest)) return;  // no impulse moves it
    const double d = std::abs(problem.target[row]);
    fastest = std::max(fastest, d);
    alone += d * (d + std::abs(problem.b[row])) * std::min(1 / response, kMostLever * mass);
  });
  return mass * fastest * (fastest + gravity_step) + alone;
}

bool reduce_correction(ContactProblem& problem, int island_index, double share) {
  const Island& island = problem.islands.islands()[island_index];
  const std::span<double> b = std::span(problem.b).subspan(island.first_row, island.row_count);
  const auto larger = [](double largest, double x) { return std::max(largest, std::abs(x)); };
  const double scale = std::accumulate(b.begin(), b.end(), 0.0, larger);
  bool any = false;
  for_each_correction(problem, island_index, [&](Constraint& constraint, int row) {
    any = true;
    problem.b[row] += (1 - share) * problem.target[row];
    problem.target[row] *= share;
    constraint.rule = TargetRule::reduced;
  });
  if (!any) return false;
  // Often nothing moved but the targets. What rounding has left of them is no velocity to solve for.
  for (double& velocity : b) {
    if (std::abs(velocity) <= kRounding * scale) velocity = 0;
  }
  return true;
}

}  // namespace lithe::internal
