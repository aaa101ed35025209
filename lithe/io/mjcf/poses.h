#pragma once

#include "lithe/io/mjcf/compiler.h"
#include "lithe/spatial/pose.h"

namespace lithe::internal::mjcf {

// Reads the pose of an element: pos, with one of quat, axisangle, xyaxes, zaxis and euler. It is the identity without
// them.
Pose read_pose(const Attributes& attributes, const Compiler& compiler, WarningList& warnings);

// The shortest turn that takes the z axis to `direction`, a unit vector. As in MuJoCo, a half turn is about x.
Mat3 shortest_turn_from_z(const Vec3& direction);

// A line between two points, as a frame in its middle with z along it. read_from_to() reads it from the attribute
// fromto, if there is one.
struct Segment {
  Pose middle;
  double half_length = 0;
};
std::optional<Segment> read_from_to(const Attributes& attributes);

}  // namespace lithe::internal::mjcf
