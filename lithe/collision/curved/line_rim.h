#pragma once

#include "lithe/collision/curved/cylinder_support.h"
#include "lithe/core/eigen.h"

namespace lithe::internal {

// The features of a manifold where a straight part (a pipe, a cylinder's side) ends on a rim, or a rim on it: the point of
// the line and the point of the rim whose difference g is perpendicular to both, near a given one.
struct LineRim {
  bool found = false;
  Vec3 on_line, on_rim;
  Vec3 n;        // unit, ⟂ the line and the rim; from the cylinder to the line
  Vec3 tangent;  // of the rim, unit: axis × u
  double gap;    // n·(on_line − on_rim)
};

// line: through x along the unit vector e. u: unit, ⟂ the cylinder's axis, where on rim k to start. outside: the normal is
// taken on this side. Not found where the line runs along the rim, where the point is further than a radius away from the
// first one, or where there is none: a line that passes over the rim twice within a short way has one of them at most.
LineRim closest_line_rim(const Vec3& x, const Vec3& e, const SolidCylinder& cylinder, int k, const Vec3& u,
                         const Vec3& outside);

}  // namespace lithe::internal
