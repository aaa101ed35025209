#pragma once

#include <cstring>

#include "lithe/collision/collider.h"
#include "lithe/simd/pack.h"

namespace lithe::internal {

// A box along the world's axes; the fourth lane is zero.
struct Aabb {
  Pack lower, upper;
};

LITHE_INLINE Pack load_pack(const double* p) {
  Pack x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

LITHE_INLINE bool all_at_most(Pack a, Pack b) {
  const auto less = a <= b;
  return (less[0] & less[1] & less[2] & less[3]) != 0;
}

LITHE_INLINE bool overlap(const Aabb& a, const Aabb& b) {
  return all_at_most(a.lower, b.upper) && all_at_most(b.lower, a.upper);
}
LITHE_INLINE bool contains(const Aabb& outer, const Aabb& inner) {
  return all_at_most(outer.lower, inner.lower) && all_at_most(inner.upper, outer.upper);
}
LITHE_INLINE Aabb merged(const Aabb& a, const Aabb& b) {
  return {a.lower < b.lower ? a.lower : b.lower, a.upper > b.upper ? a.upper : b.upper};
}
LITHE_INLINE Aabb grown(const Aabb& a, double by) {
  const Pack d = {by, by, by, 0};
  return {a.lower - d, a.upper + d};
}
// Half the surface: what the cost of a tree node is proportional to.
LITHE_INLINE double half_area(const Aabb& a) {
  const Pack d = a.upper - a.lower;
  return d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
}
LITHE_INLINE double largest_extent(const Aabb& a) {
  const Pack d = a.upper - a.lower;
  const double xy = d[0] > d[1] ? d[0] : d[1];
  return xy > d[2] ? xy : d[2];
}

// Bounds of the box (centre, half) in a frame at X_WG, grown by `by`.
LITHE_INLINE Aabb bounds_in_world(const Pose& X_WG, const Vec3& centre, const Vec3& half, double by) {
  // The pose is twelve doubles in a row; reading four at a time, the last ones overlap.
  static_assert(sizeof(Pose) == 12 * sizeof(double));
  const double* pose = X_WG.R.data();
  const Pack x = load_pack(pose);
  const Pack y = load_pack(pose + 3);
  const Pack z = load_pack(pose + 6);
  const Pack last = load_pack(pose + 8);
  const Pack p = __builtin_shufflevector(last, last, 1, 2, 3, 3);
  const Pack c = p + x * broadcast(centre[0]) + y * broadcast(centre[1]) + z * broadcast(centre[2]);
  const Pack h = absolute(x) * broadcast(half[0]) + absolute(y) * broadcast(half[1]) +
                 absolute(z) * broadcast(half[2]) + broadcast(by);
  const Pack zero = {};
  return {__builtin_shufflevector(c - h, zero, 0, 1, 2, 4), __builtin_shufflevector(c + h, zero, 0, 1, 2, 4)};
}

}  // namespace lithe::internal
