#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lithe/collision/hull/hull.h"
#include "lithe/model/shape.h"

namespace lithe::internal {

struct SharedHull {
  std::shared_ptr<const Hull> hull;
  std::vector<std::string> warnings;  // as build_hull() has them; none where the mesh brought its hull
};

// The hull of a mesh: the one that it carries, or else the exact one of its points. That is built once for all meshes
// with the same points, whatever their shapes, models and threads, as long as somebody holds it: the process remembers
// hulls by the SHA-256 of the points, without keeping them alive. `name` is for messages.
SharedHull shared_hull(const ConvexMesh& mesh, const std::string& name);

}  // namespace lithe::internal
