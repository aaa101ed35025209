#include "lithe/core/internal/crc32.h"

#include <array>

#include "lithe/core/internal/little_endian.h"

namespace lithe::internal {

namespace {

// kTables[k][b] is what byte b followed by k zero bytes adds to the checksum, so that eight bytes are worked on at once.
// (M. Kounavis, F. Berry: A systematic approach to building high performance, software-based, CRC generators, 2005.)
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables = {};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t shorter = tables[k - 1][byte];
      tables[k][byte] = (shorter >> 8) ^ tables[0][shorter & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t before) {
  const unsigned char* bytes = static_cast<const unsigned char*>(data);
  std::uint32_t crc = ~before;
  for (; size >= 8; size -= 8, bytes += 8) {
    const std::uint32_t low = crc ^ get_u32(bytes);
    const std::uint32_t high = get_u32(bytes + 4);
    crc = 0;
    for (int i = 0; i < 4; ++i) {
      crc ^= kTables[7 - i][(low >> (8 * i)) & 0xff] ^ kTables[3 - i][(high >> (8 * i)) & 0xff];
    }
  }
  for (; size > 0; --size, ++bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ *bytes) & 0xff];
  return ~crc;
}

}  // namespace lithe::internal
