#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace lithe {

// The caller's mistake: a wrong size, a NaN, an impossible model. The text names the offending thing
// and its value. (Our own mistakes are LITHE_ASSERT; numerical outcomes are statuses, never exceptions.)
class Error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

namespace internal {
[[noreturn]] void throw_error(const std::string& what);
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
}  // namespace internal

}  // namespace lithe

// Always on. Further arguments are an {fmt} format string and its values.
#define LITHE_CHECK(condition, ...)                               \
  do {                                                            \
    if (!(condition)) [[unlikely]]                                \
      ::lithe::internal::throw_error(::fmt::format(__VA_ARGS__)); \
  } while (false)

// Debug builds only.
#ifdef NDEBUG
#define LITHE_ASSERT(condition) static_cast<void>(0)
#else
#define LITHE_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::lithe::internal::assertion_failed(#condition, __FILE__, __LINE__))
#endif
