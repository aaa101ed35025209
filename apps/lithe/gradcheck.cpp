#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apps/lithe/commands.h"
#include "apps/lithe/find_scene.h"
#include "apps/lithe/gradcheck_report.h"
#include "apps/lithe/interrupt.h"
#include "apps/lithe/progress.h"
#include "apps/lithe/random_controls.h"
#include "lithe/core/check.h"
#include "lithe/model/parameters.h"
#include "lithe/step/world.h"

namespace lithe::cli {

namespace {

struct GradcheckCommand {
  std::string scene;
  SceneOptions files;
  long samples = 100;
  std::uint64_t seed = 1;
  long only = -1;  // this sample alone
  int parameters = 8;
  int steps = 300;
  double tolerance = 1e-5;
  bool json = false;
};

// The first bit of friction adds rows, the first bit of restitution a bounce: at zero there is no derivative.
bool is_threshold(const Model& model, const std::string& parameter_name) {
  for (const char* attribute : {"/friction", "/restitution", "/dry_friction"}) {
    if (parameter_name.ends_with(attribute)) return parameter(model, parameter_name) == 0;
  }
  return false;
}

// Draws steps of a scene and checks them.
class Sampler {
 public:
  explicit Sampler(const GradcheckCommand& command)
      : command_(command), scene_(find_scene(command.scene, command.files)), world_(scene_.model, step_options()) {
    control_.motor_targets = scene_.motor_targets;
    for (const std::string& name : parameter_names(scene_.model)) {
      if (!is_threshold(scene_.model, name)) names_.push_back(name);
    }
    for (const Motor& motor : scene_.model.motors()) names_.push_back("motor/" + motor.name + "/target");
    names_.push_back("time_step");
  }

  GradcheckReport run() {
    GradcheckReport report(command_.scene, static_cast<int>(scene_.model.bodies().size()) - 1, scene_.model.nv(),
                           command_.seed, command_.tolerance);
    const long first = command_.only >= 0 ? command_.only : 0;
    const long count = command_.only >= 0 ? 1 : command_.samples;
    Progress progress(command_.scene, count, true);
    const InterruptGuard interrupt;
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < count && !interrupt.interrupted(); ++i) {
      add(first + i, report);
      progress.update(i + 1);
    }
    report.finish(count, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return report;
  }

 private:
  StepOptions step_options() const {
    StepOptions options;
    options.constraints.time_step = scene_.time_step;
    return options;
  }

  // A sample depends on the seed and its own number alone: after a random number of steps under random forces, the
  // next one.
  void add(long sample, GradcheckReport& report) {
    std::mt19937_64 random(command_.seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(sample));
    RandomControls forces(scene_.model, random());
    world_.set_state(scene_.q, scene_.v);
    for (auto steps = random() % static_cast<std::uint64_t>(command_.steps); steps > 0; --steps) step(forces);
    step(forces);
    const std::vector<std::string> names = some_parameters(random);
    const GradcheckResult& result =
        checker_.check(scene_.model, world_.record(), StepParameters(scene_.model, names), {.seed = random()});
    report.add(sample, result, names);
  }

  void step(RandomControls& forces) {
    control_.tau = forces.next();
    world_.step(control_);
  }

  // The first few of a shuffled list.
  std::vector<std::string> some_parameters(std::mt19937_64& random) {
    std::vector<std::string> names = names_;
    const std::size_t count = std::min(names.size(), static_cast<std::size_t>(command_.parameters));
    for (std::size_t i = 0; i < count; ++i) std::swap(names[i], names[i + random() % (names.size() - i)]);
    names.resize(count);
    return names;
  }

  const GradcheckCommand& command_;
  Scene scene_;
  World world_;
  Control control_;
  std::vector<std::string> names_;
  Gradcheck checker_;
};

void check_gradients(const GradcheckCommand& command) {
  const GradcheckReport report = Sampler(command).run();
  fmt::print("{}", command.json ? report.json() : report.text());
  if (report.interrupted()) throw Interrupted();
  const std::string failure = report.failure();
  LITHE_CHECK(failure.empty(), "{}", failure);
}

}  // namespace

void add_gradcheck(CLI::App& app) {
  const auto command = std::make_shared<GradcheckCommand>();
  CLI::App* gradcheck_app = app.add_subcommand("gradcheck", "Compare the derivatives of steps with differences.");
  constexpr long kMost = std::numeric_limits<int>::max();
  gradcheck_app
      ->add_option("scene", command->scene, "Its name (`lithe scenes` lists them), or a URDF, SDF or MJCF file")
      ->required();
  gradcheck_app->add_option("--samples", command->samples, "How many steps to look at")
      ->check(CLI::Range(1L, kMost))
      ->capture_default_str();
  gradcheck_app->add_option("--seed", command->seed, "Of the random forces that lead to them")
      ->check(CLI::Range(std::uint64_t{0}, static_cast<std::uint64_t>(kMost)))
      ->capture_default_str();
  gradcheck_app->add_option("--only", command->only, "One sample, by its number, from 0")->check(CLI::Range(0L, kMost));
  gradcheck_app
      ->add_option("--steps", command->steps,
                   "A sample is one of the first so many steps from the scene's initial state")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  gradcheck_app
      ->add_option("--parameters", command->parameters,
                   "How many of the model's parameters to differentiate by as well, drawn anew for each sample")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  gradcheck_app->add_option("--tolerance", command->tolerance, "The largest relative error that is no failure")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  gradcheck_app->add_flag("--json", command->json, "Report as a JSON object");
  add_scene_options(*gradcheck_app, command->files);
  gradcheck_app->callback([command] { check_gradients(*command); });
}

}  // namespace lithe::cli
