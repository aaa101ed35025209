#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace lithe {

// A fixed number of threads that share out items of work which know nothing of one another.
//
//   ThreadPool pool(4);
//   pool.parallel_for(count, [&](int item, int worker) { results[item] = work(inputs[item], workspaces[worker]); });
//
// The same bits on any number of threads, by design: each item writes to its own slot, a worker's memory carries nothing
// from one item to the next, and whoever sums over items does so afterwards, in their order. Worker w of n does the items
// from ⌊w·count/n⌋ up to ⌊(w+1)·count/n⌋, so who does what is no matter of chance either.
//
// A thread that is done stays awake for some tens of microseconds: jobs that follow one another closely start at once.
class ThreadPool {
 public:
  // The thread that calls parallel_for() is one of them and works too: a pool of 1 starts none. 0: one per core.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(errors_.size()); }
  // The first of the `count` items that a worker does, or `count` if there is no such worker.
  int first_item(int count, int worker) const;

  // body(item, worker) for every item from 0 up to `count`, worker < size(). Returns when all is done. If items throw, the
  // exception of the first of them (by number) is passed on; later items may then have been done or not.
  //
  // From inside a body, of this pool or another, it runs all items on the spot as worker 0. Calls from several threads take
  // turns. Allocates nothing.
  template <class Body>
  void parallel_for(int count, Body&& body) {
    using Target = std::remove_reference_t<Body>;
    const auto call = [](const void* target, int item, int worker) {
      (*static_cast<Target*>(const_cast<void*>(target)))(item, worker);
    };
    run({count, call, &body});
  }

 private:
  struct Job {
    int count = 0;
    void (*call)(const void* body, int item, int worker) = nullptr;
    const void* body = nullptr;
  };

  void run(const Job& job);
  void run_part(const Job& job, int workers, int worker);
  void serve(int worker);  // what a thread of the pool does all day
  void stop();

  std::mutex callers_;  // one call at a time
  std::mutex mutex_;    // guards what the threads agree on: everything down to stopping_
  std::condition_variable start_, done_;
  Job job_;
  int workers_ = 0;               // that have a part in the job
  std::atomic<int> pending_ = 0;  // of these, threads that are not done
  std::atomic<long> round_ = 0;   // number of the job
  bool stopping_ = false;

  std::vector<std::exception_ptr> errors_;  // one per worker
  std::vector<std::thread> threads_;
};

}  // namespace lithe
