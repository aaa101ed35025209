#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/io/load_options.h"

namespace lithe {

// The limits by name ("total_bytes"), for programs that let people set them.
std::vector<std::string_view> load_limit_names();
// An Error where there is no limit of that name (it lists them all), or where the value does not fit.
void set_load_limit(LoadLimits& limits, std::string_view name, std::uint64_t value);

// For messages. What to do: "raise LoadLimits::shapes (on the command line: --limit shapes=…)".
std::string raise_load_limit(std::string_view name);
// How much: "61.2 MB", "684 bytes"; a MB has 2²⁰ bytes, as in the limits.
std::string shown_bytes(std::uint64_t bytes);

}  // namespace lithe
