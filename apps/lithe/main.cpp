#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <string>

#include "apps/lithe/commands.h"
#include "apps/lithe/interrupt.h"
#include "apps/lithe/next_steps.h"
#include "lithe/core/version.h"
#include "lithe/io/source_place.h"

namespace {

constexpr int kFailure = 1;
constexpr int kBadUsage = 2;

std::string usage_error(const CLI::App*, const CLI::Error& error) {
  return std::string("lithe: error: ") + error.what() + "\nRun with --help for more information.\n";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Lithe, a differentiable physics engine.", "lithe"};
  app.set_version_flag("--version", std::string("lithe ") + lithe::kVersion);
  app.failure_message(usage_error);
  app.require_subcommand(0, 1);
  lithe::cli::add_demo(app);
  lithe::cli::add_simulate(app);
  lithe::cli::add_optimize(app);
  lithe::cli::add_view(app);
  lithe::cli::add_export(app);
  lithe::cli::add_gradcheck(app);
  lithe::cli::add_bench(app);
  lithe::cli::add_experiments(app);
  lithe::cli::add_doctor(app);
  lithe::cli::add_scenes(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& outcome) {  // a command that has said what there is to say
    return outcome.get_exit_code();
  } catch (const CLI::ParseError& outcome) {
    // --help and --version arrive here too, as outcomes with exit code 0.
    return app.exit(outcome) == 0 ? 0 : kBadUsage;
  } catch (const lithe::cli::Interrupted&) {
    return lithe::cli::Interrupted::kExitCode;
  } catch (const lithe::LoadError& error) {  // says itself where, and that it is an error
    std::fprintf(stderr, "%s\n", error.what());
    return kFailure;
  } catch (const std::exception& error) {  // mostly lithe::Error: the input makes no sense
    std::fprintf(stderr, "lithe: error: %s\n", error.what());
    return kFailure;
  }

  if (app.get_subcommands().empty()) {
    fmt::print(
        "Lithe {}, a differentiable physics engine for articulated rigid bodies with hard contact.\n\n{}\n"
        "Any of them with --help says more; --help alone lists all commands.\n",
        lithe::kVersion, lithe::cli::first_steps());
  }
  return 0;
}
