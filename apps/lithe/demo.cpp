#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/lithe/commands.h"
#include "apps/lithe/demo_page.h"
#include "apps/lithe/demo_table.h"
#include "apps/lithe/demo_throw.h"
#include "apps/lithe/export_files.h"
#include "apps/lithe/interrupt.h"
#include "apps/lithe/next_steps.h"
#include "apps/lithe/progress.h"
#include "apps/lithe/report_text.h"
#include "apps/lithe/terminal.h"
#include "bench/machine.h"
#include "lithe/core/check.h"

namespace lithe::cli {

namespace {

constexpr int kIterations = 150;
constexpr int kRounds = 60;  // of measurements

struct DemoOptions {
  std::string out = "out";
  std::string viewer;  // empty: the usual one
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  bool no_color = false;
};

// What cannot be written shows before the work, not after.
void check_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  LITHE_CHECK(!error, "cannot make the folder '{}' for the results: {}", folder, error.message());
  const std::string probe = (std::filesystem::path(folder) / ".lithe_demo").string();
  write_file(probe, "");
  std::filesystem::remove(probe, error);
}

void headline(const DemoOptions& options, const char* text, bool first = false) {
  const bool bold = stdout_wants_colour(options.no_color);
  fmt::print("{}{}{}{}\n", first ? "" : "\n", bold ? "\x1b[1m" : "", text, bold ? "\x1b[0m" : "");
  std::fflush(stdout);  // it is out while the work goes on
}

std::string length_text(double metres) {
  return metres < 0.1 ? fmt::format("{:.2g} mm", 1e3 * metres) : fmt::format("{:.2f} m", metres);
}

// With a bar that is gone at the end.
DemoThrow optimise(const DemoOptions& options, const InterruptGuard& interrupt) {
  Progress progress("  optimising", kIterations, true);
  return find_throw(kIterations, options.threads, [&](const lithe::Progress& line) {
    progress.update(line.iteration, fmt::format("iteration {}, cost {:.1e}", line.iteration, line.cost));
    return !interrupt.interrupted();
  });
}

std::vector<PaperWorld> measure(const InterruptGuard& interrupt) {
  Progress progress("  measuring", 100, true);
  return measure_paper_worlds(kRounds, [&](double share) {
    progress.update(static_cast<long>(100 * share), fmt::format("{:.0f} %", 100 * share));
    return !interrupt.interrupted();
  });
}

DemoThrow throw_the_box(const DemoOptions& options, const InterruptGuard& interrupt) {
  headline(options, "A throw, found by gradients through contact", true);
  fmt::print("  task        a box falls onto an arm of three motors; after 0.5 s it shall be at x = z = 2.2 m\n");
  std::fflush(stdout);
  const DemoThrow found = optimise(options, interrupt);
  if (interrupt.interrupted()) throw Interrupted();
  const Solution& solution = found.solution;
  fmt::print("  start       no torques: the box ends {} from there\n", length_text(found.miss_before));
  fmt::print("  found       torques with which it ends {} from there{}\n", length_text(found.miss_after),
             found.hits() ? "" : ": a miss, for descent came to an end");
  fmt::print("  cost        {:.4g} → {:.2g}, of which effort {:.2g}\n", solution.history.front().cost, solution.cost,
             solution.cost - found.miss_after * found.miss_after);
  fmt::print("  work        {} iterations of L-BFGS on {} torques{} in {:.1f} s, {} {}\n", solution.iterations,
             found.problem.controls() * found.problem.knots(),
             found.attempts > 1 ? fmt::format(" (attempt {})", found.attempts) : "", solution.seconds.total,
             options.threads, options.threads == 1 ? "thread" : "threads");
  return found;
}

void show_table(const DemoOptions& options, const InterruptGuard& interrupt) {
  headline(options, "What derivatives cost: all Jacobians of one step with contact");
  const std::vector<PaperWorld> worlds = measure(interrupt);
  if (interrupt.interrupted()) throw Interrupted();
  fmt::print("{}", paper_table(worlds));
  fmt::print("  Central, Ridders: by differences of steps. Ratio: how many times as long that takes.\n");
  fmt::print("{}", paragraph(fmt::format("Here: {}, one core. Paper: Werling et al. 2021, appendix, on its machine.",
                                         bench::cpu())));
}

void write_files(const DemoOptions& options, const DemoThrow& found) {
  headline(options, "Before and after");
  const DemoPage page(found);
  for (const std::string& file : page.write_recordings(options.out)) fmt::print("  recording   {}\n", file);
  std::string viewer;
  try {
    viewer = read_viewer_page(options.viewer);
  } catch (const Error& error) {
    fmt::print("  no page     {}\n", error.what());
    return;
  }
  const std::string file = (std::filesystem::path(options.out) / "demo.html").string();
  const std::string html = page.html(viewer);
  write_file(file, html);
  fmt::print("  page        {} ({:.1f} MB): both motions, contacts, gradients, the cost by iteration\n", file,
             1e-6 * static_cast<double>(html.size()));
  fmt::print("  open it     xdg-open {}\n", file);
}

void demo(const DemoOptions& options) {
  check_folder(options.out);
  const InterruptGuard interrupt;
  const DemoThrow found = throw_the_box(options, interrupt);
  show_table(options, interrupt);
  write_files(options, found);
  headline(options, "Next");
  fmt::print("{}", next_steps());
}

}  // namespace

void add_demo(CLI::App& app) {
  const auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand("demo", "Find a throw, compare with the paper, and make a page of it.");
  command->add_option("--out", options->out, "A folder for the page and the recordings")->capture_default_str();
  command->add_option("--viewer", options->viewer, "The viewer's page; by default the one that `make viewer` builds")
      ->type_name("FILE");
  command->add_option("--threads", options->threads, "The result is the same for any number")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_flag("--no-color", options->no_color, "No colours, even on a terminal (NO_COLOR does the same)");
  command->callback([options] { demo(*options); });
}

}  // namespace lithe::cli
