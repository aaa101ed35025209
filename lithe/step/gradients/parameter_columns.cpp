#include "lithe/step/gradients/parameter_columns.h"

#include <algorithm>

#include "lithe/model/parameters.h"
#include "lithe/step/gradients/column_writer.h"
#include "lithe/step/gradients/parameter_geometry.h"
#include "lithe/step/gradients/parameter_motion.h"
#include "lithe/step/gradients/parameter_rows.h"

namespace lithe::internal {

namespace {

// ξ of a joint, which the step computes only where there is a spring.
Vec3 stretch_of(const ColumnWriter& writer, JointIndex index) {
  const DofTree::TreeJoint& joint = writer.tree.joints[index];
  const Joint& properties = writer.model.joints()[index];
  const State& state = writer.record.state;
  if (joint.type != JointType::ball) {
    return {state.q[joint.q_index] + writer.h * state.v[joint.dof] - properties.rest, 0, 0};
  }
  const Vec4 ahead = quaternion_product(state.q.segment<4>(joint.q_index).normalized(),
                                        quaternion_exp(writer.h * state.v.segment<3>(joint.dof)));
  return quaternion_log(quaternion_product(quaternion_conjugate(properties.rest_orientation), ahead));
}

// What acts inside the joint itself: with M̂ = M + diag(Δt d + Δt² k), r holds k(Δt ξ + Δt²(v⁺ − v)), Δt d v⁺ and
// armature·(v⁺ − v).
void write_resistance(ColumnWriter& writer, JointIndex index, int which) {
  const int first = writer.tree.joints[index].dof;
  const int count = writer.tree.joint_end[first] - first;
  const double h = writer.h;
  const Vec3 stretch = stretch_of(writer, index);
  for (int k = 0; k < count; ++k) {
    const int dof = first + k;
    const double change = writer.linearization.main.change[dof];
    double& rho = writer.column.rho[dof];
    switch (which) {
      case joint_parameter::stiffness: rho += h * (stretch[k] + h * change); break;
      case joint_parameter::damping: rho += h * writer.record.next.v[dof]; break;
      case joint_parameter::armature: rho += change; break;
      case joint_parameter::rest: rho -= h * writer.tree.resistance[dof].stiffness; break;
      default: break;
    }
  }
}

// Which of a joint's numbers it is, and who writes its column.
void write_joint(ColumnWriter& writer, JointIndex joint, int which) {
  switch (which) {
    case joint_parameter::x:
    case joint_parameter::y:
    case joint_parameter::z: write_joint_placement(writer, joint, which - joint_parameter::x); break;
    case joint_parameter::pitch: write_pitch(writer, joint); break;
    case joint_parameter::stiffness:
    case joint_parameter::rest:
    case joint_parameter::damping:
    case joint_parameter::armature: write_resistance(writer, joint, which); break;
    case joint_parameter::dry_friction: write_dry_friction(writer, joint); break;
    case joint_parameter::lower: write_limit(writer, joint, false); break;
    case joint_parameter::upper: write_limit(writer, joint, true); break;
    case joint_parameter::effort_limit: write_effort_limit(writer, joint); break;
    case joint_parameter::velocity_limit: write_velocity_limit(writer, joint); break;
  }
}

// The ten inertial numbers come first, then the place.
void write_body(ColumnWriter& writer, BodyIndex body, int which) {
  if (which < body_parameter::x) {
    write_inertia(writer, body, which);
  } else {
    write_body_placement(writer, body, which - body_parameter::x);
  }
}

void write_shape(ColumnWriter& writer, ShapeIndex shape, int which) {
  switch (which) {
    case shape_parameter::friction: write_friction(writer, shape); break;
    case shape_parameter::restitution: write_restitution(writer, shape); break;
    case shape_parameter::margin: break;  // says which contacts there are, not what they do
    case shape_parameter::radius:
    case shape_parameter::half_length: write_shape_size(writer, shape, which - shape_parameter::radius); break;
    case shape_parameter::half_x:
    case shape_parameter::half_y:
    case shape_parameter::half_z: write_shape_size(writer, shape, which - shape_parameter::half_x); break;
    case shape_parameter::x:
    case shape_parameter::y:
    case shape_parameter::z: write_shape_placement(writer, shape, which - shape_parameter::x); break;
  }
}

void write_motor(ColumnWriter& writer, MotorIndex motor, int which) {
  switch (which) {
    case motor_parameter::stiffness: write_motor_stiffness(writer, motor); break;
    case motor_parameter::damping: write_motor_damping(writer, motor); break;
    case motor_parameter::max_effort: write_max_effort(writer, motor); break;
  }
}

void write_mimic(ColumnWriter& writer, MimicIndex mimic, int which) {
  switch (which) {
    case mimic_parameter::multiplier: write_mimic_multiplier(writer, mimic); break;
    case mimic_parameter::offset: write_mimic_offset(writer, mimic); break;
  }
}

// r = M(v⁺ − v) − Δt(τ − h − d v − k ξ) + (Δt d + Δt² k)(v⁺ − v) − Jᵀf; ξ moves by v (a ball: by J_r⁻¹(ξ) ω).
void write_time_step(ColumnWriter& writer) {
  const StepRecord& record = writer.record;
  const double h = writer.h;
  for (int i = 0; i < writer.tree.nv; ++i) {
    const DofTree::Resistance& resistance = writer.tree.resistance[i];
    writer.column.rho[i] += (resistance.damping + 2 * h * resistance.stiffness) * writer.linearization.main.change[i];
  }
  writer.column.rho -= writer.stages.smooth_impulse / h;
  for (const int j : writer.tree.sprung_joints) {
    const DofTree::TreeJoint& joint = writer.tree.joints[j];
    const double factor = h * writer.tree.resistance[joint.dof].stiffness;
    if (joint.type == JointType::ball) {
      writer.column.rho.segment<3>(joint.dof) +=
          factor * right_jacobian_inverse(writer.stages.spring_stretch.segment<3>(joint.dof)) *
          record.state.v.segment<3>(joint.dof);
    } else {
      writer.column.rho[joint.dof] += factor * record.state.v[joint.dof];
    }
  }
  write_time_step_of_rows(writer);
  // J_r(Δt ω) ω = ω: balls too.
  const bool explicit_position = record.options.integrator == Integrator::explicit_position;
  writer.column.dq = explicit_position ? record.state.v : record.next.v;
}

}  // namespace

bool moves_surfaces(const StepParameters::Entry& entry) {
  using Kind = StepParameters::Entry::Kind;
  switch (entry.kind) {
    case Kind::body: return entry.attribute >= body_parameter::x;
    case Kind::joint: return entry.attribute <= joint_parameter::pitch;
    case Kind::shape: return entry.attribute >= shape_parameter::radius;
    case Kind::frame:
    case Kind::motor:
    case Kind::loop:
    case Kind::mimic:
    case Kind::gravity:
    case Kind::time_step:
    case Kind::motor_target: break;
  }
  return false;
}

void ParameterColumns::start(const Model& model, const StepRecord& record, const StepLinearization&) {
  const std::size_t rows = record.f.size() + kLanes;
  for (AlignedBuffer* buffer : {&column_.e, &column_.e2, &column_.df, &column_.gap}) {
    if (buffer->size() < rows) buffer->resize(rows);
  }
  for (VecX* vector : {&column_.rho, &column_.dq}) vector->resize(model.nv());
}

const ParameterColumn& ParameterColumns::column(const Model& model, const StepRecord& record,
                                                const StepLinearization& linearization,
                                                const StepParameters::Entry& entry) {
  const auto rows = static_cast<std::ptrdiff_t>(record.f.size() + kLanes);
  for (AlignedBuffer* buffer : {&column_.e, &column_.e2, &column_.df, &column_.gap}) {
    std::fill_n(buffer->begin(), rows, 0.0);
  }
  for (VecX* vector : {&column_.rho, &column_.dq}) vector->setZero();

  ColumnWriter writer{model, record, linearization, column_};
  using Kind = StepParameters::Entry::Kind;
  switch (entry.kind) {
    case Kind::body: write_body(writer, BodyIndex(entry.index), entry.attribute); break;
    case Kind::joint: write_joint(writer, JointIndex(entry.index), entry.attribute); break;
    case Kind::shape: write_shape(writer, ShapeIndex(entry.index), entry.attribute); break;
    case Kind::frame: break;
    case Kind::motor: write_motor(writer, MotorIndex(entry.index), entry.attribute); break;
    case Kind::loop: {
      const bool second = entry.attribute >= loop_parameter::bx;
      write_loop_placement(writer, LoopIndex(entry.index), second, entry.attribute % 3);
      break;
    }
    case Kind::mimic: write_mimic(writer, MimicIndex(entry.index), entry.attribute); break;
    case Kind::gravity: write_gravity(writer, entry.attribute); break;
    case Kind::time_step: write_time_step(writer); break;
    case Kind::motor_target: write_motor_target(writer, MotorIndex(entry.index)); break;
  }
  return column_;
}

}  // namespace lithe::internal
