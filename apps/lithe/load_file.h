#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "lithe/io/load.h"

namespace lithe::cli {

// What a user may say about how to read a file; shared by the commands that take one.
struct FileOptions {
  std::vector<std::string> packages;  // NAME=FOLDER
  std::vector<std::string> roots;
  bool fixed_base = false, floating_base = false;
  bool strict = false;
  std::string self_collision = "auto";  // or auto_strict, all, none
  std::string srdf;
  bool no_cache = false;
  std::string keyframe;
  bool untrusted = false;
  std::vector<std::string> limits;  // NAME=VALUE
};

void add_file_options(CLI::App& command, FileOptions& options);

LoadOptions load_options(const FileOptions& options);

// With a bar on stderr while hulls are built, where that is a terminal and it takes long.
LoadOptions with_progress(LoadOptions options);

// Tells on standard error what a file says and the model does not hold: what changes the motion or what collides, and how to see the rest.
void print_warnings(const std::vector<LoadWarning>& warnings, const std::string& file);

}  // namespace lithe::cli
