#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lithe/io/loaded_model.h"
#include "lithe/io/sdf/parts.h"

namespace lithe::internal {

// The geometry of a <collision> as shapes; several for a mesh that the options give in convex pieces, none for what is left out.
struct SdfShape {
  Geometry geometry = {};
  Pose placement = {};  // in the collision's frame
};
std::vector<SdfShape> read_collision_geometry(SdfContext& context, const XmlElement& collision);

// The geometry and colour of a <visual>, without name and body; none for what is left out.
std::optional<Visual> read_visual_geometry(SdfContext& context, const XmlElement& visual);

// <surface>: friction, restitution and which shapes it collides with.
void read_surface(SdfContext& context, const XmlElement& collision, Shape& shape);

}  // namespace lithe::internal
