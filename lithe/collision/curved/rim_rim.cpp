#include "lithe/collision/curved/rim_rim.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "lithe/collision/curved/cylinder_support.h"

namespace lithe::internal {
namespace {

// The point of a rim that reaches furthest along n.
struct FurthestRimPoint {
  double sigma;
  Vec3 u, t;  // radial and tangent

  FurthestRimPoint(const Rim& rim, const Vec3& n) {
    t = rim.axis.cross(n);
    sigma = t.norm();
    t *= sigma > 0 ? 1 / sigma : 0;
    u = t.cross(rim.axis);
  }
};

// u turned by the small angle δ towards t.
Vec3 turned(const Vec3& u, const Vec3& t, double angle) { return (u + angle * t).normalized(); }

}  // namespace

Vec3 newton_direction(const RimPair& rims, const Vec3& n) {
  constexpr double kCusp = 1e-9;
  const FurthestRimPoint a(rims.a, -n), b(rims.b, n);
  if (a.sigma < kCusp || b.sigma < kCusp) return Vec3::Zero();
  const double rho_a = rims.a.radius, rho_b = rims.b.radius;
  const Vec3 g = rims.a.centre - rims.b.centre + rho_a * a.u - rho_b * b.u;
  const double gap = g.dot(n);

  // In the tangent plane with axes t_a and v = n × t_a; both t are ⟂ n.
  const Vec3 v = n.cross(a.t);
  const double bend_a = rho_a / a.sigma, bend_b = rho_b / b.sigma;
  const double bt = b.t.dot(a.t), bv = b.t.dot(v);
  double k11 = gap + bend_a + bend_b * bt * bt, k22 = gap + bend_b * bv * bv;
  const double k12 = bend_b * bt * bv;
  const double mean = 0.5 * (k11 + k22), spread = std::sqrt(0.25 * (k11 - k22) * (k11 - k22) + k12 * k12);
  const double least = 1e-3 * (rho_a + rho_b);
  const double shift = std::max(0., least - (mean - spread));
  k11 += shift;
  k22 += shift;
  const double determinant = k11 * k22 - k12 * k12;
  if (!(determinant > 0)) return Vec3::Zero();
  const double g1 = g.dot(a.t), g2 = g.dot(v);
  return a.t * ((k22 * g1 - k12 * g2) / determinant) + v * ((k11 * g2 - k12 * g1) / determinant);
}

RimDirections rim_directions(const RimPair& rims, const Vec3& n) {
  return {radial_direction(-n, rims.a.axis), radial_direction(n, rims.b.axis)};
}

RimRim polish(const RimPair& rims, const RimDirections& u, const Vec3& n) {
  const double rho_a = rims.a.radius, rho_b = rims.b.radius;
  const double size = rho_a + rho_b;
  RimRim r;
  Vec3 ua = u.a, ub = u.b;
  if ((rho_a > 0 && ua.isZero(0)) || (rho_b > 0 && ub.isZero(0))) return r;
  // A rim without a radius is a point: its angle stays.
  const double bend_a = rho_a > 0 ? 1 / rho_a : 0, bend_b = rho_b > 0 ? 1 / rho_b : 0;
  if (!(rho_a > 0)) ua.setZero();
  if (!(rho_b > 0)) ub.setZero();
  Vec3 ta = rims.a.axis.cross(ua), tb = rims.b.axis.cross(ub), g;
  for (int i = 0; i < 20; ++i) {
    g = rims.a.centre - rims.b.centre + rho_a * ua - rho_b * ub;
    // g moves by ds_a t_a − ds_b t_b, and each tangent turns towards −u.
    const double kappa = ta.dot(tb);
    const double m11 = 1 - g.dot(ua) * bend_a, m22 = -1 - g.dot(ub) * bend_b;
    const double r1 = -g.dot(ta), r2 = -g.dot(tb);
    const double determinant = m11 * m22 + kappa * kappa;
    const double da = (r1 * m22 + kappa * r2) / determinant * bend_a;
    const double db = (m11 * r2 - kappa * r1) / determinant * bend_b;
    const double step = std::max(std::abs(da), std::abs(db));
    if (!(step < 1e6)) break;  // or not a number
    const double damping = step > 0.3 ? 0.3 / step : 1;
    ua = turned(ua, ta, damping * da);
    ub = turned(ub, tb, damping * db);
    ta = rims.a.axis.cross(ua);
    tb = rims.b.axis.cross(ub);
    r.found = step < 1e-9;
    if (step < 1e-15) break;
  }
  if (!r.found) return r;
  r.x_a = rims.a.centre + rho_a * ua;
  r.x_b = rims.b.centre + rho_b * ub;
  g = r.x_a - r.x_b;
  // g itself is the normal, or what is perpendicular to both tangents: whichever is the longer.
  const Vec3 c = ta.cross(tb);
  const double length = g.norm(), sine = c.norm();
  if (!(length > 1e-12 * size && length > 0) && !(sine > 1e-9)) return {};
  r.n = length > sine * size || !(sine > 1e-9) ? Vec3(g / length) : Vec3(c / sine);
  if (r.n.dot(n) < 0) r.n = -r.n;
  r.gap = g.dot(r.n);
  return r;
}

}  // namespace lithe::internal
