#include "apps/lithe/find_scene.h"

#include <fmt/core.h>

#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/from_file.h"

namespace lithe::cli {

void add_scene_options(CLI::App& command, SceneOptions& options) {
  command.add_flag("--no-ground", options.no_ground, "Do not put a ground under a robot from a file.")->group("Files");
  add_file_options(command, options.files);
}

Scene find_scene(const std::string& name, const SceneOptions& options) { return find_shown_scene(name, options).scene; }

ShownScene find_shown_scene(const std::string& name, const SceneOptions& options) {
  if (!looks_like_file(name)) return {scene(name), {}};
  const LoadedModel loaded = load_with_progress(name, load_options(options.files));
  for (const LoadWarning& warning : loaded.warnings) fmt::print(stderr, "{}\n", to_string(warning));
  if (!loaded.start.empty() && options.files.keyframe.empty()) {
    fmt::print(stderr, "{}: note: starts in {}\n", name, loaded.start);
  }
  return {options.no_ground ? scene_from(loaded) : scene_on_ground(loaded), loaded.visuals};
}

}  // namespace lithe::cli
