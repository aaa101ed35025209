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
  demo->add_option("--seed", options->seed, "Seed of the random starts")->capture_default_str();
  demo->add_flag("--no-color", options->no_color, "No colours, even on a terminal (NO_COLOR does the same)");
  demo->callback([options] {
    show_double_pendulum(options->seed, stdout_wants_colour(options->no_color));
    fmt::print("\n");
    show_derivatives(options->seed);
    fmt::print("\n");
    show_contacts();
    fmt::print("\n");
    show_steps();
    fmt::print("\n");
    show_gradients();
    fmt::print("\n");
    show_motions();
    fmt::print(
        "\nNext: `lithe scenes` lists what can be simulated, `lithe simulate stack --steps 1000` does it, `lithe "
        "gradcheck\n"
        "half_cheetah` checks its gradients, `lithe optimize cartpole` lets it do its task, `lithe experiments` runs "
        "the\n"
        "paper's, and examples/falling_boxes.cpp shows how to write your own.\n");
  });
}

}  // namespace lithe::cli
