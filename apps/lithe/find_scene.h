#pragma once

#include <string>

#include "lithe/scenes/scene.h"

namespace lithe::cli {

// A scene of the catalogue. Somebody who names a file is told that files are not read yet, not that there is no scene of this
// name.
Scene find_scene(const std::string& name);

}  // namespace lithe::cli
