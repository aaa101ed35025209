#pragma once

#include "lithe/collision/curved/cylinder_support.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/simd/lanes.h"

namespace lithe::internal {

// What the search for the best normal between a cylinder and a polytope (cylinder_hull_search.h) asks of all faces or of all vertices,
// four at a time.

// Memory of the search; afterwards, what it found on the way.
struct CylinderHullScratch {
  AlignedBuffer face_gap;                         // sep(face normal)
  AlignedBuffer support_x, support_y, support_z;  // the cylinder's support point against each face
  AlignedBuffer height;                           // of each vertex along the axis, a·(v − o)
};

// Fills scratch.face_gap and returns the face whose normal separates best; of equal ones the first.
int measure_faces(const SolidCylinder& cylinder, const Hull& hull, CylinderHullScratch& scratch);

// Vertices that a maximum can touch; of equal ones the first.
struct OutermostVertices {
  int nearest_to_axis = 0;
  int nearest = 0;              // to the cylinder
  int lowest = 0, highest = 0;  // along the axis
};
// Fills scratch.height, too.
OutermostVertices measure_vertices(const SolidCylinder& cylinder, const Hull& hull, CylinderHullScratch& scratch);

// Fills scratch.support_x, support_y and support_z.
void find_supports(const SolidCylinder& cylinder, const Hull& hull, CylinderHullScratch& scratch);

}  // namespace lithe::internal
