// How long a whole step takes, warm: kinematics, dynamics, contacts, LCP and integration, from states that follow one
// another in a simulation.
//
//   humanoid      stands on its two mesh feet, 12 contact points. Springs and dampers in its joints hold it, for nothing
//                 else does: a robot without them falls, and no two steps of a fall compare
//   half_cheetah  stands on its feet, held by its own springs
//   stack_20      20 boxes, one on the other
//   boxes_N       N boxes side by side on the ground
//
// "motion" does the same for robots under random controls that change with each step, "forces" under random forces, "islands" for stacks, walls and piles of growing size
// from their start on, and "batch" for many worlds on several threads (bench/motion.h, bench/batch.h). Robots are the models in bench/models, two
// of the catalogue, and what LITHE_MODELS names: folders separated by ':'.
//
// If MuJoCo was there when this was built, it steps the same models in the same run, from its own states and with its
// default settings. It finds four points between a mesh and a plane, where we find all six of a sole's corners.
//
// A model that has fallen, or has other contacts than stated here, is an error and not a result.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/batch.h"
#include "bench/motion.h"
#include "bench/mujoco_workload.h"
#include "bench/runner.h"
#include "bench/step_workload.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/robots/half_cheetah.h"
#include "lithe/scenes/robots/humanoid.h"
#include "lithe/scenes/solids/free_bodies.h"
#include "lithe/scenes/solids/pile.h"
#include "lithe/scenes/solids/towers.h"
#include "lithe/step/internal/recorded_stages.h"
#include "lithe/step/internal/step_tape.h"
#include "lithe/step/internal/step_workspace.h"

