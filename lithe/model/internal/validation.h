#pragma once

#include <vector>

#include "lithe/model/body.h"
#include "lithe/model/constraint.h"
#include "lithe/model/dof_tree.h"
#include "lithe/model/joint.h"
#include "lithe/model/motor.h"
#include "lithe/model/shape.h"

namespace lithe::internal {

// What a model may consist of. Each function returns a clean copy (axes normalised, rotations made orthonormal
// to rounding) or throws an Error that names the body, joint, shape … and the offending value.

Body validated(Body body);
Joint validated(Joint joint);
Shape validated(Shape shape);
Frame validated(Frame frame);
Motor validated(Motor motor);
LoopClosure validated(LoopClosure loop);
Mimic validated(Mimic mimic);
Vec3 validated_gravity(const Vec3& gravity);

// Refuses joints with nothing to move: the mass matrix would be singular in every configuration. Bodies come
// after their parents.
void check_joints_move_mass(const std::vector<Body>& bodies, const std::vector<Joint>& joints);

// A motor drives one DoF.
void check_motor(const Motor& motor, const std::vector<Joint>& joints);

// A loop's bodies can move relative to each other.
void check_loop(const LoopClosure& loop, const std::vector<Body>& bodies, const DofTree& tree);

// Both joints of a mimic have one DoF, and whom a joint follows, directly or through others, is one joint that
// follows nobody.
void check_mimics(const std::vector<Mimic>& mimics, const std::vector<Joint>& joints);

}  // namespace lithe::internal
