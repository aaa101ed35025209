#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lithe::internal {

// For the text of an error about an unknown name: " (did you mean 'a', 'b'?)" with the up to three names closest
// in spelling, or " (there are none)".
std::string did_you_mean(std::string_view wanted, const std::vector<std::string_view>& known);

}  // namespace lithe::internal
