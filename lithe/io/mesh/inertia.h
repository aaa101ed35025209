#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lithe/io/mesh.h"
#include "lithe/spatial/inertia.h"

namespace lithe::internal {

// The mass properties of what a triangle mesh encloses, at density 1 (so that `inertia.mass` is the volume), in the
// mesh's own frame.
struct SolidInertia {
  SpatialInertia inertia = {};
  bool closed = false;  // the surface has no holes (up to 1e-6 of its area); otherwise the numbers mean nothing
  // Σ |volume| of the tetrahedra over the centre of the surface, which is larger than the mass of a body that is not
  // star-shaped.
  double overlapping_volume = 0;
};
SolidInertia solid_inertia(const TriangleMesh& mesh);

// The mass properties as MuJoCo computes them from any triangles, closed or not. Pyramids over the centre of the
// surface give the centre of mass; the mass properties are those of the pyramids over that. For a closed surface this
// is the same as solid_inertia(). With `unsigned_volumes` (MuJoCo's "legacy") each pyramid counts as positive, so that
// parts of what is not star-shaped count twice.
SpatialInertia pyramid_inertia(const TriangleMesh& mesh, bool unsigned_volumes);

// The same for a thin sheet of mass 1 per unit of area.
SpatialInertia shell_inertia(const TriangleMesh& mesh);

// The convex hull of the points, as triangles that look outwards; none if the points lie in a plane.
std::vector<std::array<std::int32_t, 3>> hull_triangles(std::span<const Vec3> points);

}  // namespace lithe::internal
