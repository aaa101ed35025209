#include "lithe/core/check.h"

#include <cstdio>
#include <cstdlib>

namespace lithe::internal {

void throw_error(const std::string& what) { throw Error(what); }

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace lithe::internal
