#include "apps/experiments/experiment.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "lithe/core/check.h"

namespace lithe::experiments {

namespace {

constexpr std::array kExperiments = {
    Experiment{"cartpole", "Cartpole: DDP and stochastic search", cartpole_experiment},
    Experiment{"double_cartpole", "Double cartpole: DDP and stochastic search", double_cartpole_experiment},
    Experiment{"catapult", "Catapult: multiple shooting and stochastic search", catapult_experiment},
    Experiment{"jump_worm", "Jump-Worm: gradients and stochastic search", jump_worm_experiment},
    Experiment{"drone", "Drone: leaving a saddle point", drone_experiment},
    Experiment{"humanoid", "Humanoid: a jump from a crouch", humanoid_experiment},
    Experiment{"identification", "Identification from noisy motions", identification_experiment},
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

bool ExperimentReport::passed() const { return !findings.empty() && std::ranges::all_of(findings, &Finding::reached); }

std::span<const Experiment> all_experiments() { return kExperiments; }

const Experiment& experiment(const std::string& name) {
  std::string known;
  for (const Experiment& each : kExperiments) {
    if (name == each.name) return each;
    known.append(known.empty() ? "" : ", ").append(each.name);
  }
  LITHE_CHECK(false, "there is no experiment '{}'; there are {}", name, known);
}

ExperimentReport run(const Experiment& experiment, const ExperimentOptions& options) {
  ExperimentReport report;
  report.name = experiment.name;
  report.title = experiment.title;
  const double start = now();
  experiment.run(options, report);
  report.seconds = now() - start;
  return report;
}

}  // namespace lithe::experiments
