#pragma once

#include <string>

namespace lithe::cli {

// What to try, a command and what it does per line, as this program was called ("build/lithe view humanoid").
std::string first_steps();  // for who knows nothing yet
std::string next_steps();   // after the demo

}  // namespace lithe::cli
