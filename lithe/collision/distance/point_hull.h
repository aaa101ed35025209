#pragma once

#include "lithe/collision/contact.h"
#include "lithe/collision/hull/hull.h"

namespace lithe::internal {

// A point, or a segment, against all faces of a hull: the face with the largest
//
//   s_F = n_F·o − |n_F·half| − offset,      the height of the lower end of o ± half over the face's plane.
//
// It is a lower bound of the signed distance, and is that distance where the end lies over the face, and for a point
// inside. Ties: the lowest number.
struct FaceBound {
  int face;
  double s;
};
FaceBound best_face(const Hull& hull, const Vec3& o, const Vec3& half);

// The point of a hull's surface nearest to a given point.
struct NearestOnHull {
  FeatureCode code;  // vertex, edge or face
  Vec3 x;
  Vec3 n;           // unit, outward: from x to the point where that is outside
  double distance;  // signed; the point is x + distance·n
};

// `bound` is best_face() of the point. Closer than `touching` the point counts as inside, where that face is nearest.
NearestOnHull nearest_on_hull(const Hull& hull, const Vec3& point, const FaceBound& bound, double touching);

}  // namespace lithe::internal
