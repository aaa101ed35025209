#include "lithe/collision/curved/line_rim.h"

#include <Eigen/Geometry>

namespace lithe::internal {

LineRim closest_line_rim(const Vec3& x, const Vec3& e, const SolidCylinder& cylinder, int k, const Vec3& u0,
                         const Vec3& outside) {
  constexpr double kLeastSine = 1e-3;  // sin of the angle between line and rim below which they have no crossing
  constexpr double kSettled = 1e-9;    // rad: after a step as small as that, the next one is rounding
  const double rho = cylinder.rho;
  const Vec3 centre = cylinder.cap_centre(k);
  LineRim r;
  Vec3 u = u0;
  r.tangent = cylinder.a.cross(u);
  // Newton in the rim's angle on g·tangent = 0, where g(u) = the way from the rim's point to the line.
  Vec3 g;
  bool settled = false;
  for (int i = 0; i < 12; ++i) {
    r.on_rim = centre + rho * u;
    const Vec3 to_x = x - r.on_rim;
    g = to_x - to_x.dot(e) * e;
    const double along = e.dot(r.tangent);
    const double slope = rho * (along - 1) * (along + 1) - g.dot(u);
    const double step = -g.dot(r.tangent) / slope;
    if (!(std::abs(step) < 1)) return r;
    settled = std::abs(step) < kSettled;
    if (std::abs(step) < 1e-15) break;
    u = (u + step * r.tangent).normalized();
    r.tangent = cylinder.a.cross(u);
  }
  if (!settled) return r;  // it runs to and fro: there is no such point nearby
  r.on_rim = centre + rho * u;
  const Vec3 c = e.cross(r.tangent);
  const double sine = c.norm();
  if (!(sine > kLeastSine) || u.dot(u0) < 0.5) return r;
  r.n = c * ((c.dot(outside) < 0 ? -1 : 1) / sine);
  r.gap = r.n.dot(x - r.on_rim);
  r.on_line = r.on_rim + r.gap * r.n;
  r.found = true;
  return r;
}

}  // namespace lithe::internal
