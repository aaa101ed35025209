#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lithe/io/loaded_model.h"
#include "lithe/io/sdf/parts.h"

namespace lithe::internal {

// A shape of a <collision>. A mesh that the options give in convex pieces becomes several shapes, and what is left out
// none.
struct SdfShape {
  Geometry geometry = {};
  Pose placement = {};  // in the collision's frame
};
std::vector<SdfShape> read_collision_geometry(SdfContext& context, const XmlElement& collision);

// The geometry and colour of a <visual>, without its name and body; nothing for what is left out.
std::optional<Visual> read_visual_geometry(SdfContext& context, const XmlElement& visual);

// Reads <surface> into the shape: friction, restitution, and with which shapes it collides.
void read_surface(SdfContext& context, const XmlElement& collision, Shape& shape);

}  // namespace lithe::internal
