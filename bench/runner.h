#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <unistd.h>
#include <vector>

#include "bench/machine.h"
#include "bench/only_minima.h"

namespace lithe::bench {

// What all benchmark programs share.
//
// Shared machines are noisy and noise only ever adds, so what counts is the minimum over many short windows. The
// windows of all benchmarks are shuffled among one another: a slow phase of the machine hits each of them, and the
// minima come from the same quiet moments. So ratios between them hold, also on another machine; times do not.

using Console = OnlyMinima<::benchmark::ConsoleReporter>;
using Json = OnlyMinima<::benchmark::JSONReporter>;

inline void keep_minimum(::benchmark::internal::Benchmark* measured) {
  measured->Unit(::benchmark::kMicrosecond)->ComputeStatistics("min", Console::minimum);
}

inline void add_context() {
  ::benchmark::AddCustomContext("compiler", compiler());
  ::benchmark::AddCustomContext("vector_instructions", vector_instructions());
  ::benchmark::AddCustomContext("assertions", assertions());
  ::benchmark::AddCustomContext("cpu", cpu());
}

// Our defaults come first, so that the command line overrides them.
inline std::vector<std::string> with_defaults(int argc, char** argv) {
  std::vector<std::string> arguments = {
      argv[0],
      "--benchmark_repetitions=100",
      "--benchmark_min_time=0.002",
      "--benchmark_enable_random_interleaving=true",
      "--benchmark_report_aggregates_only=true",
  };
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  return arguments;
}

// Google Benchmark insists on being given a reporter for files just when a file is wanted.
inline bool writes_file(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const std::string& argument) { return argument.starts_with("--benchmark_out="); });
}

// Runs whatever register_benchmarks() registers.
template <class Register>
int run(int argc, char** argv, Register register_benchmarks) {
  std::vector<std::string> arguments = with_defaults(argc, argv);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  ::benchmark::Initialize(&count, pointers.data());
  if (::benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 1;

  add_context();
  register_benchmarks();
  Console console(isatty(STDOUT_FILENO) != 0 ? Console::OO_Color : Console::OO_None);
  Json json;
  ::benchmark::RunSpecifiedBenchmarks(&console, writes_file(arguments) ? &json : nullptr);
  ::benchmark::Shutdown();
  return 0;
}

}  // namespace lithe::bench
