#pragma once

#include "lithe/simd/pack.h"

namespace lithe::internal {

// sin and cos of four angles at once, within 2 ulp of the truth for |x| ≤ kPackTrigRange; the caller looks
// after larger angles (sincos_slots in dynamics falls back to the C library).
inline constexpr double kPackTrigRange = 1e5;

LITHE_INLINE void sin_cos(Pack x, Pack& sine, Pack& cosine) {
  // x = k·π/2 + r with |r| ≤ π/4. π/2 is split in three so that k·(each part) is exact for |k| < 2²⁰.
  constexpr double kTwoOverPi = 0.63661977236758134308;
  constexpr double kHalfPi1 = 0x1.921fb544p+0;
  constexpr double kHalfPi2 = 0x1.0b4611a6p-34;
  constexpr double kHalfPi3 = 0x1.3198a2e037073p-69;
  // Adding 1.5·2⁵² rounds to the nearest integer and leaves it in the low bits.
  constexpr double kRounder = 0x1.8p52;
  using Bits = long long __attribute__((vector_size(32)));
  const Pack shifted = x * kTwoOverPi + kRounder;
  const Pack k = shifted - kRounder;
  const Bits quadrant = reinterpret_cast<Bits>(shifted);
  // The first two products and the first difference are exact; what the second one rounds away is added back.
  const Pack x1 = x - k * kHalfPi1;
  const Pack x2 = x1 - k * kHalfPi2;
  const Pack r = x2 + (((x1 - x2) - k * kHalfPi2) - k * kHalfPi3);

  // Taylor series to x¹⁷ and x¹⁶: the next terms are below 1e-18 for |r| ≤ π/4.
  const Pack z = r * r;
  Pack s = broadcast(1.0 / 355687428096000.0);
  s = s * z - 1.0 / 1307674368000.0;
  s = s * z + 1.0 / 6227020800.0;
  s = s * z - 1.0 / 39916800.0;
  s = s * z + 1.0 / 362880.0;
  s = s * z - 1.0 / 5040.0;
  s = s * z + 1.0 / 120.0;
  s = s * z - 1.0 / 6.0;
  s = s * (z * r) + r;
  Pack c = broadcast(1.0 / 20922789888000.0);
  c = c * z - 1.0 / 87178291200.0;
  c = c * z + 1.0 / 479001600.0;
  c = c * z - 1.0 / 3628800.0;
  c = c * z + 1.0 / 40320.0;
  c = c * z - 1.0 / 720.0;
  c = c * z + 1.0 / 24.0;
  c = c * z - 0.5;
  c = c * z + 1.0;

  // Odd quadrants swap the two; sin changes sign in quadrants 2, 3 and cos in 1, 2.
  const Bits odd = (quadrant & 1) != 0;
  const Bits sine_sign = (quadrant & 2) << 62;
  const Bits cosine_sign = ((quadrant + 1) & 2) << 62;
  const Bits sine_bits = (odd ? reinterpret_cast<Bits>(c) : reinterpret_cast<Bits>(s)) ^ sine_sign;
  const Bits cosine_bits = (odd ? reinterpret_cast<Bits>(s) : reinterpret_cast<Bits>(c)) ^ cosine_sign;
  sine = reinterpret_cast<Pack>(sine_bits);
  cosine = reinterpret_cast<Pack>(cosine_bits);
}

}  // namespace lithe::internal
