#pragma once

#include <fstream>
#include <string>

#include "lithe/core/build_info.h"

namespace lithe::bench {

// What a reader of the results must know about how they came about.

inline std::string compiler() { return build_info().compiler; }

// The vector instructions that the compiler was allowed to use for the library: LITHE_NATIVE turns on whatever the machine has.
inline std::string vector_instructions() { return build_info().vector_instructions; }

inline std::string cpu() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

inline const char* assertions() { return build_info().assertions ? "on" : "off"; }

}  // namespace lithe::bench
