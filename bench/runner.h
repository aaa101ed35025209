#pragma once

#include <Eigen/Cholesky>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include "bench/machine.h"
#include "bench/only_minima.h"
#include "lithe/core/eigen.h"

namespace lithe::bench {

// What all benchmark programs share.
//
// Shared machines are noisy and noise only ever adds, so what counts is the minimum over many short windows. The
// windows of all benchmarks are shuffled among one another: a slow phase of the machine hits each of them, the
// unit included, and the minima come from the same quiet moments. The unit is Eigen's dense Cholesky factorisation
// of a 33×33 matrix, as large as the humanoid's; in multiples of it, results of different machines compare.

inline constexpr int kUnitSize = 33;

using Console = OnlyMinima<::benchmark::ConsoleReporter>;
using Json = OnlyMinima<::benchmark::JSONReporter>;

inline void keep_minimum(::benchmark::internal::Benchmark* measured) {
  measured->Unit(::benchmark::kMicrosecond)->ComputeStatistics("min", Console::minimum);
}

// A fixed, well-conditioned matrix; what it holds does not change the time.
inline MatX unit_matrix() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const MatX B = MatX::NullaryExpr(kUnitSize, kUnitSize, [&] { return uniform(random); });
  return B * B.transpose() + kUnitSize * MatX::Identity(kUnitSize, kUnitSize);
}

inline void register_unit() {
  keep_minimum(::benchmark::RegisterBenchmark("unit/llt_33", [](::benchmark::State& state) {
    const MatX A = unit_matrix();
    Eigen::LLT<MatX> llt(kUnitSize);
    for (auto _ : state) {
      llt.compute(A);
      ::benchmark::DoNotOptimize(llt.matrixLLT().data());
      ::benchmark::ClobberMemory();
    }
  }));
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

// Runs the unit and whatever register_benchmarks() registers.
template <class Register>
int run(int argc, char** argv, Register register_benchmarks) {
  std::vector<std::string> arguments = with_defaults(argc, argv);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  ::benchmark::Initialize(&count, pointers.data());
  if (::benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 1;

  add_context();
  register_unit();
  register_benchmarks();
  Console console(isatty(STDOUT_FILENO) != 0 ? Console::OO_Color : Console::OO_None);
  Json json;
  ::benchmark::RunSpecifiedBenchmarks(&console, writes_file(arguments) ? &json : nullptr);
  ::benchmark::Shutdown();
  return 0;
}

}  // namespace lithe::bench
