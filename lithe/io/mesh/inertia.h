#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lithe/io/mesh.h"
#include "lithe/spatial/inertia.h"

namespace lithe::internal {

// Mass properties of what a triangle mesh encloses, at density 1 (so `inertia.mass` is the volume), in the mesh's own frame.
struct SolidInertia {
  SpatialInertia inertia = {};
  bool closed = false;  // the surface has no holes (up to 1e-6 of its area); otherwise the numbers mean nothing
  double overlapping_volume =
      0;  // Σ |volume| of the tetrahedra over the centre of the surface: larger than the mass where not star-shaped
};
SolidInertia solid_inertia(const TriangleMesh& mesh);

// As MuJoCo computes it from any triangles, closed or not: the centre is that of the pyramids over the surface's centre, and the mass
// properties are those of the pyramids over this centre. A closed surface gives the same as solid_inertia(). `unsigned_volumes`
// (MuJoCo's "legacy") counts each pyramid as positive: parts of what is not star-shaped count twice.
SpatialInertia pyramid_inertia(const TriangleMesh& mesh, bool unsigned_volumes);

// The same for a thin sheet of mass 1 per unit of area.
SpatialInertia shell_inertia(const TriangleMesh& mesh);

// The convex hull as triangles that look outwards; none if the points lie in a plane.
std::vector<std::array<std::int32_t, 3>> hull_triangles(std::span<const Vec3> points);

}  // namespace lithe::internal
