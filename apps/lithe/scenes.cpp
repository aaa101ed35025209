#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>

#include "apps/lithe/commands.h"
#include "lithe/scenes/catalogue.h"

namespace lithe::cli {

void add_scenes(CLI::App& app) {
  CLI::App* scenes = app.add_subcommand("scenes", "List what can be simulated.");
  scenes->callback([] {
    std::size_t width = 0;
    for (const std::string& name : scene_names()) width = std::max(width, name.size());
    for (const std::string& name : scene_names()) {
      const std::optional<Task> task = scene(name).task;
      const std::string goal = task ? fmt::format("; task: {} after {} steps", task->description, task->steps) : "";
      fmt::print("  {:<{}}  {}{}\n", name, width, scene_description(name), goal);
    }
  });
}

}  // namespace lithe::cli
