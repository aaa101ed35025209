#include "lithe/core/thread_pool.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/core/internal/spin.h"

namespace lithe {

using namespace internal;

namespace {

// Whether this thread is at work on some pool's items. A call from there that waited for threads could wait forever.
thread_local bool inside = false;

int part_start(int count, int workers, int worker) {
  return static_cast<int>(static_cast<std::int64_t>(count) * worker / workers);
}

}  // namespace

// The threads of the process. Each waits for a part of some pool's job to be offered to it alone, so that nobody is woken for
// nothing, and whoever offered a part may take it back until the thread has begun.
class SharedThreads {
 public:
  static constexpr int kMost = 1024;

  // Those of this process; never destroyed, so that they can be asked at any time.
  static SharedThreads& of_process() {
    SharedThreads* threads = current.load(std::memory_order_acquire);
    if (threads) [[likely]]
      return *threads;
    static const bool once = [] { return pthread_atfork(nullptr, nullptr, forget) == 0 && std::atexit(stop) == 0; }();
    static_cast<void>(once);
    // Without a lock, which somebody might hold while the process is forked.
    auto made = std::make_unique<SharedThreads>();
    if (current.compare_exchange_strong(threads, made.get())) return *made.release();
    return *threads;
  }

  // Counts forks: different in a process and in those that it forks.
  static std::uint64_t process() { return forks.load(std::memory_order_relaxed); }

  // Sees to it that there are as many, if the system has them to give.
  void start(int wanted) {
    wanted = std::min(wanted, kMost);
    if (count_.load(std::memory_order_acquire) >= wanted) return;
    const std::lock_guard lock(starting_);
    for (int i = count_.load(); i < wanted && !stopping_; ++i) {
      try {
        threads_[i] = std::make_unique<Thread>();
        threads_[i]->system = std::thread([this, i] { serve(*threads_[i]); });
      } catch (const std::exception&) {  // no more threads or memory: who calls works alone
        return;
      }
      count_.store(i + 1, std::memory_order_release);
    }
  }

  int count() const { return count_.load(std::memory_order_acquire); }

  // Offers a part to a thread, if it is free: returns a ticket to take it back with, else 0.
  std::uint64_t offer(int thread, ThreadPool& pool, int part) {
    Thread& to = *threads_[thread];
    std::uint64_t seen = to.state.load(std::memory_order_relaxed);
    if (phase_of(seen) != kFree) return 0;
    const std::uint64_t ticket = seen + kTicket;
    if (!to.state.compare_exchange_strong(seen, ticket | kHeld, std::memory_order_acquire)) return 0;
    to.pool = &pool;
    to.part = part;
    // In one order with `sleeping`: the thread sees the offer before it sleeps, or is seen asleep.
    to.state.store(ticket | kOffered, std::memory_order_seq_cst);
    if (to.sleeping.load(std::memory_order_seq_cst)) {
      {
        const std::lock_guard lock(to.mutex);
      }
      to.wake.notify_one();
    }
    return ticket;
  }

  // False: the thread has begun.
  bool take_back(int thread, std::uint64_t ticket) {
    std::uint64_t offered = ticket | kOffered;
    return threads_[thread]->state.compare_exchange_strong(offered, ticket | kFree, std::memory_order_acq_rel);
  }

 private:
  // A thread's state: the number of the last offer, and what has become of it.
  static constexpr std::uint64_t kFree = 0, kHeld = 1, kOffered = 2, kBegun = 3, kTicket = 4;
  static std::uint64_t phase_of(std::uint64_t state) { return state % kTicket; }

  struct alignas(64) Thread {
    std::atomic<std::uint64_t> state = 0;
    std::atomic<bool> sleeping = false;
    ThreadPool* pool = nullptr;
    int part = 0;
    std::mutex mutex;
    std::condition_variable wake;
    std::thread system;
  };

  bool is_called(const Thread& self) const {
    return phase_of(self.state.load(std::memory_order_seq_cst)) == kOffered || stopping_.load();
  }

  void serve(Thread& self) {
    inside = true;
    while (true) {
      if (!spin_until([&] { return phase_of(self.state.load(std::memory_order_relaxed)) == kOffered; })) {
        std::unique_lock lock(self.mutex);
        self.sleeping.store(true, std::memory_order_seq_cst);
        self.wake.wait(lock, [&] { return is_called(self); });
        self.sleeping.store(false, std::memory_order_relaxed);
      }
      std::uint64_t seen = self.state.load(std::memory_order_relaxed);
      if (phase_of(seen) != kOffered) {
        if (stopping_) return;
        continue;  // it was taken back
      }
      const std::uint64_t ticket = seen - kOffered;
      if (!self.state.compare_exchange_strong(seen, ticket | kBegun, std::memory_order_acquire)) continue;
      ThreadPool& pool = *self.pool;
      pool.run_part(pool.job_, pool.parts_, self.part);
      // Free before the caller hears of it: a job that follows finds it so.
      self.state.store(ticket | kFree, std::memory_order_release);
      pool.finish_part();
    }
  }

