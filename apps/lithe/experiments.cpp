#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "apps/experiments/report.h"
#include "apps/lithe/commands.h"
#include "apps/lithe/interrupt.h"
#include "apps/lithe/terminal.h"

namespace lithe::cli {

namespace {

using experiments::ExperimentOptions;
using experiments::ExperimentReport;

struct Options {
  std::vector<std::string> names;
  std::string out = "out/experiments";
  bool quick = false;
  int threads = 0;
  std::uint64_t seed = 1;
};

// One line on stderr that changes as an experiment goes on, for whoever watches.
class StatusLine {
 public:
  StatusLine() : shown_(stderr_is_terminal()) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const std::string& text) {
    if (!shown_) return;
    const auto width = static_cast<std::size_t>(std::max(20, stderr_columns() - 1));
    std::fprintf(stderr, "\r\033[K%s", text.substr(0, width).c_str());
    std::fflush(stderr);
  }
  void clear() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  bool shown_;
};

void run(const Options& options) {
  std::vector<const experiments::Experiment*> chosen;
  for (const std::string& name : options.names) chosen.push_back(&experiments::experiment(name));
  if (chosen.empty()) {
    for (const experiments::Experiment& each : experiments::all_experiments()) chosen.push_back(&each);
  }
  InterruptGuard guard;
  StatusLine line;
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  ExperimentOptions how = {
      .quick = options.quick, .threads = options.threads > 0 ? options.threads : cores, .seed = options.seed};
  std::vector<ExperimentReport> reports;
  for (const experiments::Experiment* each : chosen) {
    how.say = [&](const std::string& what) {
      line.show(fmt::format("{}: {}", each->name, what));
      return !guard.interrupted();
    };
    reports.push_back(experiments::run(*each, how));
    line.clear();
    if (guard.interrupted()) break;
    fmt::print("{}\n", experiments::summary(reports.back()));
    std::fflush(stdout);
  }
  if (guard.interrupted()) {
    fmt::print(stderr, "lithe: interrupted; no report is written\n");
    throw Interrupted{};
  }
  experiments::write_reports(reports, how, options.out);
  const auto missed = std::ranges::count_if(reports, [](const ExperimentReport& report) { return !report.passed(); });
  fmt::print("Report, figures and motions: {}/report.md\n", options.out);
  if (missed > 0)
    throw CLI::RuntimeError(fmt::format("{} of {} experiments did not show what they should", missed, reports.size()),
                            1);
}

}  // namespace

void add_experiments(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("experiments", "The paper's experiments in optimisation: run, judged and plotted.");
  command->add_option(
      "experiment", options->names,
      "Names; by default all: cartpole, double_cartpole, catapult, jump_worm, drone, humanoid, identification");
  command->add_option("--out", options->out, "A folder for the report, the figures and the motions")
      ->capture_default_str();
  command->add_flag("--quick", options->quick, "Shorter runs");
  command->add_option("--threads", options->threads, "Threads; 0: one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of noise and stochastic search")->capture_default_str();
  command->callback([options] { run(*options); });
}

}  // namespace lithe::cli
