#pragma once

#include "lithe/core/eigen.h"
#include "lithe/spatial/rotation.h"

namespace lithe::test {

// Attitudes to put shapes into by hand.
inline Mat3 turn_x(double angle) { return rotation_about(Vec3::UnitX(), angle); }
inline Mat3 turn_y(double angle) { return rotation_about(Vec3::UnitY(), angle); }
inline Mat3 turn_z(double angle) { return rotation_about(Vec3::UnitZ(), angle); }
// Takes the z axis, along which capsules and cylinders lie, to x; exactly.
inline Mat3 along_x() { return (Mat3() << 0, 0, 1, 0, 1, 0, -1, 0, 0).finished(); }

}  // namespace lithe::test
