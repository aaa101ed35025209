#pragma once

#include <algorithm>

#include "lithe/core/eigen.h"

namespace lithe::internal {

// The core of a capsule, an edge of a box: the points o + s e, |s| ≤ h. A point has h = 0.
struct Segment {
  Vec3 o;  // its middle
  Vec3 e;  // unit
  double h;

  Vec3 at(double s) const { return o + s * e; }
};

// Two segments (or lines) a and b as every test of a pair of them sees them. With d = o_a − o_b and f = e_a − κ e_b, what
// e_a has across b: |f| = sin θ keeps all its digits for nearly parallel lines, where 1 − κ² would have none.
struct SegmentPair {
  double cosine;   // κ = e_a·e_b
  double sine_sq;  // |f|²
  double along_a;  // d·e_a
  double along_b;  // d·e_b
  double across;   // d·f

  static SegmentPair of(const Segment& a, const Segment& b) {
    const Vec3 d = a.o - b.o;
    const double cosine = a.e.dot(b.e);
    const Vec3 f = a.e - cosine * b.e;
    return {cosine, f.squaredNorm(), d.dot(a.e), d.dot(b.e), d.dot(f)};
  }
  // The same for a b that lies on the z axis, around the origin.
  static SegmentPair with_z_axis(const Vec3& o, const Vec3& e) {
    const double across = o.x() * e.x() + o.y() * e.y();
    return {e.z(), e.x() * e.x() + e.y() * e.y(), across + o.z() * e.z(), o.z(), across};
  }

  // Below this angle the lines are parallel: a tilt that changes their distance by less than 1e-12 of their length.
  static constexpr double kParallel = 1e-12;
  bool parallel() const { return sine_sq < kParallel * kParallel; }

  // Where the foot of a's point s is on b's line, and of b's point t on a's.
  double foot_on_b(double s) const { return along_b + cosine * s; }
  double foot_on_a(double t) const { return cosine * t - along_a; }
};

// The closest points a.at(s) and b.at(t).
struct ClosestParameters {
  double s, t;
};

// The closest points of two segments of half lengths h_a, h_b; of parallel ones, the middle of their overlap (or the ends
// that face each other). Ericson, Real-Time Collision Detection, 5.1.9: the closest point of the lines, clamped to a; its
// foot, clamped to b; and if that was clamped, the foot of b's end, clamped to a. An end is met exactly: s = ±h_a.
inline ClosestParameters closest_parameters(const SegmentPair& pair, double h_a, double h_b) {
  // Without branches: which feature is the closest is as good as random.
  const auto clamped = [](double x, double h) { return std::min(std::max(x, -h), h); };
  double s = -pair.across / pair.sine_sq;
  if (pair.parallel()) [[unlikely]] {
    const double low = std::max(-h_a, -pair.along_a - h_b), high = std::min(h_a, -pair.along_a + h_b);
    s = 0.5 * (low + high);
  }
  s = clamped(s, h_a);
  const double foot = pair.foot_on_b(s);
  const double t = clamped(foot, h_b);
  const double foot_of_end = clamped(pair.foot_on_a(t), h_a);
  return {t == foot ? s : foot_of_end, t};
}

}  // namespace lithe::internal
