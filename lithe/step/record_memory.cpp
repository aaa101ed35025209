#include "lithe/core/heap_size.h"
#include "lithe/step/step_record.h"

namespace lithe {

namespace {

constexpr std::size_t kLine = 64;  // bytes of a cache line

void prefetch(const void* from, std::size_t bytes) {
  const char* at = static_cast<const char*>(from);
  for (std::size_t k = 0; k < bytes; k += kLine) __builtin_prefetch(at + k, 0, 2);
}

template <class... Vectors>
void prefetch_all(const Vectors&... vectors) {
  (prefetch(vectors.data(), static_cast<std::size_t>(vectors.size()) * sizeof(*vectors.data())), ...);
}

}  // namespace

void prefetch_record(const StepRecord& record) { prefetch(&record, sizeof(record)); }

void prefetch_buffers(const StepRecord& r) {
  prefetch_all(r.inverse.rows, r.contacts.contacts, r.problem.constraints, r.problem.target, r.problem.diagonal,
               r.classes, r.f, r.w, r.state.q, r.state.v, r.next.q, r.next.v);
}

std::size_t memory_of(const StepRecord& r) {
  return sizeof(StepRecord) + r.warm_start.memory() +
         heap_sizes(r.problem.constraints, r.problem.constraint_of_contact, r.problem.islands, r.problem.target,
                    r.problem.target_dropped, r.problem.diagonal) +
         heap_sizes(r.state.q, r.state.v, r.control.tau, r.control.motor_targets, r.control.wrenches, r.inverse.rows,
                    r.inverse.z, r.contacts.contacts, r.island_masses, r.classes, r.f, r.w, r.reports, r.next.q,
                    r.next.v);
}

}  // namespace lithe
