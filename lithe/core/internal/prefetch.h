#pragma once

#include <cstddef>
#include <cstdint>

namespace lithe::internal {

// Asks the processor to bring memory into its second cache that will be read or written soon.
inline void prefetch(const void* from, std::size_t bytes) {
  constexpr std::uintptr_t kLine = 64;  // bytes of a cache line
  const auto start = reinterpret_cast<std::uintptr_t>(from);
  for (std::uintptr_t at = start / kLine * kLine; at < start + bytes; at += kLine) {
    const void* line = reinterpret_cast<const void*>(at);
    __builtin_prefetch(line, 0, 2);
    // gcc takes a function that only prefetches for one without effect and leaves out calls of it.
    asm volatile("" : : "r"(line));
  }
}

// What vectors have on the heap.
template <class... Vectors>
void prefetch_elements(const Vectors&... vectors) {
  (prefetch(vectors.data(), static_cast<std::size_t>(vectors.size()) * sizeof(*vectors.data())), ...);
}

}  // namespace lithe::internal
