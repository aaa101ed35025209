// How long the smooth dynamics take, on the humanoid and on chains of growing length.
#include <memory>
#include <string>

#include "bench/kernels.h"
#include "bench/runner.h"
#include "lithe/scenes/chain.h"
#include "lithe/scenes/humanoid.h"

namespace lithe::bench {
namespace {

constexpr int kChainLengths[] = {8, 16, 32, 64, 128, 256};

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

void register_all() {
  register_kernels("humanoid", humanoid().build());
  for (const int length : kChainLengths) register_kernels("chain_" + std::to_string(length), chain(length).build());
}

}  // namespace
}  // namespace lithe::bench

int main(int argc, char** argv) { return lithe::bench::run(argc, argv, lithe::bench::register_all); }
