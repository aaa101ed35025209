#include <fmt/core.h>

#include <limits>
#include <memory>
#include <string>

#include "apps/lithe/commands.h"
#include "apps/lithe/find_scene.h"
#include "apps/lithe/gradcheck_report.h"
#include "apps/lithe/gradcheck_sampler.h"
#include "apps/lithe/interrupt.h"
#include "apps/lithe/progress.h"
#include "lithe/core/check.h"

namespace lithe::cli {

namespace {

constexpr int kTooLittleCompared = 3;  // the exit code

struct GradcheckCommand {
  std::string scene;
  SceneOptions files;
  GradcheckSettings settings;
  std::string from;
  bool json = false;
};

// The command that looks at the same samples, but for the choice of one.
std::string same_command(const GradcheckCommand& command) {
  std::string text = "lithe gradcheck " + command.scene;
  const GradcheckSettings usual;
  if (command.settings.steps != usual.steps) text += fmt::format(" --steps {}", command.settings.steps);
  if (command.settings.parameters != usual.parameters) {
    text += fmt::format(" --parameters {}", command.settings.parameters);
  }
  if (!command.from.empty()) text += " --from " + command.from;
  return text;
}

GradcheckReport check_scene(const GradcheckCommand& command, const GradcheckSettings& settings) {
  const Scene scene = find_scene(command.scene, command.files);
  GradcheckReport report(command.scene, scene.model, settings.seed, settings.tolerance, same_command(command));
  Progress progress(command.scene, settings.only >= 0 ? 1 : settings.samples, true);
  const InterruptGuard interrupt;
  GradcheckSampler(scene, settings).run(report, [&](long done) {
    if (done < 0) {
      progress.update(0, "coming to rest");
    } else {
      progress.update(done);
    }
    return interrupt.interrupted();
  });
  return report;
}

void check_gradients(const GradcheckCommand& command) {
  GradcheckSettings settings = command.settings;
  settings.settled = command.from.empty() ? names_file(command.scene) : command.from == "rest";
  const GradcheckReport report = check_scene(command, settings);
  fmt::print("{}", command.json ? report.json() : report.text());
  if (report.interrupted()) throw Interrupted();
  switch (report.verdict()) {
    case GradcheckReport::Verdict::good: return;
    case GradcheckReport::Verdict::wrong: throw Error(report.reason());
    case GradcheckReport::Verdict::too_little:
      fmt::print(stderr, "lithe: error: {}\n", report.reason());
      throw CLI::RuntimeError(kTooLittleCompared);
  }
}

}  // namespace

void add_gradcheck(CLI::App& app) {
  const auto command = std::make_shared<GradcheckCommand>();
  CLI::App* gradcheck_app = app.add_subcommand("gradcheck", "Compare the derivatives of steps with differences.");
  constexpr long kMost = std::numeric_limits<int>::max();
  gradcheck_app
      ->add_option("scene", command->scene, "Its name (`lithe scenes` lists them), or a URDF, SDF or MJCF file")
      ->required();
  gradcheck_app->add_option("--samples", command->settings.samples, "How many steps to look at")
      ->check(CLI::Range(1L, kMost))
      ->capture_default_str();
  gradcheck_app->add_option("--seed", command->settings.seed, "Of the random forces that lead to them")
      ->check(CLI::Range(std::uint64_t{0}, static_cast<std::uint64_t>(kMost)))
      ->capture_default_str();
  gradcheck_app->add_option("--only", command->settings.only, "One sample, by its number, from 0")
      ->check(CLI::Range(0L, kMost));
  gradcheck_app
      ->add_option("--steps", command->settings.steps, "A sample is one of the first so many steps of a motion")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  gradcheck_app
      ->add_option("--parameters", command->settings.parameters,
                   "How many of the model's parameters to differentiate by as well, drawn anew for each sample")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  gradcheck_app->add_option("--tolerance", command->settings.tolerance, "The largest relative error that is no failure")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  gradcheck_app
      ->add_option(
          "--seconds", command->settings.seconds,
          "How long it may take; after that no further sample is looked at. Those that are do not depend on it")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  gradcheck_app
      ->add_option("--from", command->from,
                   "Where motions begin: at rest, after which joints swing about the pose that they are held in (rest: "
                   "for files), or in "
                   "the scene's own state, under forces drawn anew at each step (start: for scenes)")
      ->check(CLI::IsMember({"rest", "start"}));
  gradcheck_app->add_flag("--json", command->json, "Report as a JSON object");
  add_scene_options(*gradcheck_app, command->files);
  gradcheck_app->footer(
      "Exit code: 0 where derivatives and differences agree in 80 % of the samples or more and disagree in none; 1 "
      "where they disagree, or "
      "the scene cannot be loaded; 2 for bad usage; 3 where less than 80 % of the samples could be compared; 130 if "
      "interrupted.");
  gradcheck_app->callback([command] { check_gradients(*command); });
}

}  // namespace lithe::cli
