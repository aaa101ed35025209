#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "apps/experiments/recorded_motion.h"
#include "apps/lithe/commands.h"
#include "apps/lithe/find_scene.h"
#include "apps/lithe/interrupt.h"
#include "apps/lithe/optimize_report.h"
#include "apps/lithe/solve_line.h"
#include "lithe/core/check.h"
#include "lithe/optimize/methods.h"
#include "lithe/optimize/scene_problem.h"
#include "lithe/optimize/solvers/evaluated_motion.h"
#include "lithe/plot/solution_figure.h"
#include "lithe/recording/recording_writer.h"
#include "lithe/scenes/any_task.h"
#include "lithe/scenes/ground.h"

namespace lithe::cli {

using namespace plot;

using namespace internal;

namespace {

struct OptimizeOptions {
  std::string scene;
  SceneOptions files;
  std::string task;  // empty: the scene's
  std::string method = "ddp";
  int iterations = 200;
  double seconds = 0;  // 0: no limit
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::uint64_t seed = 1;
  bool aware = false;
  double rate = 0;  // 0: the solver's own
  SceneProblemOptions problem;
  std::string plot, record;
  bool json = false;
};

// A path that cannot be written to should show before the work, not after. Leaves what is there as it is.
void check_writable(const std::string& path) {
  const bool there = std::filesystem::exists(path);
  std::FILE* file = std::fopen(path.c_str(), "ab");
  LITHE_CHECK(file != nullptr, "cannot write {}: {}", path, std::strerror(errno));
  std::fclose(file);
  if (!there) std::filesystem::remove(path);
}

Scene scene_with_task(const OptimizeOptions& options) {
  Scene scene = find_scene(options.scene, options.files);
  if (!options.task.empty()) scene.task = task_from(scene, options.task);
  LITHE_CHECK(
      scene.task,
      "'{}' has no task, so there is nothing to optimize; --task sets one: hold, \"reach NAME X Y Z\" or \"rise "
      "HEIGHT\"; these scenes have one: {}",
      options.scene, fmt::join(scenes_with_tasks(), ", "));
  return scene;
}

class Optimization {
 public:
  explicit Optimization(const OptimizeOptions& options)
      : options_(options), scene_(scene_with_task(options)), problem_(problem_of(scene_, options.problem)) {
    LITHE_CHECK(problem_.controls() > 0 || options.method != "ddp",
                "scene '{}' has no motor, and ddp chooses forces only; try --method shooting, which may choose how it "
                "starts",
                options.scene);
    if (!options_.plot.empty()) check_writable(options_.plot);
    if (!options_.record.empty()) {
      writer_.emplace(options_.record, recording_header(problem_.model, options_.scene, problem_.step.time_step));
    }
  }

  void run() {
    const Plan initial = bolted_down() ? holding_plan(problem_) : initial_plan(problem_);
    MotionEvaluator evaluator(problem_);
    EvaluatedMotion motion;
    evaluator.run(initial, MotionEvaluator::Keep::nothing, nullptr, motion);
    const double cost_before = motion.cost;
    const Solution solution = solve(initial);
    const OptimizeReport report = {.scene_name = options_.scene,
                                   .method = options_.method,
                                   .scene = scene_,
                                   .problem = problem_,
                                   .solution = solution,
                                   .cost_before = cost_before,
                                   .threads = options_.threads,
                                   .seed = options_.seed,
                                   .aware = options_.aware};
    fmt::print("{}", options_.json ? report.json() : report.text());
    std::fflush(stdout);  // the report is out even if a file cannot be written
    if (writer_) record(solution.plan);
    if (!options_.plot.empty()) plot(solution);
    if (report.interrupted()) throw Interrupted();
  }

 private:
  // Whether nothing but its joints' forces carries a robot that was set a task here. (The paper's scenes begin with none.)
  bool bolted_down() const {
    return !options_.task.empty() && scene_.model.motors().empty() && !falling_joint(scene_.model, scene_.q);
  }

