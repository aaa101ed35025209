#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lithe/collision/collider_set.h"
#include "lithe/contact/constraint_set.h"
#include "lithe/contact/islands.h"
#include "lithe/dynamics/internal/inverse_factor.h"

namespace lithe::internal {

struct ContactProblem;

// The constraints of a step and what is asked of them: of its ContactProblem, what is not quickly put together again.
struct RecordedProblem {
  std::vector<Constraint> constraints;     // by island; each knows its first row
  std::vector<int> constraint_of_contact;  // its place in `constraints`, by number in the ContactSet
  std::vector<Island> islands;
  std::vector<double> target;                // d, by row
  std::vector<std::uint8_t> target_dropped;  // by row: it contradicted others (LcpFlag::targets_dropped); empty: none
  std::vector<double> diagonal;  // of A, by row; of contacts and loops as folded motors leave it (FoldedMotors)

  int island_count() const { return static_cast<int>(islands.size()); }
  int row_count() const { return static_cast<int>(target.size()); }
  bool is_dropped(int row) const { return !target_dropped.empty() && target_dropped[row] != 0; }
};

// What derivatives of a step need and users do not: the hidden part of a StepRecord, by the stage that wrote it.
struct StepTape {
  // 2 dynamics: the smooth motion
  InverseFactor inverse;  // of M̂
  // 3 collision
  std::shared_ptr<const ColliderSet> colliders;  // of the model's shapes; others when they change
  std::uint64_t collider_revision = 0;
  // 4 contact
  RecordedProblem problem;  // step_stages.h has all of it
  // 5 lcp, by island
  std::vector<double> island_masses;

  std::uint64_t step_number = 0;  // names the step among all that this process takes; copies of a record share it
};

// What the record keeps of the problem, once it is solved.
void keep_problem(const ContactProblem& problem, RecordedProblem& out);

}  // namespace lithe::internal
