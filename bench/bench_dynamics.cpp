// How long the smooth dynamics take, on the humanoid and on chains of growing length; on the humanoid also in MuJoCo, which visits the same
// states in the same run.
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "bench/kernels.h"
#include "bench/runner.h"
#include "bench/subject.h"
#include "lithe/scenes/robots/chain.h"
#include "lithe/scenes/robots/humanoid.h"

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

struct MujocoKernel {
  const char* name;  // ours that does the same
  void (MujocoWorld::*run)();
};
constexpr MujocoKernel kMujocoKernels[] = {
    {"kinematics", &MujocoWorld::kinematics},
    {"id_with_kinematics", &MujocoWorld::inverse_dynamics},
    {"mass_matrix_and_factor_with_kinematics", &MujocoWorld::mass_matrix_and_factor},
    {"fd_with_kinematics", &MujocoWorld::forward_dynamics},
};

struct MujocoStates {
  MujocoWorld world;
  std::vector<VecX> qpos, qvel;
  std::size_t visited = 0;

  void visit_next() {
    visited = (visited + 1) % qpos.size();
    world.set_position_and_velocity(qpos[visited], qvel[visited]);
  }
};

void register_mujoco(const Scene& scene) {
  if (!have_mujoco()) {
    std::fprintf(stderr, "bench_dynamics: MuJoCo's columns are left out: it was not found when this was built\n");
    return;
  }
  ::benchmark::AddCustomContext("mujoco", mujoco_version());
  const Subject subject = subject_from_scene("humanoid", scene);
  const auto states = std::make_shared<MujocoStates>(MujocoStates{subject.mujoco(), {}, {}});
  check_same_model(subject, states->world, 1e-9);
  const Workload ours(subject.scene.model);
  const MujocoBridge bridge(subject.loaded);
  for (int i = 0; i < Workload::kStates; ++i) {
    states->qpos.push_back(bridge.qpos_from_q(ours.q.col(i)));
    states->qvel.push_back(bridge.qvel_from_v(ours.v.col(i)));
  }
  for (const MujocoKernel& kernel : kMujocoKernels) {
    const std::string name = std::string("mujoco/") + kernel.name;
    keep_minimum(::benchmark::RegisterBenchmark(name.c_str(), [states, kernel](::benchmark::State& state) {
      for (auto _ : state) {
        states->visit_next();
        (states->world.*kernel.run)();
        ::benchmark::ClobberMemory();
      }
    }));
  }
}

void register_all() {
  register_mujoco(standing_humanoid());
  register_kernels("humanoid", humanoid().build());
  for (const int length : kChainLengths) register_kernels("chain_" + std::to_string(length), chain(length).build());
}

}  // namespace
}  // namespace lithe::bench

int main(int argc, char** argv) {
  try {
    return lithe::bench::run(argc, argv, lithe::bench::register_all);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_dynamics: error: %s\n", error.what());
    return 1;
  }
}
