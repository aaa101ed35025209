#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lithe/model/model_builder.h"

namespace lithe {

// Every scene by name, for command lines, tests and benchmarks that run over all of them.
std::vector<std::string> scene_names();

// An unknown name is an Error that lists the closest ones.
ModelBuilder scene(std::string_view name);

}  // namespace lithe
