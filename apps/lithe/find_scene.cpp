#include "apps/lithe/find_scene.h"

#include <fmt/core.h>

#include "lithe/core/check.h"

namespace lithe::cli {

namespace {

std::string check_ground(const std::string& text) {
  try {
    ground_from(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

void add_scene_options(CLI::App& command, SceneOptions& options) {
  CLI::Option* ground =
      command
          .add_option("--ground", options.ground,
                      "Put a ground under a robot from a file: auto (if it would fall for ever), yes, no, or at a "
                      "height in metres; without a height it is just under its lowest point.")
          ->group("Files")
          ->type_name("auto|yes|no|HEIGHT")
          ->check(CLI::Validator(check_ground, ""))
          ->capture_default_str();
  command.add_flag("--no-ground", options.no_ground, "The same as --ground no.")->group("Files")->excludes(ground);
  add_file_options(command, options.files);
}

ShownScene find_shown_scene(const std::string& name, const SceneOptions& options) {
  const Ground ground = options.no_ground ? Ground{.when = Ground::When::no} : ground_from(options.ground);
  ShownScene found = open_scene(name, {.load = with_progress(load_options(options.files)), .ground = ground});
  print_warnings(found.warnings, name);
  if (!found.start.empty() && options.files.keyframe.empty()) {
    fmt::print(stderr, "{}: note: starts in {}\n", name, found.start);
  }
  return found;
}

Scene find_scene(const std::string& name, const SceneOptions& options) { return find_shown_scene(name, options).scene; }

}  // namespace lithe::cli
