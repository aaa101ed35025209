#include "tests/support/random_model.h"

#include <Eigen/Geometry>
#include <Eigen/SVD>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lithe/core/check.h"
#include "lithe/model/configuration.h"
#include "lithe/model/model_builder.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/constants.h"
#include "tests/support/plain_dynamics.h"

namespace lithe::test {

namespace {

int dof_count(const JointList& joints) {
  int count = 0;
  for (const Joint& joint : joints) count += joint.nv();
  return count;
}

// A second axis well away from the first.
Vec3 crossing_axis(std::mt19937_64& random, const Vec3& first) {
  Vec3 axis;
  do {
    axis = random_axis(random);
  } while (axis.cross(first).norm() < 0.4);
  return axis;
}

Joint random_primitive(std::mt19937_64& random, const std::string& name, bool balls) {
  const Pose placement = random_pose(random);
  switch (uniform_int(random, 0, balls ? 3 : 2)) {
    case 0: return prismatic(name, random_axis(random), placement);
    case 1: return revolute(name, random_axis(random), placement);
    case 2: return screw(name, random_axis(random), uniform(random, -0.5, 0.5), placement);
    default: return ball(name, placement);
  }
}

// A list nobody has a name for. (A second ball would make the mass matrix singular.)
JointList random_stack(std::mt19937_64& random, const std::string& name, bool balls) {
  JointList list;
  const int count = uniform_int(random, 2, 4);
  for (int i = 0; i < count; ++i) {
    list.push_back(random_primitive(random, name + "." + std::to_string(i), balls));
    if (list.back().type == JointType::ball) balls = false;
  }
  return list;
}

JointList random_joints(std::mt19937_64& random, const std::string& name, bool balls) {
  const Pose placement = random_pose(random);
  const Vec3 axis = random_axis(random);
  const Vec3 second = crossing_axis(random, axis);
  switch (uniform_int(random, 0, balls ? 12 : 10)) {
    case 0: return prismatic(name, axis, placement);
    case 1:
    case 2: return revolute(name, axis, placement);
    case 3: return screw(name, axis, uniform(random, -0.5, 0.5), placement);
    case 4: return planar(name, placement);
    case 5: return universal(name, axis, second, placement);
    case 6: return euler(name, axis, second, chance(random, 0.5) ? axis : crossing_axis(random, second), placement);
    case 7: return translational(name, placement);
    case 8: return cylindrical(name, axis, placement);
    case 9: return weld();
    case 10: return random_stack(random, name, balls);
    case 11: return ball(name, placement);
    default: return free_joint(name, placement);
  }
}

// The smallest singular value of the axes of the body's joints, taken at the body so that distances do not count.
double independence(const Model& model, const Body& body, const VecX& q) {
  if (body.joints.size() < 2) return 1;
  const PlainKinematics kin = plain_kinematics(model, q);
  const int first = model.joints()[body.joints.front()].v_index;
  const Joint& last = model.joints()[body.joints.back()];
  const Pose& X_WB = kin.X_WB[last.body];
  const Mat6X axes = adjoint(Pose::translation(-X_WB.p)) * kin.S.middleCols(first, last.v_index + last.nv() - first);
  if (axes.cols() > 6) return 0;
  return Eigen::JacobiSVD<MatX>(axes).singularValues().minCoeff();
}

// A joint list that is independent almost everywhere, not only in lucky configurations.
bool is_sound(const Body& body, const JointList& joints, std::mt19937_64& random) {
  const Model alone = ModelBuilder().add_body("world", body, joints).build();
  if (joints.size() < 2) return true;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    best = std::max(best, independence(alone, alone.bodies()[1], random_configuration(alone, random)));
  }
  return best > 0.2;
}

// Off by this much from something special.
double random_offset(std::mt19937_64& random) { return pick(random, std::array{0.0, 1e-12, -1e-8, 1e-4}); }

// Close to a multiple of π/2, or anywhere, or far out.
double random_angle(std::mt19937_64& random, double largest) {
  const double kind = uniform(random, 0, 1);
  if (kind < 0.5) return uniform(random, -kPi, kPi);
  if (kind < 0.6) return uniform(random, -largest, largest);
  return uniform_int(random, -4, 4) * (kPi / 2) + random_offset(random);
}

// Rotation by 2π is the quaternion −1: both signs occur.
double random_ball_angle(std::mt19937_64& random) {
  if (chance(random, 0.5)) return uniform(random, 0, 2 * kPi);
  return pick(random, std::array{0.0, kPi, 2 * kPi}) + random_offset(random);
}

void draw_position(const Joint& joint, std::mt19937_64& random, double largest, VecX& q) {
  if (joint.type == JointType::prismatic) {
    q[joint.q_index] = chance(random, 0.1) ? 0 : uniform(random, -1, 1);
  } else if (joint.type == JointType::ball) {
    const Vec3 axis = random_axis(random);
    q.segment<4>(joint.q_index) = quaternion_exp(random_ball_angle(random) * axis);
  } else {
    q[joint.q_index] = random_angle(random, largest);
  }
}

}  // namespace

