#include "lithe/core/build_info.h"

#include "lithe/core/version.h"

namespace lithe {

namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

// The levels of the x86-64 psABI, by what tells each from the one below.
std::string instruction_set() {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && defined(__AVX512DQ__) && \
    defined(__AVX512VL__)
  return "x86-64-v4";
#elif defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__)
  return "x86-64-v3";
#elif defined(__SSE4_2__) && defined(__SSSE3__)
  return "x86-64-v2";
#elif defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown";
#endif
}

std::string vector_instructions() {
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

}  // namespace

BuildInfo build_info() {
#ifdef NDEBUG
  constexpr bool assertions = false;
#else
  constexpr bool assertions = true;
#endif
  return {kVersion, compiler(), instruction_set(), vector_instructions(), assertions};
}

}  // namespace lithe
