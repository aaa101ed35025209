#include "tests/support/random_test.h"

#include <cstdlib>

#include "lithe/core/check.h"

namespace lithe::test {

namespace {

// A whole number ≥ 1 from the environment.
std::uint64_t number_from(const char* variable, const std::string& text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  LITHE_CHECK(!text.empty() && *end == '\0' && number > 0, "{} is '{}', which is not a positive number", variable,
              text);
  return number;
}

}  // namespace

int test_scale() {
  const char* text = std::getenv("LITHE_TEST_SCALE");
  if (text == nullptr || std::string(text) == "small") return 1;
  if (std::string(text) == "large") return 20;
  return static_cast<int>(number_from("LITHE_TEST_SCALE", text));
}

std::uint64_t only_seed() {
  const char* text = std::getenv("LITHE_TEST_SEED");
  return text == nullptr ? 0 : number_from("LITHE_TEST_SEED", text);
}

}  // namespace lithe::test
