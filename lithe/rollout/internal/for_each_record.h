#pragma once

#include <span>

#include "lithe/core/thread_pool.h"
#include "lithe/step/internal/record_prefetch.h"

namespace lithe::internal {

// work(item, worker) for every record, as ThreadPool::parallel_for() does it, for work that only reads them. The next records are fetched
// while one is worked on: those of a large batch have left the cache since they were written. `fetch`(item) does the same for what
// goes with them.
template <class Fetch, class Work>
void for_each_record(std::span<const StepRecord> records, ThreadPool& pool, const Fetch& fetch, const Work& work) {
  const int count = static_cast<int>(records.size());
  pool.parallel_for(count, [&](int i, int worker) {
    if (i + 2 < count) prefetch_record(records[i + 2]);
    if (i + 1 < count) {
      prefetch_buffers(records[i + 1]);
      fetch(i + 1);
    }
    work(i, worker);
  });
}
template <class Work>
void for_each_record(std::span<const StepRecord> records, ThreadPool& pool, const Work& work) {
  for_each_record(records, pool, [](int) {}, work);
}

}  // namespace lithe::internal
