#include "tests/step/parameter_cases.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"

namespace lithe::test {

namespace {

std::vector<Pose> body_poses_of(const ConstrainedCase& at) {
  Kinematics kin;
  kinematics(at.model, at.state.q, kin);
  std::vector<Pose> X_WB;
  body_poses(at.model, kin, X_WB);
  return X_WB;
}

// How many DoFs move a relative to b.
int dofs_between(const Model& model, int a, int b) {
  const DofTree& tree = model.tree();
  int count = 0;
  for (int i = 0; i < tree.nv; ++i) {
    const auto moves = [&](int body) { return tree.bodies[body].dof >= 0 && tree.moves(i, tree.bodies[body].dof); };
    count += moves(a) != moves(b);
  }
  return count;
}

// Between two bodies that can still move when it is closed, and closed but for a small error.
void add_loop(const ConstrainedCase& at, std::mt19937_64& random, ModelBuilder& builder) {
  const std::vector<Pose> X_WB = body_poses_of(at);
  const std::vector<Body>& bodies = at.model.bodies();
  LoopClosure loop{.name = "loop", .placement_a = random_pose(random)};
  if (chance(random, 0.5)) loop.kind = LoopClosure::Kind::weld;
  const Pose error = {rotation_exp(random_vec3(random, 1e-4)), random_vec3(random, 1e-4)};
  for (int attempt = 0; attempt < 10; ++attempt) {
    const int a = uniform_int(random, 0, static_cast<int>(bodies.size()) - 1);
    const int b = uniform_int(random, 0, static_cast<int>(bodies.size()) - 1);
    if (dofs_between(at.model, a, b) <= (loop.kind == LoopClosure::Kind::weld ? 6 : 3)) continue;
    loop.placement_b = X_WB[b].inverse() * X_WB[a] * loop.placement_a * error;
    builder.add_loop(bodies[a].name, bodies[b].name, loop);
    return;
  }
}

void add_mimic(const ConstrainedCase& at, std::mt19937_64& random, ModelBuilder& builder) {
  std::vector<const Joint*> joints;
  for (const Joint& joint : at.model.joints()) {
    if (joint.nv() == 1) joints.push_back(&joint);
  }
  if (joints.size() < 3) return;
  std::shuffle(joints.begin(), joints.end(), random);
  Mimic mimic{.name = "mimic", .multiplier = uniform(random, -2, 2)};
  const auto q = [&](int k) { return at.state.q[joints[k]->q_index]; };
  mimic.offset = q(0) - mimic.multiplier * q(1) + uniform(random, -1e-4, 1e-4);
  builder.add_mimic(joints[0]->name, joints[1]->name, mimic);
}

// The same case with a loop or a mimic joint.
void close_something(ConstrainedCase& at, std::mt19937_64& random) {
  ModelBuilder builder = builder_of(at.model);
  for (const Shape& shape : at.model.shapes()) builder.add_shape(at.model.bodies()[shape.body].name, shape);
  for (const Motor& motor : at.model.motors()) builder.add_motor(at.model.joints()[motor.joint].name, motor);
  if (chance(random, 0.6)) {
    add_loop(at, random, builder);
  } else {
    add_mimic(at, random, builder);
  }
  at.model = builder.build();
}

void limit_joints(ConstrainedCase& at, std::mt19937_64& random) {
  for (std::size_t j = 0; j < at.model.joints().size(); ++j) {
    Joint joint = at.model.joints()[j];
    if (chance(random, 0.3)) joint.effort_limit = uniform(random, 0.1, 50);
    at.model.set_joint(JointIndex(static_cast<int>(j)), joint);
  }
  // Rigid servos often are strong enough to go as fast as they may.
  for (std::size_t m = 0; m < at.model.motors().size(); ++m) {
    Motor motor = at.model.motors()[m];
    if (motor.target != Motor::Target::position || std::isfinite(motor.stiffness) || chance(random, 0.5)) continue;
    Joint joint = at.model.joints()[motor.joint];
    joint.velocity_limit = uniform(random, 0.5, 5);
    joint.effort_limit = motor.max_effort = Joint::kInfinity;
    at.model.set_joint(motor.joint, joint);
    at.model.set_motor(MotorIndex(static_cast<int>(m)), motor);
  }
}

struct SolidShape {
  Geometry geometry;
  SpatialInertia inertia;
  Mat3 lying;     // takes the shape's frame to axes whose z is up when it lies on the ground
  double height;  // of its origin above the ground then
  double reach;   // half its size along the ground
};

// A brick as a mesh.
ConvexMesh brick(const Vec3& half) {
  ConvexMesh mesh;
  for (int k = 0; k < 8; ++k) {
    mesh.points.push_back(half.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  }
  return mesh;
}

SolidShape random_solid(std::mt19937_64& random) {
  const Mat3 upright = Mat3::Identity();
  const Mat3 on_its_side = rotation_about(Vec3::UnitX(), std::numbers::pi / 2);
  const double r = uniform(random, 0.05, 0.3), l = uniform(random, 0.05, 0.3);
  const Vec3 half(uniform(random, 0.05, 0.3), uniform(random, 0.05, 0.3), uniform(random, 0.05, 0.3));
  const double m = uniform(random, 0.2, 5);
  switch (uniform_int(random, 0, 8)) {
    case 0: return {Sphere{r}, SpatialInertia::sphere(m, r), random_rotation(random), r, r};
    case 1: return {Capsule{r, l}, SpatialInertia::capsule(m, r, 2 * l), on_its_side, r, r};
    case 2: return {Cylinder{r, l}, SpatialInertia::cylinder(m, r, 2 * l), on_its_side, r, r};
    case 3: return {Cylinder{r, l}, SpatialInertia::cylinder(m, r, 2 * l), upright, l, r};
    case 4: return {brick(half), SpatialInertia::box(m, 2 * half), upright, half.z(), half.x()};
    default: return {Box{half}, SpatialInertia::box(m, 2 * half), upright, half.z(), half.x()};
  }
}

struct PlacedSolid {
  std::string name;
  Pose X_WG;  // where its shape should be
  Pose X_BG;  // and where that is in the body that the free joint carries, before it has moved
};

// A body on a free joint that carries the shape, often by way of a welded body. Most have the inertia of the solid that they
// seem to be and rest on a whole face; the others have any, and tip.
PlacedSolid add_solid(ModelBuilder& builder, const std::string& name, const SolidShape& solid, const Pose& X_WG,
                      const Material& material, std::mt19937_64& random) {
  const Pose placement = random_pose(random);
  const bool shod = chance(random, 0.4);
  const SpatialInertia inertia = chance(random, 0.7) ? solid.inertia.in(placement) : random_inertia(random);
  Body body{.name = name, .placement = random_pose(random)};
  if (!shod) body.inertia = inertia;
  builder.add_body("world", body, free_joint(name));
  Pose X_BG = body.placement;
  std::string carrier = name;
  if (shod) {
    const Body shoe{.name = name + "_shoe", .inertia = inertia, .placement = random_pose(random)};
    builder.add_body(name, shoe, weld());
    X_BG = X_BG * shoe.placement;
    carrier = shoe.name;
  }
  builder.add_shape(carrier, {.name = name, .geometry = solid.geometry, .placement = placement, .material = material});
  return {name, X_WG, X_BG * placement};
}

// The slab slides, stands in the world, or is a plane; its top is z = 0.
void add_ground(ModelBuilder& builder, const Material& material, std::mt19937_64& random) {
  const Shape slab{.name = "ground",
                   .geometry = Box{{3, 2.5, 0.5}},
                   .placement = Pose::translation(0.1, 0.2, -0.5),
                   .material = material};
  switch (uniform_int(random, 0, 3)) {
    case 0:
      builder.add_body("world", {.name = "slab", .inertia = SpatialInertia::box(20, {6, 5, 1})},
                       prismatic("rail", random_axis(random)));
      builder.add_shape("slab", slab);
      builder.add_motor("rail", chance(random, 0.5) ? velocity_motor("winch", 1e4, uniform(random, 10, 1e4))
                                                    : position_servo("winch", 1e4, uniform(random, 10, 1e4), 30));
      break;
    case 1: {
      // Where the frame of a fixed body is does not matter.
      const Pose placement = random_pose(random);
      builder.add_body("world", {.name = "floor", .placement = placement}, weld());
      Shape shape = slab;
      shape.placement = placement.inverse() * slab.placement;
      builder.add_shape("floor", shape);
      break;
    }
    case 2: builder.add_shape("world", slab); break;
    default: builder.add_shape("world", {.name = "ground", .geometry = Plane{}, .material = material}); break;
  }
}

// Sets the free joint's part of the state: the pose of the shape and the velocity of its origin and spin, world axes.
void place(const PlacedSolid& solid, const Vec3& velocity, const Vec3& spin, ConstrainedCase& at) {
  const Pose X_WJ = solid.X_WG * solid.X_BG.inverse();
  const Joint& x = at.model.joints()[at.model.joint(solid.name + ".x")];
  const Joint& ball = at.model.joints()[at.model.joint(solid.name + ".ball")];
  at.state.q.segment<3>(x.q_index) = X_WJ.p;
  at.state.q.segment<4>(ball.q_index) = quaternion_from_rotation(X_WJ.R);
  at.state.v.segment<3>(x.v_index) = velocity + spin.cross(X_WJ.p - solid.X_WG.p);
  at.state.v.segment<3>(ball.v_index) = X_WJ.R.transpose() * spin;
}

// Just touching is on the edge between two rules for the target, so: somewhat inside, or about to land.
double random_gap(std::mt19937_64& random) {
  return chance(random, 0.7) ? -uniform(random, 2e-5, 2e-4) : uniform(random, 1.5e-5, 3.5e-5);
}

void set_in_motion(const PlacedSolid& solid, std::mt19937_64& random, ConstrainedCase& at) {
  Vec3 velocity = Vec3::Zero(), spin = Vec3::Zero();
  if (chance(random, 0.6)) velocity = Vec3(uniform(random, -1, 1), uniform(random, -1, 1), 0);
  if (chance(random, 0.6)) spin.z() = uniform(random, -5, 5);
  if (chance(random, 0.3)) velocity.z() = -uniform(random, 0.2, 1);
  place(solid, velocity, spin, at);
}

// Springs and dampers that do not lift anything.
void hold_weakly(Model& model, JointIndex index, std::mt19937_64& random) {
  Joint joint = model.joints()[index];
  if (chance(random, 0.2)) joint.stiffness = uniform(random, 0.1, 1);
  if (chance(random, 0.2)) joint.damping = uniform(random, 0.1, 1);
  if (chance(random, 0.2)) joint.armature = uniform(random, 0.01, 0.1);
  joint.rest_orientation = quaternion_exp(random_vec3(random));
  model.set_joint(index, joint);
}

}  // namespace

ConstrainedCase random_mechanism_case(std::mt19937_64& random) {
  ConstrainedCase at =
      random_constrained_case(random, {.max_dofs = 14, .contacts = chance(random, 0.4), .loops = false});
  if (chance(random, 0.5)) close_something(at, random);
  limit_joints(at, random);
  at.options.max_loop_speed = 1e3;
  if (chance(random, 0.5)) at.options.max_correction_speed = 1e3;
  return at;
}

ConstrainedCase random_solids_case(std::mt19937_64& random) {
  ModelBuilder builder;
  const auto material = [&] {
    return Material{chance(random, 0.1) ? 0.0 : uniform(random, 0.1, 1),
                    chance(random, 0.5) ? uniform(random, 0.1, 0.9) : 0};
  };
  add_ground(builder, material(), random);
  std::vector<PlacedSolid> solids;
  const auto yaw = [&] { return rotation_about(Vec3::UnitZ(), uniform(random, -3, 3)); };
  const SolidShape first = random_solid(random);
  const Vec3 where(uniform(random, -0.5, 0.5), uniform(random, -0.5, 0.5), first.height + random_gap(random));
  solids.push_back(add_solid(builder, "first", first, {yaw() * first.lying, where}, material(), random));
  if (std::holds_alternative<Box>(first.geometry) && chance(random, 0.5)) {
    // On top, and partly over the edge.
    const SolidShape second = random_solid(random);
    const Vec3 beside(uniform(random, 0, 0.8) * first.reach, 0.01, first.height + second.height + random_gap(random));
    solids.push_back(add_solid(builder, "second", second, {yaw() * second.lying, where + beside}, material(), random));
  }
  ConstrainedCase at{builder.build(), {}, {}, {}};
  at.state = {neutral_configuration(at.model), VecX::Zero(at.model.nv())};
  for (std::size_t j = 0; j < at.model.joints().size(); ++j) {
    hold_weakly(at.model, JointIndex(static_cast<int>(j)), random);
  }
  if (!at.model.motors().empty()) {
    at.state.v[at.model.joints()[at.model.joint("rail")].v_index] = uniform(random, -0.2, 0.2);
    at.control.motor_targets = random_vector(random, 1, 0.2);
  }
  for (const PlacedSolid& solid : solids) set_in_motion(solid, random, at);
  at.options.time_step = uniform(random, 1e-3, 1e-2);
  if (chance(random, 0.3)) at.options.integrator = Integrator::explicit_position;
  return at;
}

}  // namespace lithe::test
