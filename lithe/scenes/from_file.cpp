#include "lithe/scenes/from_file.h"

#include <algorithm>
#include <filesystem>

#include "lithe/core/check.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/world.h"

namespace lithe {

Scene scene_from(const LoadedModel& loaded, std::string_view keyframe) {
  Scene scene = {.model = loaded.model,
                 .q = loaded.q,
                 .v = loaded.v,
                 .time_step = loaded.time_step,
                 .motor_targets = loaded.motor_targets};
  if (!keyframe.empty()) {
    const Keyframe& start = loaded.keyframe(keyframe);
    scene.q = start.q;
    scene.v = start.v;
    scene.motor_targets = start.motor_targets;
  }
  return scene;
}

Scene scene_on_ground(const LoadedModel& loaded, const Ground& ground, std::string_view keyframe) {
  Scene scene = scene_from(loaded, keyframe);
  if (const std::optional<Shape> shape = ground_under(scene.model, scene.q, ground)) {
    ModelBuilder builder = loaded.builder;
    builder.add_shape("world", *shape);
    scene.model = builder.build();
  }
  return scene;
}

bool names_file(const std::string& name) {
  if (name.find_first_of("/.") != std::string::npos) return true;
  const std::vector<std::string> scenes = scene_names();
  if (std::ranges::find(scenes, name.substr(0, name.find(':'))) != scenes.end()) return false;
  std::error_code ignored;
  return std::filesystem::is_regular_file(name, ignored);
}

ShownScene open_scene(const std::string& name, const OpenOptions& options) {
  LoadOptions load_options = options.load;
  if (!options.keyframe.empty()) load_options.keyframe = options.keyframe;
  if (names_file(name)) return open_scene(load(name, load_options), {.ground = options.ground});
  LITHE_CHECK(load_options.keyframe.empty(), "keyframe '{}': '{}' is a scene, and only files have keyframes",
              load_options.keyframe, name);
  LITHE_CHECK(options.ground.when == Ground::When::automatic || options.ground.when == Ground::When::no,
              "ground: '{}' is a scene, which has the ground that it needs; only files can be given one", name);
  return {.name = name, .scene = scene(name)};
}

World::World(const std::string& scene_or_file) : World(open_scene(scene_or_file).scene) {}

ShownScene open_scene(const LoadedModel& loaded, const OpenOptions& options) {
  const std::string file = loaded.files.empty() ? "" : std::filesystem::path(loaded.files.front()).filename().string();
  return {.name = loaded.name.empty() ? file : loaded.name,
          .scene = scene_on_ground(loaded, options.ground, options.keyframe),
          .visuals = loaded.visuals,
          .warnings = loaded.warnings,
          .start = loaded.start,
          .excepted_pairs = loaded.excepted_pairs};
}

}  // namespace lithe
