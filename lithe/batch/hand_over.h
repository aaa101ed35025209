#pragma once

#include <utility>

#include "lithe/step/step_record.h"

namespace lithe {

// Colliders and workspaces carry nothing over: records of one model need them only once, so they go along from the record
// of the last step to that of the next.
inline void hand_over(StepRecord& from, StepRecord& to) {
  if (&from == &to) return;
  if (to.colliders != from.colliders) to.colliders = from.colliders;
  to.collider_revision = from.collider_revision;
  std::swap(to.detection, from.detection);
  std::swap(to.lcp, from.lcp);
}

}  // namespace lithe
