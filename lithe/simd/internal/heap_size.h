#pragma once

#include <cstddef>
#include <vector>

#include "lithe/core/eigen.h"
#include "lithe/simd/lanes.h"

namespace lithe::internal {

// Bytes that a container has on the heap: what it keeps room for, not what it holds.
template <class T, class Allocator>
std::size_t heap_size(const std::vector<T, Allocator>& x) {
  return x.capacity() * sizeof(T);
}
inline std::size_t heap_size(const VecX& x) { return static_cast<std::size_t>(x.size()) * sizeof(double); }
template <int Rows>
std::size_t heap_size(const Lanes<Rows>& x) {
  return static_cast<std::size_t>(x.slots()) * Rows * sizeof(double);
}
template <class... Parts>
std::size_t heap_sizes(const Parts&... parts) {
  return (heap_size(parts) + ...);
}

}  // namespace lithe::internal
