#pragma once

#include <Eigen/Geometry>

#include "lithe/contact/tangent_basis.h"
#include "lithe/dynamics/internal/slot_vectors.h"
#include "lithe/spatial/internal/lane_algebra.h"

namespace lithe::internal {

// The rows of a contact are worked on together: lane k of a pack belongs to row k, the last to none.
using PackVec3 = Vector3<Pack>;

LITHE_INLINE PackVec3 for_all_rows(const Vector3<double>& x) {
  return {broadcast(x.x), broadcast(x.y), broadcast(x.z)};
}
LITHE_INLINE PackVec3 for_all_rows(const Vec3& x) { return for_all_rows(from_eigen(x)); }

// The directions of a contact's rows, n and the tangents of tangent_basis(), and how they turn.
//
// When a body turns by ω and takes n along, the tangents turn with it but for a spin about n,
//
//   ∂t₁ = ω × t₁ + (σ·ω) t₂,   ∂t₂ = ω × t₂ − (σ·ω) t₁,   σ = −(n ± e_z)/(1 ± n_z),   ± the sign of n_z.
//
// By ∂n alone, with c = σ × n: ∂t₁ = −n (t₁·∂n) + t₂ (c·∂n), ∂t₂ = −n (t₂·∂n) − t₁ (c·∂n).
struct ContactDirections {
  Vec3 n, t1, t2, sigma;
  PackVec3 rows;  // n, t₁, t₂

  // `normal` is of unit length.
  void set(const Vec3& normal) {
    n = normal;
    const TangentBasis basis = tangent_basis(n);
    t1 = basis.t1;
    t2 = basis.t2;
    const double sign = n.z() < 0 ? -1 : 1;
    sigma = (n + sign * Vec3::UnitZ()) / -(1 + sign * n.z());
    rows = {Pack{n.x(), t1.x(), t2.x(), 0}, Pack{n.y(), t1.y(), t2.y(), 0}, Pack{n.z(), t1.z(), t2.z(), 0}};
  }

  // (0, −x₂, x₁): how the rows' values turn as the tangents spin.
  LITHE_INLINE static Pack turned(Pack x) { return __builtin_shufflevector(x, -x, 3, 6, 1, 3); }

  // ∂D·u by ∂n, for D = (n, t₁, t₂).
  LITHE_INLINE PackVec3 by_normal(const PackVec3& D, const PackVec3& u) const {
    const Pack first = unit_lane(0);
    const Pack others = broadcast(1) - first;
    return first * u - (others * dot(for_all_rows(n), u)) * D - turned(dot(D, u)) * for_all_rows(sigma.cross(n));
  }
  // ∂F by ∂n, for a tangential force.
  Vec3 moved(const Vec3& F, const Vec3& by_n) const { return n.cross(F) * sigma.cross(n).dot(by_n) - n * F.dot(by_n); }
};

}  // namespace lithe::internal
