#include "lithe/collision/curved/rim_arc.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lithe::internal {
namespace {

// A direction in a plane, (cos, sin) of its angle: turned and halved without trigonometry.
struct Direction {
  double c, s;
};

Direction normalised(double c, double s) {
  const double scale = 1 / std::sqrt(c * c + s * s);
  return {c * scale, s * scale};
}

double cross(Direction u, Direction v) { return u.c * v.s - u.s * v.c; }

// What is seen along e. f1 is the axis' projection, f2 = e × f1. The axis is a = (e·a) e + α f1.
struct Section {
  Vec3 f1, f2;
  double d1, d2;    // o − x
  double alpha, k;  // sine and |cosine| of the angle between axis and line
  double half;      // hα: the ellipses' centres lie at ±half along f1
  double rho;
};

constexpr double kParallelToAxis = 1e-12;  // below this sine the line is taken to be parallel to the axis

Section section_along(const SolidCylinder& cylinder, const Vec3& x, const Vec3& e) {
  Section s;
  s.f2 = e.cross(cylinder.a);
  s.alpha = s.f2.norm();
  if (s.alpha < kParallelToAxis) {
    s.alpha = 0;
    s.f2 = e.unitOrthogonal();
  } else {
    // Twice, since a short cross product is not ⟂ e to rounding.
    s.f2 /= s.alpha;
    s.f2 = (s.f2 - s.f2.dot(e) * e).normalized();
  }
  s.f1 = s.f2.cross(e);
  const Vec3 d = cylinder.o - x;
  s.d1 = d.dot(s.f1);
  s.d2 = d.dot(s.f2);
  s.k = std::abs(e.dot(cylinder.a));
  s.half = cylinder.h * s.alpha;
  s.rho = cylinder.rho;
  return s;
}

// One quadrant of normals (c ≥ 0, s ≥ 0) against one ellipse of half-axes ρk, ρ around the origin, for a point (D1, D2)
// with D2 ≥ 0:
//
//   F(φ) = D1 c + D2 s − ρσ,  σ² = s² + k²c²,     F′ = D2 c − D1 s − ρα²cs/σ,     −F″ = F + ρk²/σ³
//
// On the rim's own angle ψ, where tan φ = k tan ψ, F′ has the sign of
//
//   W(ψ) = D2 cos ψ − k D1 sin ψ − ρα² sin ψ cos ψ
struct Quadrant {
  double D1, D2, k, rho, alpha2;
};

double sign_or_one(double x) { return x < 0 ? -1. : 1.; }

Quadrant quadrant_of(const Section& s, double sign1) {
  return {sign1 * s.d1 - s.half, std::abs(s.d2), s.k, s.rho, s.alpha * s.alpha};
}

// The root of W between lo (W ≥ 0) and hi (W ≤ 0), from a first guess: Newton, or halving where it would leave.
Direction rim_angle(const Quadrant& q, Direction lo, Direction hi, Direction guess) {
  const double bend = q.rho * q.alpha2, kD1 = q.k * q.D1;
  Direction at = guess;
  for (int i = 0; i < 64; ++i) {
    const double W = at.c * (q.D2 - bend * at.s) - kD1 * at.s;
    if (W == 0) return at;
    const double slope = -(q.D2 * at.s + kD1 * at.c + bend * (at.c - at.s) * (at.c + at.s));
    const double step = slope < 0 ? -W / slope : 0;
    // The step before the bracket: once converged, rounding may put the root on either side of it.
    if (slope < 0 && std::abs(step) < 4e-16) return at;
    (W > 0 ? lo : hi) = at;
    Direction next = normalised(at.c - step * at.s, at.s + step * at.c);
    const bool inside = step != 0 && std::abs(step) < 1 && cross(lo, next) > 0 && cross(next, hi) > 0;
    if (!inside) {
      next = normalised(lo.c + hi.c, lo.s + hi.s);
      if (!(cross(lo, next) > 0 && cross(next, hi) > 0)) return next;
    }
    at = next;
  }
  return at;
}

struct Slope {
  double F1, K;  // F′ and −F″
};

Slope slope_at(const Quadrant& q, Direction n) {
  const double sigma = std::sqrt(n.s * n.s + q.k * q.k * n.c * n.c);
  if (!(sigma > 0)) return {0, 0};  // the cusp
  return {.F1 = q.D2 * n.c - q.D1 * n.s - q.rho * q.alpha2 * n.c * n.s / sigma,
          .K = q.D1 * n.c + q.D2 * n.s - q.rho * sigma + q.rho * q.k * q.k / (sigma * sigma * sigma)};
}

// From the rim's angle to the normal's, dφ = k dψ/(cos²ψ + k² sin²ψ): the ellipse's normal or, where an error of ψ would
// grow more (the end of a flat ellipse), the way to its point. Then a step of Newton on F′ itself, so that the normal is
// right to rounding.
Direction normal_at(const Quadrant& q, Direction rim) {
  double c = rim.c, s = q.k * rim.s;
  const double g1 = q.D1 - q.rho * q.k * rim.c, g2 = q.D2 - q.rho * rim.s;
  if (q.k * std::sqrt(g1 * g1 + g2 * g2) > q.rho * (c * c + s * s)) {
    const double outside = sign_or_one(g1 * c + g2 * s);
    c = std::max(0., outside * g1);
    s = std::max(0., outside * g2);
  }
  if (!(c * c + s * s > 0)) {
    c = std::max(0., g1);
    s = std::max(0., g2);
    if (!(c * c + s * s > 0)) return {0, 1};  // the line goes through a flat ellipse's end
  }
  const Direction n = normalised(c, s);
  const Slope slope = slope_at(q, n);
  const double step = slope.K > 0 ? slope.F1 / slope.K : 0;
  if (!(std::abs(step) < 1e-6)) return n;
  const Direction polished = normalised(n.c - step * n.s, n.s + step * n.c);
  return polished.c >= 0 && polished.s >= 0 && std::abs(slope_at(q, polished).F1) < std::abs(slope.F1) ? polished : n;
}

// The smooth maximum of F in a quadrant, if it has one.
bool smooth_maximum(const Quadrant& q, Direction& n) {
  const double bend = q.rho * q.alpha2, kD1 = q.k * q.D1;
  const double length = std::sqrt(kD1 * kD1 + q.D2 * q.D2);
  if (q.D1 >= 0) {
    // The point lies in the quadrant: W/(sin ψ cos ψ) falls from +∞ to −∞, one root.
    if (!(length > 0)) {
      n = {1, 0};
      return true;
    }
    if (kD1 == 0) {
      // W = cos ψ (D2 − ρα² sin ψ): the first factor's root is the maximum only where the second has none.
      const double s = q.D2 < bend ? q.D2 / bend : 1;
      n = normal_at(q, {std::sqrt(std::max(0., (1 - s) * (1 + s))), s});
      return true;
    }
    const double c0 = kD1 / length;
    n = normal_at(q, rim_angle(q, {1, 0}, {0, 1}, normalised(kD1 + bend * c0, q.D2)));
    return true;
  }
  // It lies beside: D2/sin ψ + k|D1|/cos ψ = ρα² has two roots inside the ellipse's evolute, else none; the first is the
  // maximum, and between them, at tan³ψ = D2/(k|D1|), the left side is least.
  const double u = std::cbrt(q.D2), v = std::cbrt(-kD1);
  const double evolute = u * u + v * v;
  if (!(evolute * evolute * evolute <= bend * bend) || !(bend > 0)) return false;
  if (!(evolute > 0)) {
    n = {1, 0};
    return true;
  }
  const Direction middle = normalised(v, u);
  const Direction first = normalised(bend, q.D2);  // sin ψ ≈ D2/ρα², from below
  n = normal_at(q, rim_angle(q, {1, 0}, middle, cross(first, middle) > 0 ? first : middle));
  return true;
}

RimArcMaximum evaluated(const SolidCylinder& cylinder, const Vec3& x, const Vec3& n, bool on_side) {
  return {n, n.dot(cylinder.o - x) - reach(cylinder, n), on_side};
}

}  // namespace

