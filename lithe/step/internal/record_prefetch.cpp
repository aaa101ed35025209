#include "lithe/step/internal/record_prefetch.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "lithe/core/internal/prefetch.h"
#include "lithe/step/internal/step_tape.h"

namespace lithe::internal {

namespace {

// Bytes: as many cache lines as are fetched at a time without waiting, or a few more.
constexpr std::size_t kAtOnce = 2048;

// Memory that was announced and not asked for yet. It may be gone by then: to ask for it does no harm.
struct Upcoming {
  // A vector, less what was asked for already.
  struct Part {
    const char* start;
    std::size_t size;
  };
  std::array<Part, 12> parts = {};
  std::size_t first = 0, end = 0;

  template <class... Vectors>
  void set(const Vectors&... vectors) {
    static_assert(sizeof...(vectors) <= std::tuple_size_v<decltype(parts)>);
    first = end = 0;
    ((parts[end++] = {reinterpret_cast<const char*>(vectors.data()),
                      static_cast<std::size_t>(vectors.size()) * sizeof(*vectors.data())}),
     ...);
  }
};

constinit thread_local Upcoming upcoming;

}  // namespace

void prefetch_record(const StepRecord& record) { prefetch(&record, sizeof(record)); }

void prefetch_buffers(const StepRecord& r) {
  // In the order in which they are read.
  upcoming.set(r.next.v, r.state.q, r.state.v, r.tape().problem.constraints, r.contacts.contacts,
               r.tape().problem.target, r.tape().inverse.rows, r.f, r.modes, r.reports, r.w, r.tape().problem.diagonal);
  prefetch_more();
}

void prefetch_more() {
  Upcoming& all = upcoming;  // to ask where a thread's memory is takes a call
  for (std::size_t left = kAtOnce; left > 0 && all.first < all.end;) {
    Upcoming::Part& part = all.parts[all.first];
    const std::size_t size = std::min(left, part.size);
    prefetch(part.start, size);
    part.start += size;
    part.size -= size;
    left -= size;
    if (part.size == 0) ++all.first;
  }
}

}  // namespace lithe::internal
