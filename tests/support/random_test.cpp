#include "tests/support/random_test.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

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

double test_scale() {
  const char* variable = std::getenv("LITHE_TEST_SCALE");
  if (variable == nullptr) return 1;
  const std::string text = variable;
  if (text == "small") return 0.1;
  if (text == "large") return 20;
  double scale = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scale);
  LITHE_CHECK(error == std::errc() && end == text.data() + text.size() && scale > 0 && scale <= 1e4,
              "LITHE_TEST_SCALE is '{}', which is neither small nor large nor a number between 0 and 10000", text);
  return scale;
}

int scaled(int cases) { return std::max(1, static_cast<int>(std::lround(cases * test_scale()))); }

std::uint64_t only_seed() {
  const char* text = std::getenv("LITHE_TEST_SEED");
  return text == nullptr ? 0 : number_from("LITHE_TEST_SEED", text);
}

bool few_cases() { return test_scale() < 1 || only_seed() != 0; }

}  // namespace lithe::test
