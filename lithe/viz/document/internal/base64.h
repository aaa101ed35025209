#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lithe::internal {

// RFC 4648, section 4: the alphabet with + and /, padded with =.
std::string base64(std::string_view bytes);

// Of the numbers' bytes, lowest first.
std::string base64(const std::vector<float>& values);
std::string base64(const std::vector<std::uint32_t>& values);

}  // namespace lithe::internal
