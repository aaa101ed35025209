#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "apps/lithe/load_file.h"
#include "lithe/scenes/from_file.h"

namespace lithe::cli {

// What a user may say about a scene's name where a robot file may stand for it.
struct SceneOptions {
  FileOptions files;
  std::string ground = "auto";  // see ground_from()
  bool no_ground = false;
};
void add_scene_options(CLI::App& command, SceneOptions& options);

// open_scene(). Warnings about the file go to stderr.
ShownScene find_shown_scene(const std::string& name, const SceneOptions& options = {});
Scene find_scene(const std::string& name, const SceneOptions& options = {});

}  // namespace lithe::cli
