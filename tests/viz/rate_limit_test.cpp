#include "lithe/viz/live/internal/rate_limit.h"

#include <gtest/gtest.h>

namespace lithe::test {

using namespace internal;
namespace {

RateLimit::Time at(double seconds) {
  return RateLimit::Time() +
         std::chrono::duration_cast<RateLimit::Time::duration>(std::chrono::duration<double>(1000 + seconds));
}

int allowed(RateLimit& limit, int events, double seconds) {
  int count = 0;
  for (int i = 0; i < events; ++i) count += limit.allow(at(seconds)) ? 1 : 0;
  return count;
}

TEST(RateLimit, AllowsABurstAndNoMore) {
  RateLimit limit(200, 400);
  EXPECT_EQ(allowed(limit, 1000, 0), 400);
  EXPECT_EQ(allowed(limit, 1000, 0), 0);
}

TEST(RateLimit, RefillsSteadily) {
  RateLimit limit(200, 400);
  EXPECT_EQ(allowed(limit, 1000, 0), 400);
  EXPECT_EQ(allowed(limit, 1000, 0.502), 100);
  EXPECT_EQ(allowed(limit, 1000, 0.504), 0);
  EXPECT_EQ(allowed(limit, 1000, 1.003), 100);
}

TEST(RateLimit, HoldsNoMoreThanABurst) {
  RateLimit limit(200, 400);
  EXPECT_EQ(allowed(limit, 1, 0), 1);
  EXPECT_EQ(allowed(limit, 1000, 1e6), 400);
}

TEST(RateLimit, LetsThroughForEverWhatIsWithinIt) {
  RateLimit limit(200, 5);
  for (int i = 0; i < 20'000; ++i) EXPECT_TRUE(limit.allow(at(i / 199.0))) << i;
}

TEST(RateLimit, CutsDownWhatIsBeyondItToItsRate) {
  RateLimit limit(200, 400);
  int count = 0;
  for (int i = 0; i < 10'000; ++i) count += limit.allow(at(1e-3 * i)) ? 1 : 0;  // 1000 per second, for 10 s
  EXPECT_NEAR(count, 400 + 200 * 10, 2);
}

}  // namespace
}  // namespace lithe::test
