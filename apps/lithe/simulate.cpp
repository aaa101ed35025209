#include <fmt/core.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "apps/lithe/commands.h"
#include "apps/lithe/find_scene.h"
#include "apps/lithe/interrupt.h"
#include "apps/lithe/progress.h"
#include "apps/lithe/random_controls.h"
#include "apps/lithe/recorder.h"
#include "apps/lithe/simulation_report.h"
#include "lithe/core/check.h"

namespace lithe::cli {

namespace {

struct SimulateOptions {
  std::string scene;
  SceneOptions files;
  long steps = 1000;
  double time_step = 0;  // 0: the scene's
  std::string controls = "zero";
  std::uint64_t seed = 1;
  int threads = 1;
  std::string out;
  bool cold = false, json = false, quiet = false;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Simulation {
 public:
  explicit Simulation(const SimulateOptions& options)
      : options_(options), scene_(find_scene(options.scene, options.files)), world_(scene_.model, step_options()) {
    world_.set_state(scene_.q, scene_.v);
    control_.motor_targets = scene_.motor_targets;
    if (options_.controls == "random") random_.emplace(scene_.model, options_.seed);
    if (options_.controls == "targets") {
      LITHE_CHECK(!scene_.model.motors().empty(), "--controls targets: {} has no motors", options_.scene);
      targets_.emplace(scene_.model, scene_.motor_targets, options_.seed);
    }
    if (!options_.out.empty()) {
      recorder_.emplace(options_.out, recording_header(scene_.model, options_.scene, world_.options.time_step));
    }
  }

  SimulationReport run() {
    SimulationReport report(options_.scene, world_, options_.steps);
    Progress progress(options_.scene, options_.steps, !options_.quiet);
    const InterruptGuard interrupt;
    const auto start = std::chrono::steady_clock::now();
    long done = 0;
    for (; done < options_.steps && !interrupt.interrupted() && !report.diverged(); ++done) {
      step(report);
      progress.update(done + 1);
    }
    if (recorder_) recorder_->finish(world_.time(), world_.state().q, world_.state().v);
    report.finish(world_, seconds_since(start), done < options_.steps && !report.diverged());
    if (recorder_) report.add_recording(options_.out, recorder_->writer().frames(), recorder_->writer().bytes());
    return report;
  }

 private:
  StepOptions step_options() const {
    StepOptions step;
    step.time_step = options_.time_step > 0 ? options_.time_step : scene_.time_step;
    step.lcp.cold = options_.cold;
    step.threads = options_.threads;
    return step;
  }

  void step(SimulationReport& report) {
    if (random_) control_.tau = random_->next();
    if (targets_) control_.motor_targets = targets_->next();
    const double time = world_.time();
    const auto start = std::chrono::steady_clock::now();
    world_.step(control_);
    report.add_step(world_, seconds_since(start));
    if (recorder_ && !report.diverged()) recorder_->add_step(time, world_.record());
  }

  const SimulateOptions& options_;
  Scene scene_;
  World world_;
  Control control_;
  std::optional<RandomControls> random_;
  std::optional<RandomTargets> targets_;
  std::optional<Recorder> recorder_;
};

void simulate(const SimulateOptions& options) {
  const SimulationReport report = Simulation(options).run();
  if (options.json) {
    fmt::print("{}", report.json());
  } else if (!options.quiet) {
    fmt::print("{}", report.text());
  }
  LITHE_CHECK(!report.diverged(), "the simulation diverged at {}", report.last_step());
  if (report.interrupted()) throw Interrupted();
}

// CLI11 would read 99999999999999999999 steps as many, and a seed of -1 as a large one.
template <class Number>
std::string check_whole_number(const std::string& text) {
  Number number = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good = error == std::errc() && end == text.data() + text.size() && number >= 0;
  return good ? "" : fmt::format("'{}' is none of 0, 1, 2, … {}", text, std::numeric_limits<Number>::max());
}

std::string check_time_step(const std::string& text) {
  char* end = nullptr;
  const double step = std::strtod(text.c_str(), &end);
  return *end == '\0' && step > 0 && std::isfinite(step) ? "" : fmt::format("'{}' is no time step: seconds, > 0", text);
}

}  // namespace

void add_simulate(CLI::App& app) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* simulate_app = app.add_subcommand("simulate", "Run a scene and say how it went.");
  simulate_app->add_option("scene", options->scene, "Its name (`lithe scenes` lists them), or a URDF, SDF or MJCF file")
      ->required();
  simulate_app->add_option("--steps", options->steps, "How many")
      ->check(check_whole_number<long>)
      ->capture_default_str();
  simulate_app->add_option("--dt", options->time_step, "Time step in seconds; by default the scene's own")
      ->check(check_time_step);
  simulate_app
      ->add_option("--controls", options->controls,
                   "Forces on the joints: zero, or random within their effort limits (where there are none, a tenth "
                   "of the weight that the joint carries). Or targets: of the motors, random within the joints' limits")
      ->check(CLI::IsMember({"zero", "random", "targets"}))
      ->capture_default_str();
  simulate_app->add_option("--seed", options->seed, "Of random controls")
      ->check(check_whole_number<std::uint64_t>)
      ->capture_default_str();
  simulate_app
      ->add_option(
          "--threads", options->threads,
          "Share groups of touching bodies, where there are many; 0: one per core. The result is the same for any "
          "number")
      ->check(check_whole_number<int>)
      ->capture_default_str();
  simulate_app->add_option("--out", options->out, "A file to record the motion in (docs/recording.md)");
  simulate_app->add_flag("--cold", options->cold, "Solve every step from scratch, not from the last one's solution");
  simulate_app->add_flag("--json", options->json, "Report as a JSON object");
  simulate_app->add_flag("--quiet", options->quiet, "No progress bar and no report (JSON excepted)");
  add_scene_options(*simulate_app, options->files);
  simulate_app->callback([options] { simulate(*options); });
}

}  // namespace lithe::cli
