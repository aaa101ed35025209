#pragma once

#include "lithe/io/mjcf/compiler.h"
#include "lithe/spatial/pose.h"

namespace lithe::internal::mjcf {

// pos with one of quat, axisangle, xyaxes, zaxis and euler; the identity where there is none.
Pose read_pose(const Attributes& attributes, const Compiler& compiler, WarningList& warnings);

// The shortest turn that takes e_z to `direction` (as MuJoCo does it: a half turn is about x).
Mat3 shortest_turn_from_z(const Vec3& direction);

// A line between two points, as a frame in its middle with z along it.
struct Segment {
  Pose middle;
  double half_length = 0;
};
std::optional<Segment> read_from_to(const Attributes& attributes);

}  // namespace lithe::internal::mjcf
