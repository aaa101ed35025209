#include "lithe/core/heap_size.h"
#include "lithe/step/step_record.h"

namespace lithe {

std::size_t memory_of(const StepRecord& r) {
  return sizeof(StepRecord) + r.warm_start.memory() +
         heap_sizes(r.problem.constraints, r.problem.constraint_of_contact, r.problem.islands, r.problem.target,
                    r.problem.target_dropped, r.problem.diagonal) +
         heap_sizes(r.state.q, r.state.v, r.control.tau, r.control.motor_targets, r.control.wrenches, r.inverse.rows,
                    r.inverse.z, r.contacts.contacts, r.island_masses, r.classes, r.f, r.w, r.reports, r.next.q,
                    r.next.v);
}

}  // namespace lithe
