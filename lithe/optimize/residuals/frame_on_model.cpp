#include "lithe/optimize/residuals/frame_on_model.h"

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/internal/body_point.h"
#include "lithe/model/parameters.h"

namespace lithe::internal {

namespace {

using Kind = StepParameters::Entry::Kind;

// The axes, in the world, of a joint's frame after its motion, as the dynamics have it: turned so that z is the joint's
// axis.
Mat3 joint_axes(const ResidualPoint& at, JointIndex joint) {
  return joint_rotation(at.kin, at.model.tree().joints[joint].slot);
}

// The axes, in the world, of the frame that a joint's placement is given in: the parent body's for the first joint of a
// body, the previous joint's after its motion for the others. Undoes the turn that joint_axes() has.
Mat3 axes_before(const ResidualPoint& at, JointIndex joint) {
  const Body& body = at.model.bodies()[at.model.joints()[joint].body];
  if (body.joints.front() == joint) return body_pose(at.model, at.kin, body.parent).R;
  const JointIndex previous(joint - 1);  // a body's joints follow one another
  return joint_axes(at, previous) * axis_alignment(at.model.joints()[previous]).transpose();
}

// ∂p_WF by a coordinate of a joint's placement is that axis of the frame before; by a screw's pitch it is q metres
// along the joint's axis.
Vec3 shift_by_joint(const ResidualPoint& at, JointIndex joint, int attribute) {
  if (attribute == joint_parameter::pitch) {
    return at.q[at.model.joints()[joint].q_index] * joint_axes(at, joint).col(2);
  }
  return axes_before(at, joint).col(attribute - joint_parameter::x);
}

// ∂p_WF by a coordinate of a body's placement: the columns of R_WB R_JBᵀ, the axes of the frame J that the placement is
// given in.
Vec3 shift_by_body(const ResidualPoint& at, BodyIndex body, int attribute) {
  const Mat3& own = at.model.bodies()[body].placement.R;
  return body_pose(at.model, at.kin, body).R * own.transpose().col(attribute - body_parameter::x);
}

}  // namespace

FrameOnModel::FrameOnModel(const Model& model, std::string_view name)
    : index_(model.frame(name)),
      name_(name),
      joints_before_(model.joints().size(), false),
      bodies_before_(model.bodies().size(), false) {
  for (BodyIndex body = model.frames()[index_].body; body != Model::world(); body = model.bodies()[body].parent) {
    bodies_before_[body] = true;
    for (const JointIndex joint : model.bodies()[body].joints) joints_before_[joint] = true;
  }
}

void FrameOnModel::check(const Model& model, const Residual& residual) const {
  const bool same = static_cast<std::size_t>(index_) < model.frames().size() && model.frames()[index_].name == name_ &&
                    model.joints().size() == joints_before_.size() && model.bodies().size() == bodies_before_.size();
  LITHE_CHECK(same, "the {} was made for another model: make it with the model of the problem", residual.name());
}

bool FrameOnModel::is_moved_by(const StepParameters::Entry& entry) const {
  switch (entry.kind) {
    case Kind::joint: return entry.attribute <= joint_parameter::pitch && joints_before_[entry.index];
    case Kind::body: return entry.attribute >= body_parameter::x && bodies_before_[entry.index];
    case Kind::frame: return entry.index == index_;
    default: return false;
  }
}

Vec3 FrameOnModel::shift_by(const ResidualPoint& at, const StepParameters::Entry& entry) const {
  if (!is_moved_by(entry)) return Vec3::Zero();
  if (entry.kind == Kind::joint) return shift_by_joint(at, JointIndex(entry.index), entry.attribute);
  if (entry.kind == Kind::body) return shift_by_body(at, BodyIndex(entry.index), entry.attribute);
  return body_pose(at.model, at.kin, at.model.frames()[index_].body).R.col(entry.attribute);
}

}  // namespace lithe::internal
