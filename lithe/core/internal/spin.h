#pragma once

namespace lithe::internal {

// Looks at memory that another thread writes, for about as long as it takes to wake a thread that sleeps (tens of microseconds).
// Returns whether `seen` came true.
template <class Look>
bool spin_until(Look seen) {
  constexpr int kLooks = 2000;
  for (int looks = 0; looks < kLooks; ++looks) {
    if (seen()) return true;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();  // a moment for the other thread of this core
#endif
  }
  return false;
}

}  // namespace lithe::internal
