#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

namespace lithe {

// Shares out items of work, which know nothing of one another, among a number of workers.
//
//   ThreadPool pool(4);
//   pool.parallel_for(count, [&](int item, int worker) { results[item] = work(inputs[item], workspaces[worker]); });
//
// The same bits on any number of threads, by design: each item writes to its own slot, a worker's memory carries nothing
// from one item to the next, and whoever sums over items does so afterwards, in their order. Worker w of n does the items
// from ⌊w·count/n⌋ up to ⌊(w+1)·count/n⌋, so who does what is no matter of chance either.
//
// The threads themselves are the process's: all pools together have as many as the largest of them has use for, started when
// it first has. A worker is done by the same thread each time as long as no two pools are at work at once, and by the caller
// where no thread is free. A thread that is done stays awake for some tens of microseconds: jobs that follow one another
// closely start at once.
//
// A process that was forked starts threads of its own. At the end of the process they end as well.
class ThreadPool {
 public:
  // The thread that calls parallel_for() is one of them and works too: a pool of 1 needs none. 0: one per core.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()); }
  // The first of the `count` items that a worker does, or `count` if there is no such worker.
  int first_item(int count, int worker) const;

  // body(item, worker) for every item from 0 up to `count`, worker < size(). Returns when all is done. If items throw, the
  // exception of the first of them (by number) is passed on; later items may then have been done or not.
  //
  // From inside a body, of this pool or another, it runs all items on the spot as worker 0. Calls from several threads take
  // turns; those of different pools do not wait for one another. Allocates nothing once the threads are there.
  template <class Body>
  void parallel_for(int count, Body&& body) {
    using Target = std::remove_reference_t<Body>;
    const auto call = [](const void* target, int item, int worker) {
      (*static_cast<Target*>(const_cast<void*>(target)))(item, worker);
    };
    run({count, call, &body});
  }

  // Threads that this process has started for all pools.
  static int threads_in_use();

 private:
  friend class SharedThreads;
  struct Job {
    int count = 0;
    void (*call)(const void* body, int item, int worker) = nullptr;
    const void* body = nullptr;
  };
  struct Worker {
    std::exception_ptr error;
    int thread = -1;           // that its part was offered to; −1: none
    std::uint64_t ticket = 0;  // of the offer
  };
  // What waiting for one another takes. A forked process starts with a new one: the old one may be locked for ever.
  struct Meeting {
    std::mutex callers;  // one call at a time
    std::mutex mutex;    // guards `pending` where it reaches zero
    std::condition_variable done;
    std::atomic<int> pending = 0;  // parts that threads have taken over and not finished
  };

  void run(const Job& job);
  void run_part(const Job& job, int workers, int worker);
  void share(const Job& job, int workers);
  void finish_part();  // called by a thread that has done one

  std::vector<Worker> workers_;
  std::unique_ptr<Meeting> meeting_;
  std::uint64_t process_ = 0;  // that the meeting is of
  Job job_;                    // under way
  int parts_ = 0;              // of it
};

}  // namespace lithe
