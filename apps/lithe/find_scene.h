#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "apps/lithe/load_file.h"
#include "lithe/scenes/scene.h"

namespace lithe::cli {

// A scene of the catalogue, or what a robot file holds, on a ground of its own unless it has one or `ground` is off. Warnings about the
// file go to stderr.
struct SceneOptions {
  FileOptions files;
  bool no_ground = false;
};
void add_scene_options(CLI::App& command, SceneOptions& options);

Scene find_scene(const std::string& name, const SceneOptions& options = {});

// With what only the eye sees of it.
struct ShownScene {
  Scene scene;
  std::vector<Visual> visuals;
};
ShownScene find_shown_scene(const std::string& name, const SceneOptions& options = {});

}  // namespace lithe::cli