double uniform(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

double log_uniform(std::mt19937_64& random, double low, double high) {
  return std::exp(uniform(random, std::log(low), std::log(high)));
}

int uniform_int(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

bool chance(std::mt19937_64& random, double probability) { return uniform(random, 0, 1) < probability; }

VecX random_vector(std::mt19937_64& random, int size, double scale) {
  std::normal_distribution<double> normal;  // of width one: none of width zero is allowed, but a scale of zero is
  return VecX::NullaryExpr(size, [&] { return scale * normal(random); });
}

Vec3 random_vec3(std::mt19937_64& random, double scale) { return random_vector(random, 3, scale); }

Vec3 random_axis(std::mt19937_64& random) {
  if (chance(random, 0.4)) return (chance(random, 0.5) ? 1 : -1) * Vec3::Unit(uniform_int(random, 0, 2));
  Vec3 axis;
  do {
    axis = random_vec3(random);
  } while (axis.norm() < 1e-3);
  return axis.normalized();
}

Mat3 random_rotation(std::mt19937_64& random) { return rotation_exp(uniform(random, -kPi, kPi) * random_axis(random)); }

Mat3 any_rotation(std::mt19937_64& random) {
  return rotation_from_quaternion(Vec4(random_vector(random, 4)));  // of a Gaussian: uniform
}

Pose random_pose(std::mt19937_64& random) {
  const double kind = uniform(random, 0, 1);
  if (kind < 0.2) return {};
  if (kind < 0.4) return Pose::translation(random_vec3(random, 0.3));
  return {random_rotation(random), random_vec3(random, 0.3)};
}

SpatialInertia random_inertia(std::mt19937_64& random) {
  // Any positive second-moment matrix Σ belongs to some body; its inertia is tr(Σ)·1 − Σ.
  const double mass = std::exp(uniform(random, std::log(0.1), std::log(10.0)));
  const Mat3 A = random_vector(random, 9, 0.15).reshaped(3, 3);
  const Mat3 second_moment = mass * (A * A.transpose() + 0.01 * Mat3::Identity());
  return SpatialInertia::from_centre(mass, random_vec3(random, 0.2),
                                     second_moment.trace() * Mat3::Identity() - second_moment);
}

ModelBuilder builder_of(const Model& model) {
  ModelBuilder builder;
  builder.set_gravity(model.gravity());
  for (const Body& body : model.bodies()) {
    if (!body.parent.valid()) continue;
    JointList joints;
    for (const JointIndex j : body.joints) joints.push_back(model.joints()[j]);
    builder.add_body(model.bodies()[body.parent].name, body, joints);
  }
  for (const Frame& frame : model.frames()) builder.add_frame(model.bodies()[frame.body].name, frame);
  return builder;
}

Model random_model(std::mt19937_64& random, const RandomModelOptions& options) {
  ModelBuilder builder;
  if (chance(random, 0.5)) builder.set_gravity(random_vec3(random, 9.81));
  const double log_dofs = uniform(random, std::log(options.min_dofs), std::log(options.max_dofs + 1));
  const int wanted = std::clamp(static_cast<int>(std::exp(log_dofs)), options.min_dofs, options.max_dofs);

  std::vector<std::string> names = {"world"};
  for (int dofs = 0; dofs < wanted;) {
    const std::string number = std::to_string(names.size());
    Body body{.name = "body" + number, .inertia = random_inertia(random)};
    if (chance(random, 0.4)) body.placement = random_pose(random);

    JointList joints = random_joints(random, "joint" + number, options.balls);
    const bool fits = dofs + dof_count(joints) <= wanted;
    if (!fits || !is_sound(body, joints, random)) continue;
    for (Joint& joint : joints) {
      if (chance(random, options.armature)) joint.armature = uniform(random, 0, 0.5);
    }
    // What is welded needs no mass of its own.
    if (joints.empty() && chance(random, 0.3)) body.inertia = {};

    std::string parent = names.back();
    if (chance(random, options.branch)) parent = names[uniform_int(random, 0, static_cast<int>(names.size()) - 1)];
    if (chance(random, options.new_root)) parent = "world";
    dofs += dof_count(joints);
    names.push_back(body.name);
    builder.add_body(parent, body, joints);
  }
  return builder.build();
}

RandomState random_state(const Model& model, std::mt19937_64& random, const RandomStateOptions& options) {
  RandomState state;
  state.q = neutral_configuration(model);
  for (const Body& body : model.bodies()) {
    int attempts = 0;
    do {
      LITHE_CHECK(++attempts < 1000, "no good configuration found for the joints of body '{}'", body.name);
      for (const JointIndex j : body.joints) draw_position(model.joints()[j], random, options.largest_angle, state.q);
    } while (independence(model, body, state.q) < options.independence);
  }
  state.v = random_vector(random, model.nv());
  state.a = random_vector(random, model.nv());
  state.tau = random_vector(random, model.nv(), 5);
  return state;
}

ExternalWrenches random_wrenches(const Model& model, std::mt19937_64& random) {
  ExternalWrenches wrenches;
  const int last_body = static_cast<int>(model.bodies().size()) - 1;
  const int count = last_body < 1 ? 0 : uniform_int(random, 0, 3);
  for (int i = 0; i < count; ++i) {
    wrenches.push_back({BodyIndex(uniform_int(random, 1, last_body)), random_vector(random, 6, 3)});
  }
  return wrenches;
}

}  // namespace lithe::test
