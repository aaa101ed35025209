#pragma once

#include "lithe/core/eigen.h"
#include "lithe/model/shape.h"
#include "lithe/spatial/pose.h"

namespace lithe::test {

// Distances between convex shapes from nothing but their support functions: no features, no hulls, no cases. Slow, and
// right: the answer comes with a proof.
//
//   h(d)   = max over the shape of d·x                                       support
//   sep(n) = min over a of n·x − max over b of n·x = −h_a(−n) − h_b(n)        for unit n, from b to a
//   gap    = max over unit n of sep(n)                                        signed distance
//
// All in the world; X is the pose of the shape's frame G there.

// A plane is the half-space z ≤ 0: its support is infinite except along +z (within 1e-6 rad).
double support(const Geometry& shape, const Pose& X, const Vec3& d);

// A point of the shape with d·x = h(d). Not for planes.
Vec3 support_point(const Geometry& shape, const Pose& X, const Vec3& d);

double separation(const Geometry& a, const Pose& X_WA, const Geometry& b, const Pose& X_WB, const Vec3& n);

struct SignedDistance {
  double gap;    // sep(n), so the truth is no less
  double bound;  // and no more than this
  Vec3 n;
};

// Branch and bound over the sphere of directions until bound − gap ≤ tolerance (or the bound on work is met, which takes
// ties along a whole curve of directions, such as two coaxial cylinders' sides: see `bound`). A good first guess at n
// makes it faster and cannot make it wrong.
SignedDistance signed_distance(const Geometry& a, const Pose& X_WA, const Geometry& b, const Pose& X_WB,
                               double tolerance = 1e-8, const Vec3* guess = nullptr);

// How far x is from the shape's surface.
double surface_error(const Geometry& shape, const Pose& X, const Vec3& x);

// How far x is from being a point of the shape where the unit vector d is an outward normal: 0 at support points, of first
// order in errors of x and of d. (On flat parts h(d) − d·x; where the surface bends, the radius times the error of d.)
double support_error(const Geometry& shape, const Pose& X, const Vec3& d, const Vec3& x);

// The largest distance of a point of the shape from its frame's origin; 1 for planes.
double bounding_radius(const Geometry& shape);

}  // namespace lithe::test
