#include "lithe/batch/thread_pool.h"

#include <algorithm>
#include <cstdint>

#include "lithe/batch/watch.h"
#include "lithe/core/check.h"

namespace lithe {

namespace {

// Whether this thread is at work on some pool's items. A call from there that waited for threads could wait forever.
thread_local bool inside = false;

int part_start(int count, int workers, int worker) {
  return static_cast<int>(static_cast<std::int64_t>(count) * worker / workers);
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  LITHE_CHECK(threads >= 0, "a pool of {} threads was asked for; give 1 or more, or 0 for one per core", threads);
  if (threads == 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  errors_.resize(threads);
  try {
    threads_.reserve(threads - 1);
    for (int worker = 1; worker < threads; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
  } catch (...) {  // the system gives no more threads
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

int ThreadPool::first_item(int count, int worker) const {
  const int workers = std::min(size(), count);
  return worker < workers ? part_start(count, workers, worker) : count;
}

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run_part(const Job& job, int workers, int worker) {
  const int end = part_start(job.count, workers, worker + 1);
  try {
    for (int item = part_start(job.count, workers, worker); item < end; ++item) job.call(job.body, item, worker);
  } catch (...) {
    errors_[worker] = std::current_exception();
  }
}

void ThreadPool::serve(int worker) {
  inside = true;
  long seen = 0;
  while (true) {
    watch([&] { return round_.load(std::memory_order_relaxed) != seen; });
    std::unique_lock lock(mutex_);
    start_.wait(lock, [&] { return stopping_ || round_ != seen; });
    if (stopping_) return;
    seen = round_;
    if (worker >= workers_) continue;  // fewer items than workers
    const Job job = job_;
    const int workers = workers_;
    lock.unlock();
    run_part(job, workers, worker);
    lock.lock();
    if (--pending_ == 0) done_.notify_one();
  }
}

void ThreadPool::run(const Job& job) {
  LITHE_CHECK(job.count >= 0, "parallel_for over {} items: there cannot be fewer than none", job.count);
  const int workers = std::min(size(), job.count);
  if (workers <= 1 || inside) {
    for (int item = 0; item < job.count; ++item) job.call(job.body, item, 0);
    return;
  }
  const std::lock_guard turn(callers_);
  {
    const std::lock_guard lock(mutex_);
    job_ = job;
    workers_ = workers;
    pending_ = workers - 1;
    ++round_;
  }
  start_.notify_all();
  inside = true;
  run_part(job, workers, 0);
  inside = false;
  watch([&] { return pending_.load(std::memory_order_relaxed) == 0; });
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return pending_ == 0; });
  }
  // Parts are in the order of their items and each ends at its first error, so the first error here is the first of all.
  std::exception_ptr first;
  for (std::exception_ptr& error : errors_) {
    if (error && !first) first = error;
    error = nullptr;
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace lithe
