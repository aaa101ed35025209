#pragma once

#include <array>

#include "lithe/collision/curved/cylinder_support.h"
#include "lithe/core/eigen.h"

namespace lithe::internal {

// A line against a cylinder: which normals across the line separate the two best?
//
// The line goes through x along the unit vector e. A normal n ⟂ e points from the line to the cylinder, and
//
//   F(n) = n·(o − x) − h|n·a| − ρ|n×a|
//
// is by how much it separates them. In a contact, whose normal points from b to a, n is the normal where a is the
// cylinder and −n where b is.
//
// Seen along e the line is a point and the cylinder the hull of two ellipses, of half-axes ρk and ρ with k = |e·a|;
// max F is the point's signed distance to it. So the maxima on the circle of normals are few, and each has a bracket in
// which it is the only one: no sampling, and none can be missed. Where the axis is ⟂ e the ellipses are flat and F has a
// cusp at n = ±a; the angle on the rim, which we solve for, has none.
struct RimArcMaximum {
  Vec3 n = Vec3::Zero();  // unit, ⟂ e
  double F = 0;
  bool on_side = false;  // n ⟂ a, the line touches the side; otherwise it touches a rim (a cap if n ∥ a)
};

// Best first; equal ones in a fixed order.
struct RimArcMaxima {
  std::array<RimArcMaximum, 4> at = {};
  int count = 0;
};

// The local maxima of F inside an edge's arc of normals, ends excluded: from n0 to n1 ⟂ e (unit), the short way round.
// n0 and n1 are the normals of the two faces that meet there.
RimArcMaxima rim_arc_maxima(const SolidCylinder& cylinder, const Vec3& x, const Vec3& e, const Vec3& n0,
                            const Vec3& n1);

// The best normal of the whole circle n ⟂ e. Where the line is the axis and all are equally good, some normal.
RimArcMaximum rim_circle_maximum(const SolidCylinder& cylinder, const Vec3& x, const Vec3& e);

}  // namespace lithe::internal
