// How long a whole step takes, warm: kinematics, dynamics, contacts, LCP and integration, from states that follow one
// another in a simulation.
//
//   humanoid      stands on its two mesh feet, 12 contact points. Springs and dampers in its joints hold it, for nothing
//                 else does: a robot without them falls, and no two steps of a fall compare
//   half_cheetah  stands on its feet, held by its own springs
//   stack_20      20 boxes, one on the other
//   boxes_N       N boxes side by side on the ground
//
// If MuJoCo was there when this was built, it steps the same models in the same run, from its own states and with its
// default settings. It finds three points between a mesh and a plane, where we find all six of a sole's corners.
//
// A model that has fallen, or has other contacts than stated here, is an error and not a result.
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "bench/runner.h"
#include "bench/step_workload.h"
#include "lithe/scenes/free_bodies.h"
#include "lithe/scenes/half_cheetah.h"
#include "lithe/scenes/humanoid.h"
#include "lithe/scenes/towers.h"
#ifdef LITHE_HAVE_MUJOCO
#include "bench/mujoco_workload.h"
#endif

namespace lithe::bench {
namespace {

constexpr int kStates = 16;

struct Case {
  std::string name;
  Scene scene;
  int settling;          // steps before those that are measured
  double allowed_drift;  // m, from where the scene starts: it must not have fallen by then
  int contacts;          // in every one of the states
  int mujoco_contacts;   // the same there; 0: not in MuJoCo
};

// Springs and dampers in every joint but the root's: it stands without being controlled, in either engine.
Scene held_humanoid() {
  Scene scene = standing_humanoid();
  for (std::size_t j = 0; j < scene.model.joints().size(); ++j) {
    Joint joint = scene.model.joints()[j];
    if (joint.type != JointType::revolute) continue;
    joint.stiffness = 50 * joint.effort_limit;
    joint.damping = 0.5 * joint.effort_limit;
    scene.model.set_joint(JointIndex(static_cast<int>(j)), joint);
  }
  return scene;
}

template <class Run>
::benchmark::internal::Benchmark* add(const std::string& name, Run run) {
  ::benchmark::internal::Benchmark* added = ::benchmark::RegisterBenchmark(name.c_str(), run);
  keep_minimum(added);
  return added;
}

void register_step(const Case& c) {
  const auto w = std::make_shared<StepWorkload>(c.scene, c.settling, kStates);
  LITHE_CHECK(w->drift <= c.allowed_drift, "{}: it has moved by {} m and is not at rest", c.name, w->drift);
  LITHE_CHECK(w->fewest_contacts == c.contacts && w->most_contacts == c.contacts,
              "{}: there are {} to {} contacts instead of {}", c.name, w->fewest_contacts, w->most_contacts,
              c.contacts);
  add("step/" + c.name, [w](::benchmark::State& state) {
    for (auto _ : state) {
      w->step();
      ::benchmark::ClobberMemory();
    }
    state.counters["contacts"] = w->mean(w->contacts);
    state.counters["rows"] = w->mean(w->rows);
    state.counters["islands"] = w->mean(w->islands);
    state.counters["guessed"] = w->mean(w->guessed);
  });
}

#ifdef LITHE_HAVE_MUJOCO
void register_mujoco(const Case& c) {
  if (c.mujoco_contacts == 0) return;
  const auto w = std::make_shared<MujocoWorkload>(c.scene, 2 * c.mujoco_contacts, c.settling, kStates);
  LITHE_CHECK(w->largest_drift() <= c.allowed_drift, "{}: in MuJoCo it has moved by {} m and is not at rest", c.name,
              w->largest_drift());
  LITHE_CHECK(w->contacts() == c.mujoco_contacts, "{}: MuJoCo has {} contacts instead of {}", c.name, w->contacts(),
              c.mujoco_contacts);
  add("mujoco/" + c.name, [w](::benchmark::State& state) {
    for (auto _ : state) {
      w->step();
      ::benchmark::ClobberMemory();
    }
    state.counters["contacts"] = w->contacts();
    state.counters["rows"] = w->rows();
    state.counters["iterations"] = w->iterations();
  });
}
#else
void register_mujoco(const Case&) {}
#endif

// Parts of the humanoid's step; what is left of the whole is the assembly of rows and matrix and the way back from impulses
// to velocities.
void register_stages(const Case& c) {
  const auto w = std::make_shared<StepWorkload>(c.scene, c.settling, kStates);
  w->step();
  const auto stage = [&](const char* name, auto run) {
    add(std::string("stage/") + name, [w, run](::benchmark::State& state) {
      for (auto _ : state) {
        run(*w);
        ::benchmark::ClobberMemory();
      }
    });
  };
  const auto smooth = std::make_shared<StepWorkload>(*w);
  smooth->options.contacts = false;
  stage("without_contacts", [smooth](StepWorkload&) { smooth->step(); });
  stage("detection", [](StepWorkload& x) {
    StepRecord& r = x.record;
    detect_contacts(*r.colliders, r.X_WB, r.detection, r.contacts, r.options.detection);
  });
  stage("lcp", [](StepWorkload& x) {
    StepRecord& r = x.record;
    r.guess = r.classes;
    for (int i = 0; i < r.problem.island_count(); ++i) {
      const Island& island = r.problem.islands.islands()[i];
      const std::size_t first = island.first_row, count = island.row_count;
      r.reports[i] =
          solve_lcp(r.problem.lcp(i), r.options.lcp, std::span<const RowClass>(r.guess).subspan(first, count), r.lcp,
                    std::span(r.f).subspan(first, count), std::span(r.w).subspan(first, count),
                    std::span(r.classes).subspan(first, count));
    }
  });
}

void register_all() {
#ifdef LITHE_HAVE_MUJOCO
  ::benchmark::AddCustomContext("mujoco", mujoco_version());
#else
  std::fprintf(stderr,
               "bench_step: MuJoCo's rows are left out: it was not found when this was built (libmujoco-dev)\n");
#endif
  const Case cases[] = {
      {"humanoid", held_humanoid(), 100, 0.05, 12, 6},
      {"half_cheetah", half_cheetah_on_ground(), 500, 0.1, 2, 2},
      {"stack_20", stack(20), 1000, 0.1, 80, 80},
      {"boxes_10", boxes_on_ground(10), 500, 0.01, 40, 40},
      {"boxes_100", boxes_on_ground(100), 500, 0.01, 400, 400},
      {"boxes_1000", boxes_on_ground(1000), 500, 0.01, 4000, 0},  // MuJoCo would want gigabytes for its matrices
  };
  for (const Case& c : cases) {
    register_step(c);
    register_mujoco(c);
  }
  register_stages(cases[0]);
}

}  // namespace
}  // namespace lithe::bench

int main(int argc, char** argv) {
  try {
    return lithe::bench::run(argc, argv, lithe::bench::register_all);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_step: error: %s\n", error.what());
    return 1;
  }
}
