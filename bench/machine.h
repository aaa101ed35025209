#pragma once

#include <fstream>
#include <string>

namespace lithe::bench {

// What a reader of the results must know about how they came about.

inline std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

// The vector instructions that the compiler was allowed to use: LITHE_NATIVE turns on whatever the machine has.
inline std::string vector_instructions() {
  std::string sets;
#ifdef __AVX512F__
  sets += " avx512f";
#endif
#ifdef __AVX2__
  sets += " avx2";
#endif
#ifdef __AVX__
  sets += " avx";
#endif
#ifdef __FMA__
  sets += " fma";
#endif
#ifdef __SSE2__
  sets += " sse2";
#endif
#ifdef __ARM_NEON
  sets += " neon";
#endif
  return sets.empty() ? "none" : sets.substr(1);
}

inline std::string cpu() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

inline const char* assertions() {
#ifdef NDEBUG
  return "off";
#else
  return "on";
#endif
}

}  // namespace lithe::bench
