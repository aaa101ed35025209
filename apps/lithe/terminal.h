#pragma once

namespace lithe::cli {

// Whether output to stdout should be coloured: it is a terminal, and neither the caller nor the environment's
// NO_COLOR (https://no-color.org) objects.
bool stdout_wants_colour(bool refused);

// Whether somebody watches stderr, where progress is shown, and how many characters fit on a line there.
bool stderr_is_terminal();
int stderr_columns();

}  // namespace lithe::cli
