#include "lithe/dynamics/body_motion.h"

#include "lithe/core/check.h"
#include "lithe/dynamics/internal/body_point.h"
#include "lithe/dynamics/internal/stage_check.h"

namespace lithe {

using namespace internal;

namespace {

Vec3 position(const Model& model, const Kinematics& kin, const BodyPoint& point) {
  const Vec3 p = to_eigen(point.p);
  return point.dof < 0 ? p : Vec3(tree_origin(model, kin, point.dof) + p);
}

// [ω̇; p̈]. The spatial acceleration is that of the points which pass through the origin; a point that rides along
// at p feels in addition the turning of its own velocity, ω × ṗ (Featherstone 2008, §2.11).
Motion<double> acceleration_at(const Model& model, const Kinematics& kin, const InverseDynamics& id,
                               const BodyPoint& point) {
  check_stage(model, id.layout, "InverseDynamics", "rnea()");
  if (point.slot < 0) return {};
  Motion<double> A = moved_to(motion_at(id.A, point.slot), point.p);
  A.v = A.v + from_eigen(model.gravity());
  const Motion<double> V = velocity_at(kin, point);
  return {A.w, A.v + cross(V.w, V.v)};
}

void check_dof(const Model& model, int dof) {
  LITHE_CHECK(0 <= dof && dof < model.nv(), "DoF {} is out of range: the model has nv = {}", dof, model.nv());
}

}  // namespace

Pose body_pose(const Model& model, const Kinematics& kin, BodyIndex body) {
  const Vec3 p = position(model, kin, body_point(model, kin, body));
  const DofTree::BodyPlace& place = model.tree().bodies[body];
  return {place.slot < 0 ? place.X_JB.R : Mat3(joint_rotation(kin, place.slot) * place.X_JB.R), p};
}

void body_poses(const Model& model, const Kinematics& kin, std::vector<Pose>& X_WB) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  const std::vector<DofTree::BodyPlace>& places = model.tree().bodies;
  X_WB.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const DofTree::BodyPlace& place = places[i];
    if (place.slot < 0) {
      X_WB[i] = place.X_JB;
    } else {
      X_WB[i].R.noalias() = joint_rotation(kin, place.slot) * place.X_JB.R;
      X_WB[i].p = tree_origin(model, kin, place.dof) + place_in_tree(kin, place.slot, place.X_JB.p);
    }
  }
}

Pose frame_pose(const Model& model, const Kinematics& kin, FrameIndex frame) {
  const Vec3 p = position(model, kin, frame_point(model, kin, frame));
  const Frame& f = model.frames()[frame];
  return {body_pose(model, kin, f.body).R * f.placement.R, p};
}

Vec3 point_position(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B) {
  return position(model, kin, body_point(model, kin, body, p_B));
}

Vec6 body_velocity(const Model& model, const Kinematics& kin, BodyIndex body) {
  return to_eigen(velocity_at(kin, body_point(model, kin, body)));
}

Vec6 frame_velocity(const Model& model, const Kinematics& kin, FrameIndex frame) {
  return to_eigen(velocity_at(kin, frame_point(model, kin, frame)));
}

Vec3 point_velocity(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B) {
  return to_eigen(velocity_at(kin, body_point(model, kin, body, p_B)).v);
}

Vec6 body_acceleration(const Model& model, const Kinematics& kin, const InverseDynamics& id, BodyIndex body) {
  return to_eigen(acceleration_at(model, kin, id, body_point(model, kin, body)));
}

Vec6 frame_acceleration(const Model& model, const Kinematics& kin, const InverseDynamics& id, FrameIndex frame) {
  return to_eigen(acceleration_at(model, kin, id, frame_point(model, kin, frame)));
}

Vec3 point_acceleration(const Model& model, const Kinematics& kin, const InverseDynamics& id, BodyIndex body,
                        const Vec3& p_B) {
  return to_eigen(acceleration_at(model, kin, id, body_point(model, kin, body, p_B)).v);
}

Vec6 dof_axis(const Model& model, const Kinematics& kin, int dof) {
  check_dof(model, dof);
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  return to_eigen(motion_at(kin.S, model.tree().slot[dof]));
}

Vec3 tree_origin(const Model& model, const Kinematics& kin, int dof) {
  check_dof(model, dof);
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  const DofTree& tree = model.tree();
  return kin.origin[tree.joints[tree.joint_of[dof]].tree];
}

}  // namespace lithe
