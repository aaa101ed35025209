#pragma once

#include <cstdint>
#include <string>

#include "lithe/model/model_builder.h"

namespace lithe {

// What the scenes of the paper (Werling et al. 2021, "Fast and Feature-Complete Differentiable Physics for Articulated
// Rigid Bodies with Contact") are made of: boxes that move in the plane y = 0, each of them 1 kg with the unit matrix
// as its inertia.

// 1 kg, and 1 kg·m² about every axis through the centre.
SpatialInertia unit_inertia();

// Joints NAME.x and NAME.z along these axes, from the world's origin, without motors.
JointList sliding_in_plane(const std::string& name);

// Turns from z towards −x: counterclockwise where x points to the right and z up.
Joint turning_in_plane(const std::string& name, const Vec3& place, double effort_limit);

// Three boxes of 0.05 × 0.05 × 0.25 m, each of which turns about the end of the one before: bodies and joints
// segment_1, segment_2, segment_3. With all angles 0 they stand one on top of the other, segment_1 on `place` in the
// parent. They are of kSegmentGroup, and touch nothing of that group.
inline constexpr std::uint32_t kSegmentGroup = 2;
void add_segments(ModelBuilder& builder, const std::string& parent, const Vec3& place, double effort_limit);

// A box as the world's shape "floor": 0.5 m wide and 0.25 m high, `length` along x.
void add_floor(ModelBuilder& builder, double length, const Vec3& centre);

}  // namespace lithe
