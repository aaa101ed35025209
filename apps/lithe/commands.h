// The subcommands of the command line: one file and one function each.
//
// add_<name>() registers its options and a callback on the app and returns; the callback runs once
// the whole command line has been read. A new subcommand is a new file, a line here and one in main.
#pragma once

#include <CLI/CLI.hpp>

namespace lithe::cli {

void add_bench(CLI::App& app);
void add_demo(CLI::App& app);
void add_doctor(CLI::App& app);
void add_experiments(CLI::App& app);
void add_export(CLI::App& app);
void add_gradcheck(CLI::App& app);
void add_optimize(CLI::App& app);
void add_scenes(CLI::App& app);
void add_simulate(CLI::App& app);
void add_view(CLI::App& app);

}  // namespace lithe::cli
