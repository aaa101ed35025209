#include "lithe/contact/correction_energy.h"

#include <algorithm>
#include <cmath>

namespace lithe {

namespace {

bool corrects(const Constraint& constraint) {
  return constraint.rule == TargetRule::correction || constraint.rule == TargetRule::capped;
}

// Calls visit(row) for each row whose target is there to correct an error.
template <class Visit>
void for_each_correction(const ContactProblem& problem, int island_index, Visit visit) {
  const Island& island = problem.islands.islands()[island_index];
  for (int c = 0; c < island.constraint_count; ++c) {
    const Constraint& constraint = problem.constraints[island.first_constraint + c];
    if (!corrects(constraint)) continue;
    const bool two_sided = problem.rows[constraint.first_row].kind == RowKind::two_sided;
    const int rows = two_sided ? constraint.rows : 1;  // friction rows have no target
    for (int row = constraint.first_row; row < constraint.first_row + rows; ++row) {
      if (problem.target[row] > 0 || two_sided) visit(row);
    }
  }
}

}  // namespace

bool correction_does_too_much(const ContactProblem& problem, int island_index, std::span<const double> f, double mass) {
  const Island& island = problem.islands.islands()[island_index];
  double work = 0;
  double speed = 0;
  for_each_correction(problem, island_index, [&](int row) {
    work += problem.target[row] * f[row - island.first_row];
    speed += std::abs(problem.target[row]);
  });
  if (work <= 2 * mass * speed * speed) return false;  // the usual case

  double fastest = 0;
  for (int row = island.first_row; row < island.first_row + island.row_count; ++row) {
    fastest = std::max(fastest, std::abs(problem.b[row]));
  }
  if (work <= 2 * mass * speed * (speed + fastest)) return false;
  if (problem.A_start[island_index] < 0) return true;  // A was not formed; there is no second opinion

  const BoxedLcp lcp = problem.lcp(island_index);
  double alone = 0;  // what each row would need by itself
  for_each_correction(problem, island_index, [&](int row) {
    const int i = row - island.first_row;
    const double d = std::abs(problem.target[row]);
    if (lcp.at(i, i) > 0) alone += d * (d + std::abs(problem.b[row])) / lcp.at(i, i);
  });
  return work > 2 * alone;
}

void drop_correction(ContactProblem& problem, int island_index) {
  for_each_correction(problem, island_index, [&](int row) {
    problem.b[row] += problem.target[row];
    problem.target[row] = 0;
  });
  const Island& island = problem.islands.islands()[island_index];
  for (int c = 0; c < island.constraint_count; ++c) {
    Constraint& constraint = problem.constraints[island.first_constraint + c];
    if (corrects(constraint) && problem.target[constraint.first_row] == 0) constraint.rule = TargetRule::none;
  }
}

}  // namespace lithe
