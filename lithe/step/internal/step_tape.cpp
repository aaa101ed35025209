#include "lithe/step/internal/step_tape.h"

#include <algorithm>
#include <span>

#include "lithe/contact/contact_problem.h"

namespace lithe::internal {

void keep_problem(const ContactProblem& problem, RecordedProblem& out) {
  const std::size_t rows = problem.rows.size();
  const std::vector<Island>& islands = problem.islands.islands();
  // Copies take no more room than they need.
  out.constraints = problem.constraints;
  out.constraint_of_contact = problem.constraint_of_contact;
  out.islands = islands;
  out.target.assign(problem.target.begin(), problem.target.begin() + static_cast<std::ptrdiff_t>(rows));
  out.diagonal.resize(rows);
  for (std::size_t i = 0; i < islands.size(); ++i) {
    const Island& island = islands[i];
    const LcpDiagonal diagonal = problem.diagonal(static_cast<int>(i));
    for (int k = 0; k < island.row_count; ++k) out.diagonal[island.first_row + k] = diagonal[k];
  }
  const auto dropped = std::span(problem.target_dropped).first(rows);
  // As a rule no target was dropped; then the list stays empty.
  const bool none = std::ranges::find(dropped, 1) == dropped.end();
  out.target_dropped.assign(dropped.begin(), none ? dropped.begin() : dropped.end());
}

}  // namespace lithe::internal
