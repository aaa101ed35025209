#pragma once

#include "lithe/step/gradients/column_writer.h"

namespace lithe::internal {

// Parameters of single rows: their targets, bounds, compliance and, for mimic joints, their coefficients.

// Combined materials (combined_material.h): 2μ_aμ_b/(μ_a + μ_b) moves with both; the larger restitution counts, and where both
// are equal each gets half. A pair without friction, or a joint without dry friction, has no rows to rub with: its derivative is
// taken as zero.
void write_friction(ColumnWriter& writer, ShapeIndex shape);
void write_restitution(ColumnWriter& writer, ShapeIndex shape);

void write_limit(ColumnWriter& writer, JointIndex joint, bool upper);
void write_dry_friction(ColumnWriter& writer, JointIndex joint);
void write_effort_limit(ColumnWriter& writer, JointIndex joint);
void write_velocity_limit(ColumnWriter& writer, JointIndex joint);

void write_motor_stiffness(ColumnWriter& writer, MotorIndex motor);
void write_motor_damping(ColumnWriter& writer, MotorIndex motor);
void write_max_effort(ColumnWriter& writer, MotorIndex motor);
void write_motor_target(ColumnWriter& writer, MotorIndex motor);

void write_mimic_multiplier(ColumnWriter& writer, MimicIndex mimic);
void write_mimic_offset(ColumnWriter& writer, MimicIndex mimic);

// The rows' part of the time step: targets that ask for an error to go within Δt, motors' laws, bounds Δt·effort.
void write_time_step_of_rows(ColumnWriter& writer);

}  // namespace lithe::internal
