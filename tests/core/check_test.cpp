#include "lithe/core/check.h"

#include <gtest/gtest.h>

#include "tests/support/error_text.h"

namespace lithe {
namespace {

TEST(Check, PassesWhatHolds) { EXPECT_NO_THROW(LITHE_CHECK(1 + 1 == 2, "arithmetic is broken")); }

TEST(Check, FormatsItsMessageWithTheValues) {
  EXPECT_EQ(test::error_text([] { LITHE_CHECK(false, "body '{}': mass is {}", "arm", -1.5); }),
            "body 'arm': mass is -1.5");
}

TEST(Check, EvaluatesTheMessageOnlyWhenItFails) {
  int evaluated = 0;
  LITHE_CHECK(true, "{}", ++evaluated);
  EXPECT_EQ(evaluated, 0);
  EXPECT_THROW(LITHE_CHECK(false, "{}", ++evaluated), Error);
  EXPECT_EQ(evaluated, 1);
}

TEST(Check, ThrowsAnInvalidArgument) { EXPECT_THROW(LITHE_CHECK(false, "no"), std::invalid_argument); }

TEST(AssertDeathTest, StopsDebugBuildsAndCostsReleaseBuildsNothing) {
#ifdef NDEBUG
  int evaluated = 0;
  LITHE_ASSERT(++evaluated > 0);
  EXPECT_EQ(evaluated, 0);
#else
  EXPECT_DEATH(LITHE_ASSERT(1 + 1 == 3), "check_test.cpp:[0-9]+: assertion failed: 1 \\+ 1 == 3");
#endif
}

}  // namespace
}  // namespace lithe
