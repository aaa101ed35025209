#include "apps/lithe/load_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>

#include "apps/lithe/progress.h"
#include "lithe/core/check.h"
#include "lithe/io/load_limits.h"

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
  command
      .add_flag("--untrusted", options.untrusted,
                "Bound what a file may cost as for one from a stranger: a second and 512 MB.")
      ->group("Files");
  command
      .add_option("--limit", options.limits,
                  fmt::format("Another bound on what a file may cost, as NAME=VALUE; may be repeated. Names: {}.",
                              fmt::join(load_limit_names(), ", ")))
      ->group("Files")
      ->type_name("NAME=VALUE");
}

namespace {

// NAME=VALUE.
void set_limit(LoadLimits& limits, const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view value = std::string_view(text).substr(std::min(equals + 1, text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  LITHE_CHECK(!value.empty() && error == std::errc() && end == value.data() + value.size(),
              "--limit {}: must be NAME=VALUE with a whole number, such as total_bytes=2000000000", text);
  try {
    set_load_limit(limits, text.substr(0, equals), number);
  } catch (const Error& wrong) {
    throw Error(fmt::format("--limit {}: {}", text, wrong.what()));
  }
}

}  // namespace

LoadOptions load_options(const FileOptions& options) {
  LoadOptions load;
  if (options.untrusted) load.limits = LoadLimits::untrusted();
  for (const std::string& limit : options.limits) set_limit(load.limits, limit);
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

void print_warnings(const std::vector<LoadWarning>& warnings, const std::string& file) {
  for (const std::string& line : folded(warnings, fmt::format("lithe doctor {} lists them", file))) {
    fmt::print(stderr, "{}\n", line);
  }
}

}  // namespace lithe::cli
