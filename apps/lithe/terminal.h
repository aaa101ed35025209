#pragma once

namespace lithe::cli {

// Whether output to stdout should be coloured: it is a terminal, and neither the caller nor the environment's
// NO_COLOR (https://no-color.org) objects.
bool stdout_wants_colour(bool refused);

}  // namespace lithe::cli
