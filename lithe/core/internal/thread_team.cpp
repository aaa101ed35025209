#include "lithe/core/internal/thread_team.h"

#include <thread>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/core/internal/spin.h"

namespace lithe::internal {

namespace {

constexpr int kMostItems = 0xffff;

std::uint64_t word(std::uint32_t round, int count, int next) {
  return (static_cast<std::uint64_t>(round) << 32U) | (static_cast<std::uint64_t>(count) << 16U) |
         static_cast<std::uint64_t>(next);
}
int count_of(std::uint64_t items) { return static_cast<int>((items >> 16U) & 0xffffU); }
int next_of(std::uint64_t items) { return static_cast<int>(items & 0xffffU); }

// However long it takes; a thread that waits for long offers its core to others.
template <class Look>
void watch_until(Look seen) {
  while (!spin_until(seen)) std::this_thread::yield();
}

}  // namespace

bool ThreadTeam::take_one() {
  std::uint64_t items = items_.load(std::memory_order_acquire);
  while (next_of(items) < count_of(items)) {
    if (!items_.compare_exchange_weak(items, items + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    try {
      call_(body_, next_of(items));
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
    done_.fetch_add(1, std::memory_order_release);
    return true;
  }
  return false;
}

void ThreadTeam::serve() {
  watch_until([&] {
    while (take_one()) {
    }
    return !working_.load(std::memory_order_acquire);
  });
}

void ThreadTeam::run(int count) {
  LITHE_CHECK(count <= kMostItems, "{} items were shared at once; {} are the most", count, kMostItems);
  done_.store(0, std::memory_order_relaxed);
  items_.store(word(++round_, count, 0), std::memory_order_release);
  while (take_one()) {
  }
  watch_until([&] { return done_.load(std::memory_order_acquire) == count; });
  if (failed_.exchange(false)) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace lithe::internal
