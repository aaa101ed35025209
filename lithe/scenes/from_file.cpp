#include "lithe/scenes/from_file.h"

#include <algorithm>
#include <limits>

#include "lithe/model/configuration.h"
#include "lithe/scenes/solids.h"

namespace lithe {

namespace {

// The part of `pose`'s motion that one joint adds.
Pose joint_motion(const Joint& joint, const VecX& q) {
  switch (joint.type) {
    case JointType::revolute: return Pose::rotation(rotation_about(joint.axis, q[joint.q_index]));
    case JointType::prismatic: return Pose::translation(q[joint.q_index] * joint.axis);
    case JointType::screw:
      return {rotation_about(joint.axis, q[joint.q_index]), joint.pitch * q[joint.q_index] * joint.axis};
    case JointType::ball: return Pose::rotation(rotation_from_quaternion(q.segment<4>(joint.q_index)));
  }
  return {};
}

std::vector<Pose> poses_of(const Model& model, const VecX& q) {
  std::vector<Pose> poses(model.bodies().size());
  for (std::size_t i = 1; i < poses.size(); ++i) {
    const Body& body = model.bodies()[i];
    Pose pose = poses[body.parent];
    for (const JointIndex j : body.joints)
      pose = pose * model.joints()[j].placement * joint_motion(model.joints()[j], q);
    poses[i] = pose * body.placement;
  }
  return poses;
}

bool moves(const Model& model, BodyIndex body) {
  for (; body != Model::world(); body = model.bodies()[body].parent) {
    if (!model.bodies()[body].joints.empty()) return true;
  }
  return false;
}

// The lowest height of a shape whose frame is X_WG.
double lowest_point(const Geometry& geometry, const Pose& X_WG) {
  const Vec3 down = X_WG.R.row(2).transpose();  // −(world's down) in G, so that heights are dot products
  const double z = X_WG.p.z();
  const double across = std::sqrt(std::max(0.0, 1 - down.z() * down.z()));
  if (const auto* sphere = std::get_if<Sphere>(&geometry)) return z - sphere->radius;
  if (const auto* capsule = std::get_if<Capsule>(&geometry)) {
    return z - capsule->half_length * std::abs(down.z()) - capsule->radius;
  }
  if (const auto* box = std::get_if<Box>(&geometry)) return z - box->half_size.dot(down.cwiseAbs());
  if (const auto* cylinder = std::get_if<Cylinder>(&geometry)) {
    return z - cylinder->half_length * std::abs(down.z()) - cylinder->radius * across;
  }
  double lowest = std::numeric_limits<double>::infinity();
  if (const auto* mesh = std::get_if<ConvexMesh>(&geometry)) {
    for (const Vec3& point : mesh->points) lowest = std::min(lowest, z + down.dot(point));
  }
  return lowest;
}

}  // namespace

Scene scene_from(const LoadedModel& loaded) {
  return {.model = loaded.model,
          .q = loaded.q,
          .v = loaded.v,
          .time_step = loaded.time_step,
          .motor_targets = loaded.motor_targets};
}

Scene scene_on_ground(const LoadedModel& loaded) {
  Scene scene = scene_from(loaded);
  const std::vector<Pose> poses = poses_of(loaded.model, loaded.q);
  double lowest = std::numeric_limits<double>::infinity();
  for (const Shape& shape : loaded.model.shapes()) {
    if (!moves(loaded.model, shape.body)) return scene;
    lowest = std::min(lowest, lowest_point(shape.geometry, poses[shape.body] * shape.placement));
  }
  if (lowest == std::numeric_limits<double>::infinity()) return scene;
  ModelBuilder builder = loaded.builder;
  add_ground(builder, {}, Pose::translation(0, 0, lowest));
  scene.model = builder.build();
  return scene;
}

}  // namespace lithe
