#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lithe/optimize/solve.h"
#include "lithe/plot/svg_plot.h"
#include "lithe/recording/recording.h"

namespace lithe::experiments {

using namespace plot;

// The paper's experiments, each a function that runs it and says what came of it.

struct ExperimentOptions {
  bool quick = false;  // shorter: for tests; the findings are the same, some of them with lower demands
  int threads = 1;
  std::uint64_t seed = 1;
  // Called now and then from the thread that runs the experiment: what is going on, for people. Returning false ends the experiment with
  // what it has.
  std::function<bool(const std::string& what)> say = {};
};

// Something that was to be shown, and what was found.
struct Finding {
  std::string what, wanted, found;
  bool reached = false;
  bool by_the_clock = false;  // on a machine with other work it is a matter of chance
};

// A motion for a viewer.
struct NamedMotion {
  std::string name;
  Model model;
  double time_step = 0;
  std::vector<RecordedFrame> frames;
};

struct NamedFigure {
  std::string name;  // of the file
  Figure figure;
};

struct ExperimentReport {
  std::string name, title;
  std::string text;  // what was done, Markdown
  std::vector<Finding> findings;
  std::vector<NamedFigure> figures;
  std::vector<NamedMotion> motions;
  double seconds = 0;

  bool passed() const;
};

struct Experiment {
  const char* name;
  const char* title;
  void (*run)(const ExperimentOptions& options, ExperimentReport& report);
};

// In the paper's order.
std::span<const Experiment> all_experiments();

// An unknown name is an Error that lists the known ones.
const Experiment& experiment(const std::string& name);

ExperimentReport run(const Experiment& experiment, const ExperimentOptions& options);

// The single experiments.
void cartpole_experiment(const ExperimentOptions& options, ExperimentReport& report);
void double_cartpole_experiment(const ExperimentOptions& options, ExperimentReport& report);
void catapult_experiment(const ExperimentOptions& options, ExperimentReport& report);
void jump_worm_experiment(const ExperimentOptions& options, ExperimentReport& report);
void drone_experiment(const ExperimentOptions& options, ExperimentReport& report);
void humanoid_experiment(const ExperimentOptions& options, ExperimentReport& report);
void identification_experiment(const ExperimentOptions& options, ExperimentReport& report);

}  // namespace lithe::experiments