namespace lithe::bench {

using namespace internal;
namespace {

constexpr int kStates = 16;
constexpr double kSameNumbers = 1e-9;  // two computations of the same number
constexpr double kSameFile = 1e-5;     // two readers' inertias of the same mesh

struct Case {
  std::string name;
  Scene scene;
  int settling;          // steps before those that are measured
  double allowed_drift;  // m, from where the scene starts: it must not have fallen by then
  int contacts;          // in every one of the states
  int mujoco_contacts;   // the same there
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

// What throws is no result, and the others are measured nonetheless.
template <class Run>
::benchmark::internal::Benchmark* add(const std::string& name, Run run) {
  return ::benchmark::RegisterBenchmark(name.c_str(), [run](::benchmark::State& state) {
    try {
      run(state);
    } catch (const std::exception& error) {
      const std::string text = error.what();
      state.SkipWithError(text.c_str());
    }
  });
}

// Made when it is first wanted, so that a filter saves the time of what it leaves out.
template <class Make>
auto lazily(Make make) {
  using Made = std::invoke_result_t<Make>;
  return [make, made = std::make_shared<std::optional<Made>>()]() -> Made& {
    if (!*made) made->emplace(make());
    return **made;
  };
}

void register_step(const Case& c) {
  const auto workload = lazily([c] {
    StepWorkload w(c.scene, c.settling, kStates);
    LITHE_CHECK(w.drift <= c.allowed_drift, "{}: it has moved by {} m and is not at rest", c.name, w.drift);
    LITHE_CHECK(w.fewest_contacts == c.contacts && w.most_contacts == c.contacts,
                "{}: there are {} to {} contacts instead of {}", c.name, w.fewest_contacts, w.most_contacts,
                c.contacts);
    return w;
  });
  keep_minimum(add("step/" + c.name, [workload](::benchmark::State& state) {
    StepWorkload& w = workload();
    for (auto _ : state) {
      w.step();
      ::benchmark::ClobberMemory();
    }
    state.counters["contacts"] = w.mean(w.contacts);
    state.counters["rows"] = w.mean(w.rows);
    state.counters["islands"] = w.mean(w.islands);
    state.counters["guessed"] = w.mean(w.guessed);
  }));
}

void register_mujoco(const Case& c) {
  if (!have_mujoco()) return;
  const auto workload = lazily([c] {
    MujocoWorkload w(c.scene, c.settling, kStates);
    LITHE_CHECK(w.drift() <= c.allowed_drift, "{}: in MuJoCo it has moved by {} m and is not at rest", c.name,
                w.drift());
    LITHE_CHECK(w.contacts() == c.mujoco_contacts, "{}: MuJoCo has {} contacts instead of {}", c.name, w.contacts(),
                c.mujoco_contacts);
    return w;
  });
  keep_minimum(add("mujoco/" + c.name, [workload](::benchmark::State& state) {
    MujocoWorkload& w = workload();
    for (auto _ : state) {
      w.step();
      ::benchmark::ClobberMemory();
    }
    state.counters["contacts"] = w.contacts();
    state.counters["rows"] = w.rows();
    state.counters["iterations"] = w.iterations();
  }));
}

// Parts of the humanoid's step; what is left of the whole is the assembly of rows and matrix and the way back from impulses
// to velocities.
void register_stages(const Case& c) {
  const auto workload = lazily([c] {
    StepWorkload w(c.scene, c.settling, kStates);
    w.step();
    return w;
  });
  const auto stage = [&](const char* name, auto run) {
    keep_minimum(add(std::string("stage/") + name, [workload, run](::benchmark::State& state) {
      StepWorkload& w = workload();
      for (auto _ : state) {
        run(w);
        ::benchmark::ClobberMemory();
      }
    }));
  };
  const auto smooth = lazily([workload] {
    StepWorkload w = workload();
    w.options.contacts = false;
    return w;
  });
  stage("without_contacts", [smooth](StepWorkload&) { smooth().step(); });
  const auto poses = lazily([workload] { return force_stages_of(workload().scene.model, workload().record).X_WB; });
  const auto detection = std::make_shared<DetectionWorkspace>();
  stage("detection", [poses, detection](StepWorkload& x) {
    StepRecord& r = x.record;
    detect_contacts(*r.tape().colliders, poses(), *detection, r.contacts, r.options.detection);
  });
  const auto problem = lazily([workload] { return lcps_of(workload().scene.model, workload().record); });
  const auto guess = std::make_shared<std::vector<RowMode>>();
  stage("lcp", [problem, guess](StepWorkload& x) {
    StepRecord& r = x.record;
    *guess = r.modes;
    for (int i = 0; i < problem().island_count(); ++i) {
      const Island& island = problem().islands.islands()[i];
      const auto part = [&](auto& all) { return std::span(all).subspan(island.first_row, island.row_count); };
      r.reports[i] = solve_lcp(problem().lcp(i), r.options.lcp, part(*guess), island_workspace().lcp, part(r.f),
                               part(r.w), part(r.modes));
    }
  });
}

void count(::benchmark::UserCounters& counters, const std::string& prefix, const EngineResult& result) {
  const auto set = [&](const std::string& name, double value) { counters[prefix + name] = value; };
  set("mean", result.motion.mean());
  set("95", result.motion.quantile(0.95));
  set("99.9", result.motion.quantile(0.999));
  set("max", result.motion.largest());
  set("first", result.first);
  set("early_max", result.early);
  set("rest", result.rest.mean());
  set("rest_max", result.rest.largest());
  set("steps", static_cast<double>(result.motion.us.size()));
  set("restarts", result.restarts);
  for (const auto& [name, mean] : result.motion_means) set(name, mean);
  for (const auto& [name, mean] : result.rest_means) set("rest_" + name, mean);
}

// What is measured once and as a whole, by a run that sets the counters and gives the time of a step, in µs.
template <class Measure>
void add_single(const std::string& name, Measure measure) {
  add(name,
      [measure](::benchmark::State& state) {
        const double microseconds = measure(state.counters);
        for (auto _ : state) state.SetIterationTime(1e-6 * microseconds);
      })
      ->Iterations(1)
      ->Repetitions(1)
      ->UseManualTime()
      ->Unit(::benchmark::kMicrosecond);
}

// The subject in MuJoCo, where it is there: as the same model, or it is an Error.
std::optional<MujocoWorld> mujoco_of(const Subject& subject, double tolerance) {
  if (!have_mujoco()) return {};
  std::optional<MujocoWorld> mujoco = subject.mujoco();
  check_same_model(subject, *mujoco, tolerance);
  return mujoco;
}

const MujocoWorld* pointer(const std::optional<MujocoWorld>& mujoco) { return mujoco ? &*mujoco : nullptr; }

double count_both(::benchmark::UserCounters& counters, const Subject& subject, const MotionResult& result) {
  counters["nv"] = subject.scene.model.nv();
  counters["left_out"] = static_cast<double>(MujocoBridge(subject.loaded).left_out().size());
  count(counters, "", result.ours);
  if (result.mujoco) count(counters, "mujoco_", *result.mujoco);
  return result.ours.motion.mean();
}

template <class Make>
void register_motion(const std::string& name, Make make, const MotionSettings& settings, double tolerance) {
  add_single(name, [make, settings, tolerance](::benchmark::UserCounters& counters) {
    const Subject subject = make(settings);
    const std::optional<MujocoWorld> mujoco = mujoco_of(subject, tolerance);
    return count_both(counters, subject, measure_motion(subject, pointer(mujoco), settings));
  });
}

void register_motions(const std::string& section, const MotionSettings& settings) {
  for (const std::string name : {"humanoid", "half_cheetah"}) {
    const auto make = [name](const MotionSettings&) { return subject_from_scene(name, scene(name)); };
    register_motion(section + "/lithe_" + name, make, settings, kSameNumbers);
  }
  std::string places = LITHE_BENCH_MODELS;
  if (const char* foreign = std::getenv("LITHE_MODELS")) places += std::string(":") + foreign;
  for (const ModelFile& file : model_files(places)) {
    const auto make = [file](const MotionSettings& s) { return subject_from_file(file.name, file.path, s.keyframe); };
    register_motion(section + "/" + file.name, make, settings, kSameFile);
  }
}

// Random forces on every DoF shake more than random controls. The models start in the pose of the file, which often is none that the robot can be
// in: loops are strained, and shapes overlap.
MotionSettings under_forces(MotionSettings settings) {
  settings.shaking = Shaking::forces;
  if (settings.keyframe.empty()) settings.keyframe = kPoseOfTheFile;
  return settings;
}

// Scenes that are one island, or come to be one, in several sizes.
void register_islands(MotionSettings settings) {
  settings.steps = std::min(settings.steps, 1000);
  settings.seconds = 10;
  settings.passes = 1;  // a single step may take as long as all steps of a robot
  settings.block = 5;
  const std::pair<const char*, std::vector<int>> families[] = {{"stack", {20, 50, 100, 200}},
                                                               {"wall", {25, 100, 400, 1000}},
                                                               {"pile", {25, 50, 100, 200, 1000}},
                                                               {"heap", {25, 100, 200, 400, 1000}}};
  for (const auto& [family, sizes] : families) {
    for (const int n : sizes) {
      const std::string name = fmt::format("{}:{}", family, n);
      add_single(fmt::format("islands/{}_{}", family, n), [name, n, settings](::benchmark::UserCounters& counters) {
        const bool heaped = name.starts_with("heap");  // which is none of the catalogue's
        const Subject subject = subject_from_scene(name, heaped ? heap(n) : scene(name));
        const std::optional<MujocoWorld> mujoco = mujoco_of(subject, kSameNumbers);
        counters["n"] = n;
        return count_both(counters, subject, measure_settling(subject, pointer(mujoco), settings));
      });
    }
  }
}

// Batches of all sizes against worlds one by one. The two take turns, and what counts is the quickest run of each.
void register_batches() {
  constexpr int kRuns = 5;
  constexpr int kMostMujocoWorlds = 256;  // each takes megabytes
  for (const char* name : {"humanoid", "half_cheetah"}) {
    for (const int worlds : {1, 64, 2048}) {
      for (const int threads : {1, 2, 4, 8, 16}) {
        if (threads > static_cast<int>(std::thread::hardware_concurrency()) || threads > worlds) continue;
        const BatchSettings settings = {.worlds = worlds, .threads = threads};
        const auto measure = [name, settings](::benchmark::UserCounters& counters) {
          const Subject subject = subject_from_scene(name, scene(name));
          BatchResult alone = measure_one_by_one(subject, settings), batch = measure_batch(subject, settings);
          for (int run = 1; run < kRuns; ++run) {
            alone = quicker(alone, measure_one_by_one(subject, settings));
            batch = quicker(batch, measure_batch(subject, settings));
          }
          const auto count_batch = [&](const std::string& prefix, const BatchResult& result) {
            counters[prefix + "step"] = result.step_us;
            counters[prefix + "step_wall"] = result.step_wall_us;
            counters[prefix + "vjp"] = result.vjp_us;
            counters[prefix + "vjp_wall"] = result.vjp_wall_us;
            counters[prefix + "kilobytes"] = result.kilobytes;
            counters[prefix + "steps"] = result.steps;
          };
          counters["worlds"] = settings.worlds;
          counters["threads"] = settings.threads;
          count_batch("", batch);
          count_batch("alone_", alone);
          if (settings.worlds <= kMostMujocoWorlds) {
            const std::optional<MujocoWorld> mujoco = mujoco_of(subject, kSameNumbers);
            if (mujoco) count_batch("mujoco_", measure_mujoco_batch(subject, *mujoco, settings));
          }
          return batch.step_us;
        };
        add_single(fmt::format("batch/{}_{}x{}", name, worlds, threads), measure);
      }
    }
  }
}

void register_all(const MotionSettings& motion) {
  if (have_mujoco()) {
    ::benchmark::AddCustomContext("mujoco", mujoco_version());
  } else {
    std::fprintf(stderr, "bench_step: MuJoCo's columns are left out: it was not found when this was built\n");
  }
  const Case cases[] = {
      {"humanoid", held_humanoid(), 100, 0.05, 12, 8},
      {"half_cheetah", half_cheetah_on_ground(), 500, 0.1, 2, 2},
      {"stack_20", stack(20), 1000, 0.1, 80, 80},
      {"boxes_10", boxes_on_ground(10), 500, 0.01, 40, 40},
      {"boxes_100", boxes_on_ground(100), 500, 0.01, 400, 400},
      {"boxes_1000", boxes_on_ground(1000), 500, 0.01, 4000, 4000},
  };
  for (const Case& c : cases) {
    register_step(c);
    register_mujoco(c);
  }
  register_stages(cases[0]);
  register_motions("motion", motion);
  register_motions("forces", under_forces(motion));
  register_islands(motion);
  register_batches();
}

// Takes --motion_NAME=NUMBER and --motion_start=KEYFRAME out of the arguments: Google Benchmark knows nothing of them.
MotionSettings take_settings(int& argc, char** argv) {
  MotionSettings settings;
  const std::pair<std::string_view, int*> numbers[] = {{"--motion_steps=", &settings.steps},
                                                       {"--motion_seeds=", &settings.seeds},
                                                       {"--motion_passes=", &settings.passes},
                                                       {"--motion_settling=", &settings.settling},
                                                       {"--motion_rest_steps=", &settings.rest_steps}};
  constexpr std::string_view kStart = "--motion_start=";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    bool taken = argument.starts_with(kStart);
    if (taken) settings.keyframe = argument.substr(kStart.size());
    for (const auto& [name, number] : numbers) {
      if (!argument.starts_with(name)) continue;
      const std::string_view text = argument.substr(name.size());
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
      LITHE_CHECK(error == std::errc() && end == text.data() + text.size() && *number >= 1,
                  "{} is followed by a whole number from 1 on, not '{}'", name, text);
      taken = true;
    }
    if (!taken) argv[kept++] = argv[i];
  }
  argc = kept;
  return settings;
}

}  // namespace
}  // namespace lithe::bench

int main(int argc, char** argv) {
  using namespace lithe::bench;
  try {
    const MotionSettings motion = take_settings(argc, argv);
    return run(argc, argv, [&] { register_all(motion); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_step: error: %s\n", error.what());
    return 1;
  }
}
