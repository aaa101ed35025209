#pragma once

#include <cstdint>

namespace lithe::internal {

// What becomes of a row in a smaller problem (reduced_lcp.h).
enum class RowRole : std::uint8_t {
  kept,
  eliminated,  // its w is zero, and its impulse follows from the others'
  constant,    // its impulse is what it is
};

}  // namespace lithe::internal
