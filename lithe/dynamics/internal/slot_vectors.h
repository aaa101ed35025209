#pragma once

#include "lithe/core/eigen.h"
#include "lithe/spatial/internal/lane_algebra.h"

namespace lithe::internal {

// One slot's vectors out of Lanes, and the way between the kernels' algebra and Eigen: for queries about a single
// body or DoF, where there is nothing to do four at a time.

inline Vector3<double> from_eigen(const Vec3& a) { return {a.x(), a.y(), a.z()}; }

inline Vec3 to_eigen(const Vector3<double>& a) { return Vec3(a.x, a.y, a.z); }
inline Vec6 to_eigen(const Motion<double>& m) {
  Vec6 x;
  x << m.w.x, m.w.y, m.w.z, m.v.x, m.v.y, m.v.z;
  return x;
}
inline Vec6 to_eigen(const Force<double>& F) {
  Vec6 x;
  x << F.n.x, F.n.y, F.n.z, F.f.x, F.f.y, F.f.z;
  return x;
}

template <int Rows>
inline Vector3<double> vector_at(const Lanes<Rows>& lanes, int slot, int row = 0) {
  return {lanes.at(row, slot), lanes.at(row + 1, slot), lanes.at(row + 2, slot)};
}
inline Motion<double> motion_at(const Lanes<6>& lanes, int slot) {
  return {vector_at(lanes, slot), vector_at(lanes, slot, 3)};
}
inline Force<double> force_at(const Lanes<6>& lanes, int slot) {
  return {vector_at(lanes, slot), vector_at(lanes, slot, 3)};
}
inline Inertia10<double> inertia_at(const Lanes<10>& lanes, int slot) {
  return {lanes.at(0, slot), vector_at(lanes, slot, 1), lanes.at(4, slot), lanes.at(5, slot),
          lanes.at(6, slot), lanes.at(7, slot),         lanes.at(8, slot), lanes.at(9, slot)};
}

// The same motion with its linear part taken at p instead of the origin: [ω; v + ω × p].
inline Motion<double> moved_to(const Motion<double>& m, const Vector3<double>& p) { return {m.w, m.v + cross(m.w, p)}; }

}  // namespace lithe::internal