  // At the end of the process.
  static void stop() {
    SharedThreads* threads = current.load();
    if (!threads || inside) return;
    {
      const std::lock_guard lock(threads->starting_);
      threads->stopping_ = true;
    }
    const int count = threads->count_.exchange(0);
    for (int i = 0; i < count; ++i) {
      Thread& thread = *threads->threads_[i];
      {
        const std::lock_guard lock(thread.mutex);
      }
      thread.wake.notify_one();
      thread.system.join();
    }
  }

  // In the child of a fork, where the threads are not.
  static void forget() {
    current.store(nullptr);
    forks.fetch_add(1, std::memory_order_relaxed);
    inside = false;
  }

  inline static std::atomic<SharedThreads*> current = nullptr;
  inline static std::atomic<std::uint64_t> forks = 1;

  std::mutex starting_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> count_ = 0;
  std::array<std::unique_ptr<Thread>, kMost> threads_;
};

ThreadPool::ThreadPool(int threads) {
  LITHE_CHECK(threads >= 0, "a pool of {} threads was asked for; give 1 or more, or 0 for one per core", threads);
  if (threads == 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  workers_.resize(threads);
  meeting_ = std::make_unique<Meeting>();
  process_ = SharedThreads::process();
}

ThreadPool::~ThreadPool() {
  // In a forked process the parent's meeting may be locked, and must not be destroyed then.
  if (process_ != SharedThreads::process()) static_cast<void>(meeting_.release());
}

int ThreadPool::threads_in_use() { return SharedThreads::of_process().count(); }

int ThreadPool::first_item(int count, int worker) const {
  const int workers = std::min(size(), count);
  return worker < workers ? part_start(count, workers, worker) : count;
}

void ThreadPool::run_part(const Job& job, int workers, int worker) {
  const int end = part_start(job.count, workers, worker + 1);
  try {
    for (int item = part_start(job.count, workers, worker); item < end; ++item) job.call(job.body, item, worker);
  } catch (...) {
    workers_[worker].error = std::current_exception();
  }
}

void ThreadPool::finish_part() {
  Meeting& meeting = *meeting_;
  const std::lock_guard lock(meeting.mutex);
  if (--meeting.pending == 0) meeting.done.notify_one();
}

void ThreadPool::run(const Job& job) {
  LITHE_CHECK(job.count >= 0, "parallel_for over {} items: there cannot be fewer than none", job.count);
  const int workers = std::min(size(), job.count);
  if (workers <= 1 || inside) {
    for (int item = 0; item < job.count; ++item) job.call(job.body, item, 0);
    return;
  }
  if (process_ != SharedThreads::process()) [[unlikely]] {
    static_cast<void>(meeting_.release());
    meeting_ = std::make_unique<Meeting>();
    process_ = SharedThreads::process();
  }
  const std::lock_guard turn(meeting_->callers);
  share(job, workers);
  // Parts are in the order of their items and each ends at its first error, so the first error here is the first of all.
  std::exception_ptr first;
  for (Worker& worker : workers_) {
    if (worker.error && !first) first = worker.error;
    worker.error = nullptr;
  }
  if (first) std::rethrow_exception(first);
}

void ThreadPool::share(const Job& job, int workers) {
  SharedThreads& threads = SharedThreads::of_process();
  threads.start(workers - 1);
  job_ = job;
  parts_ = workers;
  meeting_->pending = workers - 1;
  const int count = threads.count();
  for (int w = 1; w < workers; ++w) {
    // Its own thread, or the next one that is free.
    workers_[w].thread = -1;
    for (int k = 0; k < count && workers_[w].thread < 0; ++k) {
      const int thread = (w - 1 + k) % count;
      workers_[w].ticket = threads.offer(thread, *this, w);
      if (workers_[w].ticket != 0) workers_[w].thread = thread;
    }
    if (workers_[w].thread < 0) break;  // nor will the others find one
  }
  inside = true;
  run_part(job, workers, 0);
  // What no thread has begun yet is done here.
  int alone = 0;
  bool none_left = false;
  for (int w = 1; w < workers; ++w) {
    Worker& worker = workers_[w];
    none_left = none_left || worker.thread < 0;
    if (!none_left && !threads.take_back(worker.thread, worker.ticket)) continue;
    run_part(job, workers, w);
    ++alone;
  }
  inside = false;
  Meeting& meeting = *meeting_;
  meeting.pending -= alone;
  spin_until([&] { return meeting.pending.load(std::memory_order_relaxed) == 0; });
  std::unique_lock lock(meeting.mutex);
  meeting.done.wait(lock, [&] { return meeting.pending == 0; });
}

}  // namespace lithe
