#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <random>
#include <string>
#include <type_traits>

namespace lithe::test {

// How many times more cases than usual: LITHE_TEST_SCALE=small (×0.1), large (×20) or a positive number; 1 by default.
double test_scale();

// A number of cases, scaled; at least one.
int scaled(int cases);

// LITHE_TEST_SEED, to run one random case again, or 0.
std::uint64_t only_seed();

// Fewer cases than usual, or but one: each of them is checked, but what they are like on average is not.
bool few_cases();

enum class Outcome { checked, skipped };

// Runs `check(random)` for `cases` seeds (more with LITHE_TEST_SCALE) and names the seed of a failure. A check that
// meets a case it cannot judge returns Outcome::skipped; skipping more than `max_skipped` of them is a failure, for
// such a test proves nothing.
template <class Check>
void for_random_cases(int cases, Check check, double max_skipped = 0.1) {
  const std::uint64_t only = only_seed();
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t last = only != 0 ? only : static_cast<std::uint64_t>(scaled(cases));
  std::uint64_t skipped = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("random case; run it again with LITHE_TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    try {
      if constexpr (std::is_same_v<std::invoke_result_t<Check, std::mt19937_64&>, Outcome>) {
        if (check(random) == Outcome::skipped) ++skipped;
      } else {
        check(random);
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << "unexpected exception: " << error.what();
    }
    if (testing::Test::HasFailure()) return;  // one seed is enough to look at
  }
  const std::uint64_t total = last - first + 1;
  testing::Test::RecordProperty("skipped", std::to_string(skipped) + " of " + std::to_string(total));
  if (few_cases()) return;
  EXPECT_LE(static_cast<double>(skipped), max_skipped * static_cast<double>(total)) << "skipped too much";
}

}  // namespace lithe::test
