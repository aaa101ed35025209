#pragma once

namespace lithe {

// Four doubles that move together: one lane per degree of freedom (or per body).
//
// The kernels of the dynamics room do the same small algebra for every DoF, so they do it for four at a
// time. Pack is the compiler's own vector type: + - * / work lane by lane, a double broadcasts, and any
// target gets the best instructions it has (AVX, or pairs of SSE2 or NEON registers).
using Pack = double __attribute__((vector_size(32)));

// How a Pack travels through a call depends on the instruction set, so functions on Packs are never called: they
// always become part of the kernel around them.
#define LITHE_INLINE __attribute__((always_inline)) inline

inline constexpr int kLanes = 4;

// The smallest multiple of kLanes that holds n.
constexpr int padded(int n) { return (n + kLanes - 1) / kLanes * kLanes; }

LITHE_INLINE Pack broadcast(double x) { return Pack{x, x, x, x}; }

LITHE_INLINE const Pack& as_pack(const double* p) { return *reinterpret_cast<const Pack*>(p); }
LITHE_INLINE Pack& as_pack(double* p) { return *reinterpret_cast<Pack*>(p); }

// The same at any address.
LITHE_INLINE Pack load_anywhere(const double* from) {
  Pack x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}
LITHE_INLINE void store_anywhere(double* to, Pack x) { __builtin_memcpy(to, &x, sizeof x); }

// Makes the compiler keep x in a register instead of loading it again at each use, which would make loops that
// use x several times wait for memory.
LITHE_INLINE void keep_in_register([[maybe_unused]] Pack& x) {
#if defined(__AVX512VL__)
  asm("" : "+v"(x));
#elif defined(__AVX__)
  asm("" : "+x"(x));
#endif
}

// Sum of the four lanes, always in the same order.
LITHE_INLINE double lane_sum(Pack x) { return (x[0] + x[2]) + (x[1] + x[3]); }

// (c₀, c₀+x₀, c₀+x₀+x₁, …) is what a chain's running sum needs; `running_sum` gives it without the carry:
// (x₀, x₀+x₁, x₀+x₁+x₂, x₀+x₁+x₂+x₃).
LITHE_INLINE Pack running_sum(Pack x) {
  const Pack zero = {};
  x += __builtin_shufflevector(x, zero, 4, 0, 1, 2);
  return x + __builtin_shufflevector(x, zero, 4, 5, 0, 1);
}

// The same from the other end: (x₀+x₁+x₂+x₃, x₁+x₂+x₃, x₂+x₃, x₃).
LITHE_INLINE Pack reverse_running_sum(Pack x) {
  const Pack zero = {};
  x += __builtin_shufflevector(x, zero, 1, 2, 3, 4);
  return x + __builtin_shufflevector(x, zero, 2, 3, 4, 5);
}

LITHE_INLINE Pack absolute(Pack x) { return x < Pack{} ? -x : x; }

// a where the lane's number is below n, else b.
LITHE_INLINE Pack select_below(int n, Pack a, Pack b) {
  const Pack lane = {0, 1, 2, 3};
  return lane < broadcast(n) ? a : b;
}

// 1 in lane n, else 0; all 0 if there is no such lane.
LITHE_INLINE Pack unit_lane(int n) {
  const Pack lane = {0, 1, 2, 3};
  return lane == broadcast(n) ? broadcast(1) : Pack{};
}

// (carry₀, x₀, x₁, x₂): each lane takes its left neighbour's value.
LITHE_INLINE Pack shift_in(Pack carry, Pack x) { return __builtin_shufflevector(carry, x, 0, 4, 5, 6); }

LITHE_INLINE Pack broadcast_first(Pack x) { return __builtin_shufflevector(x, x, 0, 0, 0, 0); }
LITHE_INLINE Pack broadcast_last(Pack x) { return __builtin_shufflevector(x, x, 3, 3, 3, 3); }

// Rows a, b, c, d of a 4×4 matrix become its columns.
LITHE_INLINE void transpose(Pack& a, Pack& b, Pack& c, Pack& d) {
  const Pack ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const Pack ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Pack cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const Pack cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  a = __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
  c = __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);
  d = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
}

}  // namespace lithe
