#include "lithe/simd/internal/heap_size.h"
#include "lithe/step/internal/step_tape.h"
#include "lithe/step/step_record.h"

namespace lithe {

using namespace internal;

std::size_t memory_of(const StepRecord& r) {
  return sizeof(StepRecord) + r.warm_start.memory() +
         heap_sizes(r.tape().problem.constraints, r.tape().problem.constraint_of_contact, r.tape().problem.islands,
                    r.tape().problem.target, r.tape().problem.target_dropped, r.tape().problem.diagonal) +
         heap_sizes(r.state.q, r.state.v, r.control.tau, r.control.motor_targets, r.control.wrenches,
                    r.tape().inverse.rows, r.tape().inverse.z, r.contacts.contacts, r.tape().island_masses, r.modes,
                    r.f, r.w, r.reports, r.next.q, r.next.v);
}

}  // namespace lithe
