#include "lithe/core/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/support/allocation_counter.h"
#include "tests/support/error_text.h"

namespace lithe::test {
namespace {

// Each worker waits for all of the others: one thread fewer, and this would never end.
void meet(ThreadPool& pool) {
  std::atomic<int> arrived = 0;
  pool.parallel_for(pool.size(), [&](int, int) {
    ++arrived;
    while (arrived < pool.size()) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, pool.size());
}

TEST(ThreadPool, DoesEveryItemOnce) {
  for (const int threads : {1, 2, 3, 4, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const int count : {0, 1, 2, 3, 5, 8, 1000}) {
      std::vector<int> done(count, 0);
      pool.parallel_for(count, [&](int item, int) { ++done[item]; });
      EXPECT_EQ(done, std::vector<int>(count, 1)) << threads << " threads, " << count << " items";
    }
  }
}

TEST(ThreadPool, HasOneThreadPerCoreUnlessTold) { EXPECT_GE(ThreadPool().size(), 1); }

TEST(ThreadPool, GivesEachWorkerTheSameItemsEveryTime) {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<int> workers(10, -1);
    pool.parallel_for(10, [&](int item, int worker) { workers[item] = worker; });
    EXPECT_EQ(workers, (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2, 2}));
  }
}

TEST(ThreadPool, SaysWhereAWorkerStarts) {
  for (const int threads : {1, 3, 5}) {
    ThreadPool pool(threads);
    for (const int count : {1, 2, 10}) {
      std::vector<int> first(threads + 1, count);
      std::mutex mutex;
      pool.parallel_for(count, [&](int item, int worker) {
        const std::lock_guard lock(mutex);
        first[worker] = std::min(first[worker], item);
      });
      for (int worker = 0; worker <= threads; ++worker) EXPECT_EQ(pool.first_item(count, worker), first[worker]);
    }
  }
}

TEST(ThreadPool, ItemsRunAtTheSameTimeInAsManyThreads) {
  ThreadPool pool(4);
  meet(pool);
}

TEST(ThreadPool, TheCallerWorksToo) {
  ThreadPool pool(2);
  std::vector<std::thread::id> ids(2);
  std::atomic<int> arrived = 0;
  pool.parallel_for(2, [&](int item, int) {
    ids[item] = std::this_thread::get_id();
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_NE(ids[1], std::this_thread::get_id());
}

TEST(ThreadPool, TheFirstErrorReachesTheCallerWhateverTheNumberOfThreads) {
  for (const int threads : {1, 2, 3, 4}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 20; ++round) {
      try {
        pool.parallel_for(100, [](int item, int) {
          if (item % 30 == 17) throw std::runtime_error("item " + std::to_string(item));
        });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "item 17");
      }
    }
    // And the pool goes on.
    int sum = 0;
    std::vector<int> items(10);
    pool.parallel_for(10, [&](int item, int) { items[item] = item; });
    for (const int item : items) sum += item;
    EXPECT_EQ(sum, 45);
  }
}

TEST(ThreadPool, ACallFromInsideRunsOnTheSpot) {
  ThreadPool pool(3), other(2);
  for (ThreadPool* inner : {&pool, &other}) {
    std::vector<int> done(12, 0);
    pool.parallel_for(3, [&](int item, int) {
      const std::thread::id here = std::this_thread::get_id();
      inner->parallel_for(4, [&](int part, int worker) {
        EXPECT_EQ(worker, 0);
        EXPECT_EQ(std::this_thread::get_id(), here);
        ++done[4 * item + part];
      });
    });
    EXPECT_EQ(done, std::vector<int>(12, 1));
  }
}

TEST(ThreadPool, ServesAfterAnErrorInsideACallFromInside) {
  ThreadPool pool(2);
  const auto failing = [&] {
    pool.parallel_for(2, [&](int, int) { pool.parallel_for(1, [](int, int) { throw std::runtime_error("inner"); }); });
  };
  EXPECT_THROW(failing(), std::runtime_error);
  meet(pool);  // no thread thinks that it is still inside
}

TEST(ThreadPool, CallsFromSeveralThreadsTakeTurns) {
  ThreadPool pool(2);
  std::vector<std::vector<int>> done(4, std::vector<int>(50, 0));
  std::vector<std::thread> callers;
  for (std::vector<int>& mine : done) {
    callers.emplace_back([&pool, &mine] {
      for (int round = 0; round < 20; ++round) pool.parallel_for(50, [&mine](int item, int) { ++mine[item]; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::vector<int>& mine : done) EXPECT_EQ(mine, std::vector<int>(50, 20));
}

TEST(ThreadPool, AllPoolsShareTheThreadsOfTheProcess) {
  std::vector<std::unique_ptr<ThreadPool>> pools;
  std::vector<int> done(64);
  const int before = ThreadPool::threads_in_use();
  for (int k = 0; k < 100; ++k) {
    pools.push_back(std::make_unique<ThreadPool>(8));
    pools.back()->parallel_for(64, [&](int item, int) { ++done[item]; });
  }
  EXPECT_EQ(done, std::vector<int>(64, 100));
  EXPECT_EQ(ThreadPool::threads_in_use(), std::max(before, 7));
}

TEST(ThreadPool, PoolsAtWorkAtOnceDoNotWaitForOneAnother) {
  // The first call ends only when the second has.
  ThreadPool first(3), second(3);
  std::atomic<bool> second_is_done = false;
  std::thread caller([&] {
    first.parallel_for(3, [&](int, int) {
      while (!second_is_done) std::this_thread::yield();
    });
  });
  std::vector<int> done(100, 0);
  for (int round = 0; round < 100; ++round) second.parallel_for(100, [&](int item, int) { ++done[item]; });
  second_is_done = true;
  caller.join();
  EXPECT_EQ(done, std::vector<int>(100, 100));
}

TEST(ThreadPool, WorksInAForkedProcess) {
  ThreadPool pool(3);
  std::vector<int> done(30, 0);
  const auto work = [&] { pool.parallel_for(30, [&](int item, int) { ++done[item]; }); };
  work();
  // While others are at work. Not while they begin: a thread that begins allocates, and the address sanitizer's allocator, unlike the C library's,
  // may not be forked meanwhile. So all of them have met once.
  std::atomic<bool> at_work = false, stop = false;
  ThreadPool busy(3);
  std::thread caller([&] {
    meet(busy);
    at_work = true;
    while (!stop) busy.parallel_for(3, [](int, int) { std::this_thread::yield(); });
  });
  while (!at_work) std::this_thread::yield();
  for (int round = 0; round < 5; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      work();
      meet(pool);  // the pools of the parent may go as well
      _exit(done == std::vector<int>(30, 2) && ThreadPool::threads_in_use() == 2 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  caller.join();
  work();
  EXPECT_EQ(done, std::vector<int>(30, 2));
}

TEST(ThreadPool, AllocatesNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  ThreadPool pool(3);
  std::vector<double> results(100);
  const auto work = [&](int item, int) { results[item] = std::sqrt(item); };
  pool.parallel_for(100, work);
  const AllocationGuard guard;
  for (int round = 0; round < 100; ++round) pool.parallel_for(100, work);
  EXPECT_EQ(guard.count(), 0);
}

TEST(ThreadPool, ImpossibleNumbersAreRefused) {
  expect_error([] { ThreadPool pool(-2); }, "-2", "threads");
  ThreadPool pool(2);
  expect_error([&] { pool.parallel_for(-1, [](int, int) {}); }, "-1", "items");
}

}  // namespace
}  // namespace lithe::test
