#include "lithe/collision/curved/cylinder_hull_measures.h"

#include <algorithm>
#include <cmath>

#include "lithe/core/eigen.h"
#include "lithe/core/infinity.h"
#include "lithe/simd/internal/lane_bits.h"
#include "lithe/simd/pack.h"

namespace lithe::internal {

namespace {

LITHE_INLINE Pack square_root(Pack x) {
  return Pack{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
}

struct PackVec3 {
  Pack x, y, z;
};
LITHE_INLINE PackVec3 broadcast_vector(const Vec3& v) { return {broadcast(v.x()), broadcast(v.y()), broadcast(v.z())}; }
LITHE_INLINE Pack dot(const PackVec3& u, const PackVec3& v) { return u.x * v.x + u.y * v.y + u.z * v.z; }
LITHE_INLINE PackVec3 cross(const PackVec3& u, const PackVec3& v) {
  return {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
}
LITHE_INLINE PackVec3 minus(const PackVec3& u, const PackVec3& v) { return {u.x - v.x, u.y - v.y, u.z - v.z}; }
// u − s v
LITHE_INLINE PackVec3 minus(const PackVec3& u, Pack s, const PackVec3& v) {
  return {u.x - s * v.x, u.y - s * v.y, u.z - s * v.z};
}

// The smallest of many values and where it was (ties: the first), lane by lane.
struct Smallest {
  Pack value = broadcast(kInfinity);
  Pack place = {};
  LITHE_INLINE void add(Pack x, Pack at) {
    place = x < value ? at : place;
    value = smaller(x, value);
  }
  int where() const {
    const double least = smallest_lane(value);
    double first = kInfinity;
    for (int i = 0; i < kLanes; ++i) {
      if (value[i] == least) first = std::min(first, place[i]);
    }
    return first < kInfinity ? static_cast<int>(first) : 0;
  }
};

}  // namespace

int measure_faces(const SolidCylinder& cylinder, const Hull& hull, CylinderHullScratch& scratch) {
  const int packs = hull.face_packs();
  scratch.face_gap.resize(static_cast<std::size_t>(packs) * kLanes);
  const PackVec3 o = broadcast_vector(cylinder.o), a = broadcast_vector(cylinder.a);
  Smallest least;
  Pack place = {0, 1, 2, 3};
  for (int i = 0; i < packs * kLanes; i += kLanes, place += 4.) {
    const PackVec3 n = {as_pack(&hull.normal_x[i]), as_pack(&hull.normal_y[i]), as_pack(&hull.normal_z[i])};
    const PackVec3 across = cross(n, a);
    const Pack gap = dot(n, o) - as_pack(&hull.offset[i]) - cylinder.h * absolute(dot(n, a)) -
                     cylinder.rho * square_root(dot(across, across));
    as_pack(&scratch.face_gap[i]) = gap;
    least.add(-gap, place);
  }
  const int face = least.where();
  return face < static_cast<int>(hull.faces.size()) ? face : 0;  // padding repeats the first
}

OutermostVertices measure_vertices(const SolidCylinder& cylinder, const Hull& hull, CylinderHullScratch& scratch) {
  const int packs = hull.vertex_packs();
  scratch.height.resize(static_cast<std::size_t>(packs) * kLanes);
  const PackVec3 o = broadcast_vector(cylinder.o), a = broadcast_vector(cylinder.a);
  Smallest to_axis, to_cylinder, low, high;
  Pack place = {0, 1, 2, 3};
  for (int i = 0; i < packs * kLanes; i += kLanes, place += 4.) {
    const PackVec3 v = {as_pack(&hull.x[i]), as_pack(&hull.y[i]), as_pack(&hull.z[i])};
    const PackVec3 d = minus(v, o);
    const Pack height = dot(d, a);
    const PackVec3 out = minus(d, height, a);
    const Pack l2 = dot(out, out);
    const Pack zero = {};
    const Pack beside = larger(square_root(l2) - cylinder.rho, zero),
               above = larger(absolute(height) - cylinder.h, zero);
    as_pack(&scratch.height[i]) = height;
    low.add(height, place);
    high.add(-height, place);
    to_axis.add(l2, place);
    to_cylinder.add(beside * beside + above * above, place);
  }
  // Padding repeats the first vertex, so it never comes first in a tie.
  return {.nearest_to_axis = to_axis.where(),
          .nearest = to_cylinder.where(),
          .lowest = low.where(),
          .highest = high.where()};
}

void find_supports(const SolidCylinder& cylinder, const Hull& hull, CylinderHullScratch& scratch) {
  const int packs = hull.face_packs();
  const std::size_t size = static_cast<std::size_t>(packs) * kLanes;
  scratch.support_x.resize(size);
  scratch.support_y.resize(size);
  scratch.support_z.resize(size);
  const PackVec3 o = broadcast_vector(cylinder.o), a = broadcast_vector(cylinder.a);
  for (int i = 0; i < packs * kLanes; i += kLanes) {
    const PackVec3 n = {as_pack(&hull.normal_x[i]), as_pack(&hull.normal_y[i]), as_pack(&hull.normal_z[i])};
    const Pack along = dot(n, a);
    const PackVec3 out = minus(n, along, a);
    // Against a parallel cap: some point of it.
    const Pack sine = larger(square_root(dot(out, out)), broadcast(1e-12));
    const Pack down = along < Pack{} ? broadcast(-cylinder.h) : broadcast(cylinder.h);
    const PackVec3 x = minus(minus(o, down, a), cylinder.rho / sine, out);
    as_pack(&scratch.support_x[i]) = x.x;
    as_pack(&scratch.support_y[i]) = x.y;
    as_pack(&scratch.support_z[i]) = x.z;
  }
}

}  // namespace lithe::internal
