#include "apps/lithe/load_file.h"

#include <map>

#include "apps/lithe/progress.h"
#include "lithe/core/check.h"

namespace lithe::cli {

namespace {

const std::map<std::string, LoadOptions::SelfCollision> kSelfCollisions = {
    {"auto", LoadOptions::SelfCollision::automatic},
    {"auto_strict", LoadOptions::SelfCollision::automatic_strict},
    {"all", LoadOptions::SelfCollision::all},
    {"none", LoadOptions::SelfCollision::none}};

}  // namespace

void add_file_options(CLI::App& command, FileOptions& options) {
  command.add_option("--package", options.packages, "Where package://NAME/… is, as NAME=FOLDER; may be repeated.")
      ->group("Files")
      ->type_name("NAME=FOLDER");
  command.add_option("--root", options.roots, "A folder that files may come from besides the model's own.")
      ->group("Files")
      ->type_name("FOLDER");
  CLI::Option* fixed =
      command.add_flag("--fixed-base", options.fixed_base, "Fix a robot's root to the world.")->group("Files");
  command.add_flag("--floating-base", options.floating_base, "Let a robot's root float.")
      ->group("Files")
      ->excludes(fixed);
  command
      .add_option(
          "--keyframe", options.keyframe,
          "The keyframe (MJCF) to start in, or qpos0 for the pose of the file. Otherwise \"home\", if there is one.")
      ->group("Files")
      ->type_name("NAME");
  command.add_flag("--strict", options.strict, "Take warnings about a file as errors.")->group("Files");
  command
      .add_option("--self-collision", options.self_collision,
                  "Which links of a robot may touch one another: auto, auto_strict, all or none.")
      ->group("Files")
      ->type_name("WHICH")
      ->check(CLI::IsMember(kSelfCollisions));
  command.add_option("--srdf", options.srdf, "An SRDF for a URDF: pairs of links that do not collide, and states.")
      ->group("Files")
      ->type_name("FILE");
  command
      .add_flag("--no-cache", options.no_cache,
                "Neither use nor keep what earlier runs found out about meshes (in $LITHE_CACHE or ~/.cache/lithe).")
      ->group("Files");
}

LoadOptions load_options(const FileOptions& options) {
  LoadOptions load;
  for (const std::string& package : options.packages) {
    const std::size_t equals = package.find('=');
    LITHE_CHECK(equals != std::string::npos && equals > 0 && equals + 1 < package.size(),
                "--package {}: must be NAME=FOLDER", package);
    load.packages[package.substr(0, equals)] = package.substr(equals + 1);
  }
  load.roots = options.roots;
  load.strict = options.strict;
  load.self_collision = kSelfCollisions.at(options.self_collision);
  load.srdf = options.srdf;
  load.cache = !options.no_cache;
  load.keyframe = options.keyframe;
  if (options.fixed_base) load.base = LoadOptions::Base::fixed;
  if (options.floating_base) load.base = LoadOptions::Base::floating;
  return load;
}

LoadOptions with_progress(LoadOptions options) {
  options.progress = [bar = std::shared_ptr<Progress>()](std::string_view, int done, int total) mutable {
    if (!bar) bar = std::make_shared<Progress>("convex hulls", total, true);
    bar->update(done);
    if (done == total) bar.reset();
  };
  return options;
}

}  // namespace lithe::cli
