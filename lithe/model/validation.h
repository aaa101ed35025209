#pragma once

#include <vector>

#include "lithe/model/body.h"
#include "lithe/model/joint.h"
#include "lithe/model/shape.h"

namespace lithe {

// What a model may consist of. Each function returns a clean copy (axes normalised, rotations made orthonormal
// to rounding) or throws an Error that names the body, joint or shape and the offending value.

Body validated(Body body);
Joint validated(Joint joint);
Shape validated(Shape shape);
Frame validated(Frame frame);
Vec3 validated_gravity(const Vec3& gravity);

// Refuses joints with nothing to move: the mass matrix would be singular in every configuration. Bodies come
// after their parents.
void check_joints_move_mass(const std::vector<Body>& bodies, const std::vector<Joint>& joints);

}  // namespace lithe
