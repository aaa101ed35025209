#pragma once

#include <cstddef>
#include <cstdint>

namespace lithe::internal {

// The CRC-32 of zip, PNG and Python's zlib.crc32 (polynomial 0xEDB88320, reflected). It notices every error within 32
// neighbouring bits, and any other with a probability of 1 − 2⁻³². crc32("123456789") is 0xCBF43926.
//
// With the checksum of what comes before as `before`, it goes on from there.
std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t before = 0);

}  // namespace lithe::internal
