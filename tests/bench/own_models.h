#pragma once

#include <cstdlib>
#include <string>

namespace lithe::bench {

// The folder with the benchmarks' own models: where the tests were built, or where $LITHE_BENCH_MODELS says that they are now.
inline std::string own_models() {
  const char* elsewhere = std::getenv("LITHE_BENCH_MODELS");
  return elsewhere != nullptr ? elsewhere : LITHE_BENCH_MODELS;
}

}  // namespace lithe::bench
