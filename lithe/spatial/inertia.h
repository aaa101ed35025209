#pragma once

#include "lithe/core/eigen.h"
#include "lithe/spatial/pose.h"

namespace lithe {

// The ten inertial parameters of a rigid body in some frame B. Inverse dynamics is linear in them, so they
// are also what the regressor's columns and the gradients by inertia refer to, in this order:
//
//   m,  m·c (3: mass times centre of mass),  Ixx Ixy Ixz Iyy Iyz Izz about B's origin
//
// (about the origin, not the centre of mass; Ixy is the matrix entry, so minus the "product of inertia").
struct SpatialInertia {
  double mass = 0;
  Vec3 first_moment = Vec3::Zero();  // m·c
  Mat3 rotational = Mat3::Zero();    // about the frame's origin, symmetric

  // From what robot files state: the inertia about the centre of mass, in B's axes.
  static SpatialInertia from_centre(double mass, const Vec3& centre, const Mat3& about_centre);
  static SpatialInertia from_parameters(const Vec10& parameters);

  // Solid bodies of uniform density, centred at the origin; `size` is edge to edge, cylinders along z.
  static SpatialInertia box(double mass, const Vec3& size);
  static SpatialInertia sphere(double mass, double radius);
  static SpatialInertia cylinder(double mass, double radius, double length);
  static SpatialInertia capsule(double mass, double radius, double length);  // length between the caps' centres
  static SpatialInertia point(double mass, const Vec3& where);

  Vec10 parameters() const;
  Vec3 centre() const;        // of mass; zero for a massless body
  Mat3 about_centre() const;  // rotational inertia about the centre of mass
  Mat6 matrix() const;        // 6×6, angular first: [I, [m c]×; −[m c]×, m·1]

  // The same body seen from frame A, given X_AB.
  SpatialInertia in(const Pose& X_AB) const;

  SpatialInertia& operator+=(const SpatialInertia& other);
};

}  // namespace lithe
