#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/io/load_options.h"

namespace lithe {

// The names of all limits ("total_bytes" …), for programs that let people set them.
std::vector<std::string_view> load_limit_names();
// Sets the limit of that name. An unknown name is an Error that lists all names; a value that is too large for the
// limit is an Error as well.
void set_load_limit(LoadLimits& limits, std::string_view name, std::uint64_t value);

// The advice with which a message about a limit ends: "raise LoadLimits::shapes (on the command line: --limit
// shapes=…)".
std::string raise_load_limit(std::string_view name);
// A size as messages show it: "61.2 MB", "684 bytes". A MB has 2²⁰ bytes, as in the limits.
std::string shown_bytes(std::uint64_t bytes);

}  // namespace lithe
