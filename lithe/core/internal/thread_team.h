#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <type_traits>

#include "lithe/core/thread_pool.h"

namespace lithe::internal {

// Threads that stay awake while one of them leads, for work that comes in small pieces: to wake a sleeping thread takes as long as
// thirty products of matrices.
//
//   ThreadTeam team(pool);
//   team.lead([&] {
//     for (...) {
//       team.share(blocks, [&](int block) { ... });  // by whoever is free
//       ...                                          // by the leader alone
//     }
//   });
//
// Who does which item is a matter of chance, so items write to their own slots, as in a ThreadPool, and the bits are the same.
class ThreadTeam {
 public:
  explicit ThreadTeam(ThreadPool& pool) : pool_(pool) {}
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // Runs `work` on the calling thread; the pool's other threads do `first`, each with its number, and then wait, awake, for what the
  // leader shares. Without other threads, as inside a parallel_for(), the leader does it all.
  template <class Work, class First>
  void lead(Work&& work, First&& first) {
    working_.store(true, std::memory_order_relaxed);
    pool_.parallel_for(pool_.size(), [&](int item, int worker) {
      if (item == 0) {
        const Dismissal at_the_end(*this);
        work();
      } else if (working_.load(std::memory_order_acquire)) {
        first(worker);
        serve();
      }
    });
  }
  template <class Work>
  void lead(Work&& work) {
    lead(work, [](int) {});
  }

  // From inside lead(), by the leader: body(item) for every item from 0 up to `count` < 65536. Returns when all are done; the first
  // exception that was thrown is passed on. Elsewhere, and for one item, it is a loop.
  template <class Body>
  void share(int count, Body&& body) {
    if (count <= 1 || pool_.size() == 1 || !working_.load(std::memory_order_relaxed)) {
      for (int item = 0; item < count; ++item) body(item);
      return;
    }
    using Target = std::remove_reference_t<Body>;
    call_ = [](const void* target, int item) { (*static_cast<Target*>(const_cast<void*>(target)))(item); };
    body_ = &body;
    run(count);
  }

 private:
  struct Dismissal {
    explicit Dismissal(ThreadTeam& team) : team_(team) {}
    ~Dismissal() { team_.working_.store(false, std::memory_order_release); }
    Dismissal(const Dismissal&) = delete;
    Dismissal& operator=(const Dismissal&) = delete;
    ThreadTeam& team_;
  };

  void run(int count);
  void serve();
  bool take_one();

  ThreadPool& pool_;
  void (*call_)(const void* body, int item) = nullptr;
  const void* body_ = nullptr;
  std::uint32_t round_ = 0;
  // The round, how many items it has and the next of them to be taken, in one word: who takes an item knows that it is of the round at
  // hand, and that call_ and body_ stay until it is done.
  alignas(64) std::atomic<std::uint64_t> items_ = 0;
  alignas(64) std::atomic<int> done_ = 0;
  alignas(64) std::atomic<bool> working_ = false;
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;
};

}  // namespace lithe::internal
