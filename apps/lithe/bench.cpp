#include <fmt/core.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/lithe/bench_report.h"
#include "apps/lithe/bench_timer.h"
#include "apps/lithe/bench_workload.h"
#include "apps/lithe/commands.h"
#include "apps/lithe/find_scene.h"
#include "apps/lithe/interrupt.h"
#include "apps/lithe/progress.h"
#include "lithe/core/check.h"

namespace lithe::cli {

namespace {

constexpr double kAllowance = 0.5;  // s, of each thing that is timed in a scene

struct BenchOptions {
  std::vector<std::string> scenes = {"humanoid", "half_cheetah", "jump_worm", "catapult", "chain:5",
                                     "chain:9",  "chain:18",     "chain:32",  "boxes:1",  "boxes:2",
                                     "boxes:4",  "boxes:8",      "boxes:16",  "boxes:32"};
  std::string model;
  SceneOptions files;
  int rounds = 500;
  int after = -1;
  bool json = false;
};

// The timer of one scene, and which of its actions is what.
class SceneBench {
 public:
  SceneBench(BenchWorkload& workload, int rounds) : workload_(workload), timer_(rounds, kAllowance) {
    BenchWorkload& w = workload;
    forward_ = timer_.add([&w] { w.step(); });
    jacobians_ = timer_.add([&w] { w.jacobians(StepBlocks::state); });
    vjp_ = timer_.add([&w] { w.vjp(); });
    jvp_ = timer_.add([&w] { w.jvp(); });
    for (std::size_t i = 0; i < kTimedBlocks.size(); ++i) {
      blocks_[i] = timer_.add([&w, block = kTimedBlocks[i].block] { w.jacobians(block); });
    }
    central_ = timer_.add([&w] { w.differences(DifferenceMethod::central); });
    ridders_ = timer_.add([&w] { w.differences(DifferenceMethod::ridders); });
  }

  bool run(const std::function<bool(int)>& keep_going) { return timer_.run(keep_going); }

  BenchResult result() const {
    const auto microseconds = [&](int action) { return 1e6 * timer_.seconds(action); };
    BenchResult result = {.scene = workload_.name(),
                          .nv = workload_.dofs(),
                          .contacts = workload_.status().contacts,
                          .rows = workload_.status().rows,
                          .rank = workload_.rank(),
                          .islands = workload_.status().islands,
                          .guessed = workload_.status().guessed,
                          .forward = microseconds(forward_),
                          .jacobians = microseconds(jacobians_),
                          .vjp = microseconds(vjp_),
                          .jvp = microseconds(jvp_),
                          .central = microseconds(central_),
                          .ridders = microseconds(ridders_)};
    for (std::size_t i = 0; i < kTimedBlocks.size(); ++i) result.blocks[i] = microseconds(blocks_[i]);
    return result;
  }

 private:
  const BenchWorkload& workload_;
  RoundTimer timer_;
  int forward_, jacobians_, vjp_, jvp_, central_, ridders_;
  std::array<int, kTimedBlocks.size()> blocks_;
};

BenchReport measure(const BenchOptions& options) {
  // All of them before anything is timed: a wrong name shows at once.
  std::vector<std::unique_ptr<BenchWorkload>> workloads;
  const std::vector<std::string> scenes = options.model.empty() ? options.scenes : std::vector{options.model};
  for (const std::string& scene : scenes) {
    workloads.push_back(std::make_unique<BenchWorkload>(scene, options.after, options.files));
  }
  BenchReport report = {.scenes_wanted = static_cast<int>(workloads.size()), .rounds = options.rounds};
  Progress progress("bench", static_cast<long>(options.rounds) * report.scenes_wanted, true);
  const InterruptGuard interrupt;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    SceneBench bench(*workloads[i], options.rounds);
    const bool finished = bench.run([&](int rounds) {
      progress.update(static_cast<long>(i) * options.rounds + rounds);
      return !interrupt.interrupted();
    });
    if (!finished) break;
    report.results.push_back(bench.result());
  }
  return report;
}

void bench(const BenchOptions& options) {
  const BenchReport report = measure(options);
  fmt::print("{}", options.json ? report.json() : report.text());
  if (report.interrupted()) throw Interrupted();
}

}  // namespace

void add_bench(CLI::App& app) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* bench_app = app.add_subcommand("bench", "Time steps and their derivatives.");
  bench_app
      ->add_option(
          "scene", options->scenes,
          "Names (`lithe scenes` lists them), or URDF, SDF or MJCF files. By default the paper's, chains without "
          "contact and boxes in contact")
      ->capture_default_str();
  bench_app->add_option("--model", options->model,
                        "A URDF, SDF or MJCF file to measure instead: stood on a ground as it starts");
  add_scene_options(*bench_app, options->files);
  bench_app
      ->add_option("--after", options->after,
                   "Steps to take first; by default as many as a scene needs to be in contact")
      ->check(CLI::Range(0, 1000000));
  bench_app->add_option("--rounds", options->rounds, "How often each thing is timed; the shortest time counts")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  bench_app->add_flag("--json", options->json, "Report as a JSON object");
  bench_app->callback([options] { bench(*options); });
}

}  // namespace lithe::cli
