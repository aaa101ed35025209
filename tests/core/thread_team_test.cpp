#include "lithe/core/internal/thread_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/error_text.h"

namespace lithe::test {

using namespace internal;
namespace {

TEST(ThreadTeam, DoesEveryItemOfEveryRoundOnce) {
  for (const int threads : {1, 2, 3, 4}) {
    ThreadPool pool(threads);
    ThreadTeam team(pool);
    int rounds = 0;
    team.lead([&] {
      for (int round = 0; round < 3000; ++round) {
        std::vector<int> done(round % 9, 0);
        team.share(static_cast<int>(done.size()), [&](int item) { ++done[item]; });
        // What the items wrote is there when share() returns.
        if (done == std::vector<int>(done.size(), 1)) ++rounds;
      }
    });
    EXPECT_EQ(rounds, 3000) << threads << " threads";
  }
}

TEST(ThreadTeam, OtherThreadsTakePart) {
  ThreadPool pool(2);
  ThreadTeam team(pool);
  std::atomic<int> arrived = 0;
  team.lead([&] {
    // Each item waits for the other: alone, the leader would never end.
    team.share(2, [&](int) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
    });
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadTeam, OtherThreadsDoTheirOwnWorkFirst) {
  ThreadPool pool(3);
  ThreadTeam team(pool);
  std::atomic<int> first = 0;
  std::vector<int> calls(3, 0);
  team.lead(
      [&] {
        while (first < 2) std::this_thread::yield();
      },
      [&](int worker) {
        ++calls[worker];
        ++first;
      });
  EXPECT_EQ(calls, (std::vector<int>{0, 1, 1}));
}

TEST(ThreadTeam, LeadsAloneInsideAParallelFor) {
  ThreadPool outer(2);
  std::vector<int> sums(4, 0);
  outer.parallel_for(4, [&](int item, int) {
    ThreadPool own(3);
    ThreadTeam team(own);
    std::vector<int> parts(10, 0);
    team.lead([&] { team.share(10, [&](int part) { parts[part] = part; }); });
    for (const int part : parts) sums[item] += part;
  });
  EXPECT_EQ(sums, (std::vector<int>{45, 45, 45, 45}));
}

TEST(ThreadTeam, SharesAsALoopWhenNobodyLeads) {
  ThreadPool pool(2);
  ThreadTeam team(pool);
  std::vector<int> order;
  team.share(4, [&](int item) { order.push_back(item); });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST(ThreadTeam, ErrorsReachTheCaller) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    ThreadTeam team(pool);
    const auto fails = [&](int at) {
      team.lead([&] {
        team.share(8, [&](int item) {
          if (item == at) throw std::runtime_error("item " + std::string(1, static_cast<char>('0' + item)));
        });
      });
    };
    for (const int at : {0, 5, 7}) {
      try {
        fails(at);
        ADD_FAILURE() << "no error";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "item " + std::string(1, static_cast<char>('0' + at)));
      }
    }
    // The team is as good as new.
    std::atomic<int> done = 0;
    team.lead([&] { team.share(8, [&](int) { ++done; }); });
    EXPECT_EQ(done, 8);
    EXPECT_THROW(team.lead([] { throw std::runtime_error("the leader"); }), std::runtime_error);
  }
}

TEST(ThreadTeam, RefusesMoreItemsThanItCanCount) {
  ThreadPool pool(2);
  ThreadTeam team(pool);
  EXPECT_NE(error_text([&] { team.lead([&] { team.share(70000, [](int) {}); }); }).find("70000 items"),
            std::string::npos);
}

}  // namespace
}  // namespace lithe::test
