#include "lithe/spatial/inertia.h"

#include <numbers>

#include "lithe/spatial/rotation.h"

namespace lithe {

namespace {

// −m [c]×², what the parallel-axis theorem adds.
Mat3 parallel_axis(double mass, const Vec3& c) {
  return mass * (c.squaredNorm() * Mat3::Identity() - c * c.transpose());
}

SpatialInertia centred(double mass, double ixx, double iyy, double izz) {
  return {mass, Vec3::Zero(), Vec3(ixx, iyy, izz).asDiagonal()};
}

}  // namespace

SpatialInertia SpatialInertia::from_centre(double mass, const Vec3& centre, const Mat3& about_centre) {
  return {mass, mass * centre, about_centre + parallel_axis(mass, centre)};
}

SpatialInertia SpatialInertia::from_parameters(const Vec10& p) {
  SpatialInertia inertia{p[0], p.segment<3>(1), Mat3()};
  inertia.rotational << p[4], p[5], p[6], p[5], p[7], p[8], p[6], p[8], p[9];
  return inertia;
}

SpatialInertia SpatialInertia::box(double mass, const Vec3& size) {
  const Vec3 s = size.cwiseAbs2() * (mass / 12);
  return centred(mass, s.y() + s.z(), s.x() + s.z(), s.x() + s.y());
}

SpatialInertia SpatialInertia::sphere(double mass, double radius) {
  const double i = 0.4 * mass * radius * radius;
  return centred(mass, i, i, i);
}

SpatialInertia SpatialInertia::cylinder(double mass, double radius, double length) {
  const double across = mass * (3 * radius * radius + length * length) / 12;
  return centred(mass, across, across, 0.5 * mass * radius * radius);
}

SpatialInertia SpatialInertia::capsule(double mass, double radius, double length) {
  // A cylinder and two half balls of the same density; a half ball's centre is 3/8 r from its face.
  const double cylinder_volume = std::numbers::pi * radius * radius * length;
  const double ball_volume = 4.0 / 3 * std::numbers::pi * radius * radius * radius;
  const double ball = mass * ball_volume / (cylinder_volume + ball_volume);
  const SpatialInertia shaft = cylinder(mass - ball, radius, length);
  const double r2 = radius * radius;
  const double across = shaft.rotational(0, 0) + ball * (0.4 * r2 + 0.25 * length * length + 0.375 * length * radius);
  return centred(mass, across, across, shaft.rotational(2, 2) + 0.4 * ball * r2);
}

SpatialInertia SpatialInertia::point(double mass, const Vec3& where) { return from_centre(mass, where, Mat3::Zero()); }

Vec10 SpatialInertia::parameters() const {
  Vec10 p;
  p << mass, first_moment, rotational(0, 0), rotational(0, 1), rotational(0, 2), rotational(1, 1), rotational(1, 2),
      rotational(2, 2);
  return p;
}

Vec3 SpatialInertia::centre() const { return mass > 0 ? Vec3(first_moment / mass) : Vec3(Vec3::Zero()); }

Mat3 SpatialInertia::about_centre() const { return rotational - parallel_axis(mass, centre()); }

Mat6 SpatialInertia::matrix() const {
  Mat6 m;
  m << rotational, skew(first_moment), -skew(first_moment), mass * Mat3::Identity();
  return m;
}

SpatialInertia SpatialInertia::in(const Pose& X_AB) const {
  // Rotate about B's origin, then shift the origin: with h = R·m c and d = p_AB,
  // I_A = R I Rᵀ − [d]×[h]× − [h]×[d]× − m [d]×². Massless bodies with a first moment stay exact too.
  const Vec3 h = X_AB.R * first_moment;
  const Vec3& d = X_AB.p;
  const Mat3 hd = h * d.transpose();
  return {mass, h + mass * d,
          X_AB.R * rotational * X_AB.R.transpose() + 2 * h.dot(d) * Mat3::Identity() - hd - hd.transpose() +
              parallel_axis(mass, d)};
}

SpatialInertia& SpatialInertia::operator+=(const SpatialInertia& other) {
  mass += other.mass;
  first_moment += other.first_moment;
  rotational += other.rotational;
  return *this;
}

}  // namespace lithe
