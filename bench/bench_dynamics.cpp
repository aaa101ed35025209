// How long the smooth dynamics take, on the humanoid and on chains of growing length.
//
// Shared machines are noisy and noise only ever adds, so what counts is the minimum over many short windows. The
// windows of all benchmarks are shuffled among one another: a slow phase of the machine hits each of them, the
// unit included, and the minima come from the same quiet moments. The unit is Eigen's dense Cholesky factorisation
// of a 33×33 matrix, as large as the humanoid's; in multiples of it, results of different machines compare.
#include <Eigen/Cholesky>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "bench/kernels.h"
#include "bench/machine.h"
#include "bench/only_minima.h"
#include "lithe/scenes/chain.h"
#include "lithe/scenes/humanoid.h"

namespace lithe::bench {
namespace {

constexpr int kUnitSize = 33;
constexpr int kChainLengths[] = {8, 16, 32, 64, 128, 256};

using Console = OnlyMinima<::benchmark::ConsoleReporter>;
using Json = OnlyMinima<::benchmark::JSONReporter>;

void keep_minimum(::benchmark::internal::Benchmark* measured) {
  measured->Unit(::benchmark::kMicrosecond)->ComputeStatistics("min", Console::minimum);
}

// A fixed, well-conditioned matrix; what it holds does not change the time.
MatX unit_matrix() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const MatX B = MatX::NullaryExpr(kUnitSize, kUnitSize, [&] { return uniform(random); });
  return B * B.transpose() + kUnitSize * MatX::Identity(kUnitSize, kUnitSize);
}

void register_unit() {
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

void measure(::benchmark::State& state, const Kernel& kernel, Workload& workload) {
  workload.compute_everything();
  for (auto _ : state) {
    kernel.run(workload);
    ::benchmark::ClobberMemory();
  }
}

void register_kernels(const std::string& model_name, Model model) {
  // Shared by all kernels of a model and by all their windows: built once, warm ever after.
  const auto workload = std::make_shared<Workload>(std::move(model));
  for (const Kernel& kernel : kKernels) {
    const std::string name = model_name + "/" + kernel.name;
    const auto run = [workload, kernel](::benchmark::State& state) { measure(state, kernel, *workload); };
    keep_minimum(::benchmark::RegisterBenchmark(name.c_str(), run));
  }
}

void add_context() {
  ::benchmark::AddCustomContext("compiler", compiler());
  ::benchmark::AddCustomContext("vector_instructions", vector_instructions());
  ::benchmark::AddCustomContext("assertions", assertions());
  ::benchmark::AddCustomContext("cpu", cpu());
}

// Our defaults come first, so that the command line overrides them.
std::vector<std::string> with_defaults(int argc, char** argv) {
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
bool writes_file(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const std::string& argument) { return argument.starts_with("--benchmark_out="); });
}

int run(int argc, char** argv) {
  std::vector<std::string> arguments = with_defaults(argc, argv);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  ::benchmark::Initialize(&count, pointers.data());
  if (::benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 1;

  add_context();
  register_unit();
  register_kernels("humanoid", humanoid().build());
  for (const int length : kChainLengths) register_kernels("chain_" + std::to_string(length), chain(length).build());
  Console console(isatty(STDOUT_FILENO) != 0 ? Console::OO_Color : Console::OO_None);
  Json json;
  ::benchmark::RunSpecifiedBenchmarks(&console, writes_file(arguments) ? &json : nullptr);
  ::benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace lithe::bench

int main(int argc, char** argv) { return lithe::bench::run(argc, argv); }