RimArcMaximum rim_circle_maximum(const SolidCylinder& cylinder, const Vec3& x, const Vec3& e) {
  const Section s = section_along(cylinder, x, e);
  // The hull is symmetric about f1 and f2, so the best normal has the signs of (d1, d2).
  const double sign1 = sign_or_one(s.d1), sign2 = sign_or_one(s.d2);
  const Quadrant q = quadrant_of(s, sign1);
  const RimArcMaximum side = evaluated(cylinder, x, sign2 * s.f2, true);
  Direction n;
  if (!smooth_maximum(q, n)) return side;
  const RimArcMaximum smooth = evaluated(cylinder, x, (sign1 * n.c) * s.f1 + (sign2 * n.s) * s.f2, n.c == 0);
  return smooth.F >= side.F ? smooth : side;
}

RimArcMaxima rim_arc_maxima(const SolidCylinder& cylinder, const Vec3& x, const Vec3& e, const Vec3& n0,
                            const Vec3& n1) {
  const Section section = section_along(cylinder, x, e);
  Direction from{n0.dot(section.f1), n0.dot(section.f2)}, to{n1.dot(section.f1), n1.dot(section.f2)};
  if (cross(from, to) < 0) std::swap(from, to);
  RimArcMaxima maxima;
  const auto add_if_inside = [&](Direction n, bool on_side) {
    if (!(cross(from, n) > 0 && cross(n, to) > 0)) return;
    const RimArcMaximum m = evaluated(cylinder, x, n.c * section.f1 + n.s * section.f2, on_side);
    int i = maxima.count++;
    for (; i > 0 && maxima.at[i - 1].F < m.F; --i) maxima.at[i] = maxima.at[i - 1];
    maxima.at[i] = m;
  };
  const double sign2 = sign_or_one(section.d2);
  for (double sign1 : {1., -1.}) {
    Direction n;
    if (smooth_maximum(quadrant_of(section, sign1), n)) add_if_inside({sign1 * n.c, sign2 * n.s}, n.c == 0);
  }
  // |n·a| makes a peak of each side normal that the point lies beside.
  if (std::abs(section.d1) <= section.half) {
    add_if_inside({0, sign2}, true);
    add_if_inside({0, -sign2}, true);
  }
  return maxima;
}

}  // namespace lithe::internal
