#include "apps/lithe/demo.h"

#include <fmt/core.h>

#include <memory>

#include "apps/lithe/commands.h"
#include "apps/lithe/terminal.h"

namespace lithe::cli {

void add_demo(CLI::App& app) {
  struct Options {
    std::uint64_t seed = 1;
    bool no_color = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* demo = app.add_subcommand("demo", "Show what Lithe does.");
  demo->add_option("--seed", options->seed, "Of the random starts")->capture_default_str();
  demo->add_flag("--no-color", options->no_color, "No colours, even on a terminal (NO_COLOR does the same)");
  demo->callback([options] {
    show_double_pendulum(options->seed, stdout_wants_colour(options->no_color));
    fmt::print("\n");
    show_derivatives(options->seed);
    fmt::print(
        "\nNext: examples/double_pendulum.cpp is the code behind the picture; another --seed gives another one.\n");
  });
}

}  // namespace lithe::cli
