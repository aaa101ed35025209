#include "lithe/viz/document/internal/base64.h"

#include <bit>

#include "lithe/core/internal/little_endian.h"

namespace lithe::internal {

std::string base64(std::string_view bytes) {
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u;
    };
    // Three bytes are four letters of six bits each. Letters that no byte has a part in are '='.
    const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k <= bytes.size() ? kAlphabet[three >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

std::string base64(const std::vector<float>& values) {
  std::string bytes;
  bytes.reserve(4 * values.size());
  for (const float value : values) put_u32(bytes, std::bit_cast<std::uint32_t>(value));
  return base64(bytes);
}

std::string base64(const std::vector<std::uint32_t>& values) {
  std::string bytes;
  bytes.reserve(4 * values.size());
  for (const std::uint32_t value : values) put_u32(bytes, value);
  return base64(bytes);
}

}  // namespace lithe::internal
