#pragma once

#include <algorithm>
#include <cmath>

#include "lithe/collision/contact.h"
#include "lithe/core/eigen.h"

namespace lithe::internal {

// A solid cylinder in the frame the pair is tested in: centre o, unit axis a, half-length h, radius ρ.
struct SolidCylinder {
  Vec3 o, a;
  double h, rho;

  // Cap and rim k: 0 at −a, 1 at +a.
  Vec3 cap_centre(int k) const { return k == 0 ? Vec3(o - h * a) : Vec3(o + h * a); }
  Vec3 cap_normal(int k) const { return k == 0 ? Vec3(-a) : a; }
};

// |n × a|. Never √(1 − (n·a)²), which has lost half its digits where n is nearly an axis.
inline double sine_between(const Vec3& n, const Vec3& a) {
  const double x = n.y() * a.z() - n.z() * a.y();
  const double y = n.z() * a.x() - n.x() * a.z();
  const double z = n.x() * a.y() - n.y() * a.x();
  return std::sqrt(x * x + y * y + z * z);
}

// How far the cylinder reaches from its centre in direction n: h|n·a| + ρ|n×a|.
inline double reach(const SolidCylinder& c, const Vec3& n) {
  return c.h * std::abs(n.dot(c.a)) + c.rho * sine_between(n, c.a);
}

// The part of v perpendicular to the unit vector a.
inline Vec3 across(const Vec3& v, const Vec3& a) { return v - v.dot(a) * a; }

// The unit vector across the axis a on n's side, ⟂ a to rounding however close n is to it, and zero only where n ∥ a.
inline Vec3 radial_direction(const Vec3& n, const Vec3& a) {
  const Vec3 t(a.y() * n.z() - a.z() * n.y(), a.z() * n.x() - a.x() * n.z(), a.x() * n.y() - a.y() * n.x());
  const double sigma = std::sqrt(t.dot(t));
  if (!(sigma > 0)) return Vec3::Zero();
  return Vec3(t.y() * a.z() - t.z() * a.y(), t.z() * a.x() - t.x() * a.z(), t.x() * a.y() - t.y() * a.x()) / sigma;
}

// The jet of a rim that touches at x; outward: the contact's normal as it leaves the cylinder. The tangent comes from x and
// not from the normal, which says nothing about it where it is along the axis (a pipe that lies flat over the rim). There
// the rim bends infinitely and the normal follows the cap. Beyond, where it leans inward, the point moves against it.
inline SupportJet rim_jet(const SolidCylinder& c, const Vec3& x, const Vec3& outward) {
  constexpr double kLeastSine = 3e-10;  // more bend would drown the rest of a derivative in rounding errors
  const Vec3 d = across(x - c.o, c.a);
  const double l = d.norm();
  if (!(l > 0)) return SupportJet::vertex();
  const Vec3 t(c.a.y() * d.z() - c.a.z() * d.y(), c.a.z() * d.x() - c.a.x() * d.z(), c.a.x() * d.y() - c.a.y() * d.x());
  const double sigma = std::max(sine_between(outward, c.a), kLeastSine);
  return SupportJet::rim(t / l, d.dot(outward) < 0 ? -c.rho : c.rho, sigma);
}

// Where a point lies, as the cylinder sees it.
struct PointInCylinder {
  double z;  // along the axis, from the centre
  double l;  // from the axis
  Vec3 u;    // unit, away from the axis; zero on it

  PointInCylinder(const SolidCylinder& c, const Vec3& x) {
    const Vec3 d = x - c.o;
    z = d.dot(c.a);
    u = d - z * c.a;
    l = u.norm();
    // A multiple of a tiny vector would not be perpendicular to the axis: the point counts as on it.
    if (l > 1e-12 * (c.rho + c.h)) {
      u /= l;
    } else {
      l = 0;
      u.setZero();
    }
  }
  // Of the point from the solid; a lower bound where it lies inside.
  double distance(const SolidCylinder& c) const {
    const double across = l - c.rho, along = std::abs(z) - c.h;
    return across > 0 && along > 0 ? std::sqrt(across * across + along * along) : std::max(across, along);
  }
};

// Half of the part of the line x + t e that lies within a disc's radius of its axis (seen along the axis): t is in
// middle ± half, and half is negative where the line passes the disc. A line along the axis is inside for all t or none.
struct LineOverDisc {
  double middle, half;

  LineOverDisc(const Vec3& x, const Vec3& e, const Vec3& centre, const Vec3& axis, double radius) {
    const Vec3 d = across(x - centre, axis), f = across(e, axis);
    const double f2 = f.squaredNorm();
    if (f2 < 1e-24) {
      middle = 0;
      half = d.squaredNorm() <= radius * radius ? 1e12 * (radius + 1) : -1;
      return;
    }
    middle = -d.dot(f) / f2;
    const double room = radius * radius - (d + middle * f).squaredNorm();
    half = room >= 0 ? std::sqrt(room / f2) : -1;
  }
};

}  // namespace lithe::internal