  Solution solve(const Plan& initial) {
    MethodOptions method;
    method.max_iterations = options_.iterations;
    if (options_.seconds > 0) method.max_seconds = options_.seconds;
    method.threads = options_.threads;
    method.seed = options_.seed;
    method.gradient.complementarity_aware = options_.aware;
    method.shot = scene_.task->shot;
    method.rate = options_.rate;
    SolveLine line(options_.scene + " " + options_.method);
    const InterruptGuard interrupt;
    method.progress = [&](const lithe::Progress& progress) {
      line.update(progress);
      return !interrupt.interrupted();
    };
    return solve_by(options_.method, problem_, initial, method);
  }

  void record(const Plan& plan) {
    for (const RecordedFrame& frame : experiments::recorded_motion(problem_, plan)) writer_->append(frame);
    writer_->close();
    say_file("recording", options_.record);
  }

  void plot(const Solution& solution) {
    const std::string title = fmt::format("{}: {}", options_.scene, options_.method);
    plot::write_svg(plot::solution_figure(title, problem_, solution, &*scene_.task), options_.plot);
    say_file("plot", options_.plot);
  }

  void say_file(const char* what, const std::string& path) const {
    if (!options_.json) fmt::print("  {:<12}{}\n", what, path);
  }

  const OptimizeOptions& options_;
  Scene scene_;
  Problem problem_;
  std::optional<RecordingWriter> writer_;
};

// CLI11's own checks let NaN pass, and read 99999999999999999999 as a large number.
template <class Number>
CLI::Validator whole_number(Number least) {
  return CLI::Validator(
      [least](const std::string& text) {
        Number number = {};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool good = error == std::errc() && end == text.data() + text.size() && number >= least;
        return good ? "" : fmt::format("'{}' is none of {} … {}", text, least, std::numeric_limits<Number>::max());
      },
      "");
}

CLI::Validator number(bool zero_too) {
  return CLI::Validator(
      [zero_too](const std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool good =
            !text.empty() && *end == '\0' && std::isfinite(value) && (value > 0 || (zero_too && value == 0));
        return good ? "" : fmt::format("'{}' is no number {} 0", text, zero_too ? "≥" : ">");
      },
      "");
}

}  // namespace

void add_optimize(CLI::App& app) {
  const auto options = std::make_shared<OptimizeOptions>();
  CLI::App* command = app.add_subcommand("optimize", "Find the forces that make a scene do its task.");
  command
      ->add_option(
          "scene", options->scene,
          "One that has a task: cartpole, drone, catapult …; or any other, or a URDF, SDF or MJCF file, with --task")
      ->required();
  command
      ->add_option(
          "--task", options->task,
          "For any robot, instead of the scene's task: hold (end where it starts, at rest), \"reach NAME X Y Z\" "
          "(bring a body or frame to a place, m) or \"rise HEIGHT\" (get or jump so much higher, m)")
      ->type_name("TASK");
  command
      ->add_option("--method", options->method,
                   "ddp; single shooting by L-BFGS (shooting), Adam (adam) or gradient descent (descent); multiple "
                   "shooting (multiple); stochastic search (cem, mppi); search and gradients in turn (hybrid)")
      ->check(CLI::IsMember(method_names()))
      ->capture_default_str();
  command->add_option("--iterations", options->iterations, "At most so many")
      ->check(whole_number(1))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "At most so long; by default no limit")->check(number(false));
  command->add_option("--threads", options->threads, "The result is the same for any number")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of stochastic search")->check(whole_number(0L))->capture_default_str();
  command->add_flag("--aware", options->aware,
                    "Complementarity-aware gradients, which leave saddle points of contacts");
  command->add_option("--hold", options->problem.hold, "Steps for which a force stays")
      ->check(whole_number(1))
      ->capture_default_str();
  command
      ->add_option("--effort", options->problem.effort_weight,
                   "What it costs to push with full force all the time, per joint; 0: nothing")
      ->check(number(true))
      ->capture_default_str();
  command->add_option("--steps", options->problem.steps, "Length of the motion; by default the task's")
      ->check(whole_number(1));
  command->add_option("--rate", options->rate, "Length of the steps of adam and descent; by default 0.01")
      ->check(number(false));
  command->add_option("--plot", options->plot, "An SVG file to draw the cost, the forces and the motion in");
  command->add_option("--record", options->record, "A file to record the motion in (docs/recording.md)");
  command->add_flag("--json", options->json, "Report as a JSON object");
  add_scene_options(*command, options->files);
  command->callback([options] { Optimization(*options).run(); });
}

}  // namespace lithe::cli
