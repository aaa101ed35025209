#pragma once

#include "lithe/step/gradients/column_writer.h"

namespace lithe::internal {

// Parameters that enter through the motion of the links: inertias, where joints and bodies sit, a screw's pitch, gravity.
//
// ID is linear in each body's ten inertial numbers (regressor.h). Everything else here shifts whatever is behind some place,
// without turning it: a *virtual prismatic DoF* that is mounted there, whose column is that of any DoF
// (placement_derivatives.h, constraint_forms.h), with S = [0; shift], and in which all angular parts vanish:
//
//   links behind it   ID changes by I [0; a'],   rows: e += E S − T [0; v'], gap += T S,   pushes: φ += T̂ S
//   links before it   all that, and S ×* F of what it carries
//
// where v' and a' are what the shift adds to the velocities and accelerations of everything behind it.

void write_inertia(ColumnWriter& writer, BodyIndex body, int which);           // of SpatialInertia::parameters()
void write_joint_placement(ColumnWriter& writer, JointIndex joint, int axis);  // axes of the frame before the joint
void write_pitch(ColumnWriter& writer, JointIndex joint);
void write_gravity(ColumnWriter& writer, int axis);

// The body moves relative to its last joint, and with it its shapes and all that is mounted on it.
void write_body_placement(ColumnWriter& writer, BodyIndex body, int axis);

}  // namespace lithe::internal
