#pragma once

#include <string>

#include "lithe/model/model_builder.h"

namespace lithe {

// A solid of uniform density in the frame of its geometry. Planes and meshes are refused.
SpatialInertia solid_inertia(double mass, const Geometry& geometry);

// Adds a body that moves freely and the shape that it consists of, both called `name`; its joint is a free_joint(name)
// that has it at `placement` in the neutral configuration.
void add_free_solid(ModelBuilder& builder, const std::string& name, double mass, const Geometry& geometry,
                    const Pose& placement, const Material& material = {});

// The half-space z ≤ 0 of `placement`, as the world's shape "ground".
void add_ground(ModelBuilder& builder, const Material& material = {}, const Pose& placement = {});

}  // namespace lithe
