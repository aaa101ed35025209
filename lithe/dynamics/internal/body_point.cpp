#include "lithe/dynamics/internal/body_point.h"

#include "lithe/core/check.h"
#include "lithe/dynamics/internal/stage_check.h"

namespace lithe::internal {

void check_body(const Model& model, BodyIndex body) {
  LITHE_CHECK(body.valid() && static_cast<std::size_t>(body) < model.bodies().size(),
              "body index {} is out of range: the model has {} bodies, the world included", static_cast<int>(body),
              model.bodies().size());
}

BodyPoint body_point(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B) {
  check_body(model, body);
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  LITHE_CHECK(p_B.allFinite(), "the point ({}, {}, {}) on body '{}' is not finite", p_B.x(), p_B.y(), p_B.z(),
              model.bodies()[body].name);
  const DofTree::BodyPlace& place = model.tree().bodies[body];
  const Vec3 p = place.X_JB * p_B;
  return {place.dof, place.slot, from_eigen(place.slot < 0 ? p : place_in_tree(kin, place.slot, p))};
}

BodyPoint frame_point(const Model& model, const Kinematics& kin, FrameIndex frame) {
  LITHE_CHECK(frame.valid() && static_cast<std::size_t>(frame) < model.frames().size(),
              "frame index {} is out of range: the model has {} frames", static_cast<int>(frame),
              model.frames().size());
  const Frame& f = model.frames()[frame];
  return body_point(model, kin, f.body, f.placement.p);
}

Mat3 joint_rotation(const Kinematics& kin, int slot) {
  const Kinematics::JointFrame& f = kin.frames[slot];
  Mat3 R;
  R << f.x[0], f.y[0], f.z[0], f.x[1], f.y[1], f.z[1], f.x[2], f.y[2], f.z[2];
  return R;
}

}  // namespace lithe::internal
