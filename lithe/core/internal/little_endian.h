#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lithe::internal {

// Numbers as bytes, lowest first, whatever the machine. (On one that stores them so anyway, compilers make plain moves
// of these loops.)

inline void put_u32(std::string& out, std::uint32_t value) {
  char bytes[4];
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  out.append(bytes, sizeof bytes);
}

inline void put_f64(std::string& out, double value) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(bits >> (8 * i));
  out.append(bytes, sizeof bytes);
}

inline std::uint32_t get_u32(const unsigned char* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= std::uint32_t{bytes[i]} << (8 * i);
  return value;
}

inline double get_f64(const unsigned char* bytes) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits |= std::uint64_t{bytes[i]} << (8 * i);
  return std::bit_cast<double>(bits);
}

}  // namespace lithe::internal
