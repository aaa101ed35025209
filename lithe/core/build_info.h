#pragma once

#include <string>

namespace lithe {

// How the library at hand was compiled. Packages hold several, of which the loader picks the best for the processor.
struct BuildInfo {
  std::string version;
  std::string compiler;
  std::string instruction_set;      // the level of x86-64 that every instruction is in, for example "x86-64-v3"
  std::string vector_instructions;  // those the compiler could use, for example "avx2 avx fma sse2"
  bool assertions = false;
};

BuildInfo build_info();

}  // namespace lithe
