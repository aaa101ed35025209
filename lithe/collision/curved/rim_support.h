#pragma once

#include "lithe/collision/curved/cylinder_support.h"
#include "lithe/core/eigen.h"

namespace lithe::internal {

// The cap that a shape with outward normal n meets, and whose rim it touches. Ties: cap 0.
inline int facing_cap(const SolidCylinder& cylinder, const Vec3& n) { return n.dot(cylinder.a) >= 0 ? 0 : 1; }

// Where on a rim: the direction from the axis that is farthest along −n.
struct RimSupport {
  Vec3 u;       // unit, ⟂ axis
  Vec3 t;       // axis × u, the rim's tangent there
  double sine;  // σ = |n × axis|

  Vec3 point(const SolidCylinder& cylinder, int k) const { return cylinder.cap_centre(k) + cylinder.rho * u; }
};

// σ > 0. u is perpendicular to the axis to rounding however small σ is. axis × (axis × n) would do on paper, but the
// compiler may compute the inner product twice, with other roundings, and then u is off by 1e-16/σ.
inline RimSupport rim_support(const SolidCylinder& cylinder, const Vec3& n) {
  const Vec3& a = cylinder.a;
  const Vec3 outward = -across(across(n, a), a);
  const double sine = outward.norm();
  const Vec3 u = outward / sine;
  return {u, Vec3(a.y() * u.z() - a.z() * u.y(), a.z() * u.x() - a.x() * u.z(), a.x() * u.y() - a.y() * u.x()), sine};
}

// The same for n = z. Where σ = 0: some point.
inline RimSupport rim_support_along_z(const SolidCylinder& cylinder) {
  const Vec3& a = cylinder.a;
  const double sine = std::sqrt(a.x() * a.x() + a.y() * a.y());
  const double x = sine > 0 ? a.x() / sine : 1, y = sine > 0 ? a.y() / sine : 0;
  return {Vec3(a.z() * x, a.z() * y, -sine), Vec3(-y, x, 0), sine};
}

}  // namespace lithe::internal
