#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lithe/scenes/scene.h"

namespace lithe {

// Every scene by name, for command lines, tests and benchmarks that run over all of them.
std::vector<std::string> scene_names();

// What there is to see, in a line.
std::string scene_description(std::string_view name);

// Some scenes come in any size: "stack" has 20 boxes and "stack:5" has five. An unknown name is an Error that lists the
// closest ones.
Scene scene(std::string_view name);

}  // namespace lithe
