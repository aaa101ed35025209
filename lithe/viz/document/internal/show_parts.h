#pragma once

#include <vector>

#include "lithe/collision/hull/hull.h"
#include "lithe/viz/document/show_document.h"

namespace lithe::internal {

// The parts of a show that do not move with time.
std::vector<ShowBody> show_bodies(const Model& model);
std::vector<ShowShape> show_shapes(const Model& model, const std::vector<Visual>& visuals);
std::vector<ShowJoint> show_joints(const Model& model);

// Faces as fans of triangles.
ShowMesh hull_mesh(const Hull& hull);

}  // namespace lithe::internal
