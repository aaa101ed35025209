#include "tests/support/step_worlds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lithe/dynamics/body_motion.h"
#include "lithe/scenes/solids/solids.h"

namespace lithe::test {

namespace {

Kinematics kinematics_of(const World& world) {
  Kinematics kin;
  kinematics(world.model(), world.state().q, world.state().v, kin);
  return kin;
}

const Joint& joint_named(const World& world, std::string_view name) {
  return world.model().joints()[world.model().joint(name)];
}

}  // namespace

World world_of(const Scene& scene) {
  World world(scene.model);
  world.options.time_step = scene.time_step;
  world.set_state(scene.q, scene.v);
  return world;
}

World world_of(const ModelBuilder& builder, double time_step) {
  World world(builder.build());
  world.options.time_step = time_step;
  return world;
}

Site at_the_origin() { return {"at the origin"}; }
Site in_a_tilted_world() { return {"in a tilted world", Pose::rotation(rotation_exp({0.9, -0.4, 0.7}))}; }
Site a_kilometre_away() { return {"a kilometre away", Pose::translation(800, -500, 300)}; }

ModelBuilder ground_at(const Site& site, const Material& material, Ground ground) {
  ModelBuilder builder;
  builder.set_gravity(site.place.R * Vec3(0, 0, -kGravity));
  if (ground == Ground::plane) {
    add_ground(builder, material, site.place);
  } else {
    builder.add_shape("world", {.name = "ground",
                                .geometry = Box{{1, 1, 0.25}},
                                .placement = site.place * Pose::translation(0, 0, -0.25),
                                .material = material});
  }
  return builder;
}

RunReport run(World& world, double seconds, const Control& control) {
  RunReport report;
  report.steps = static_cast<int>(std::lround(seconds / world.options.time_step));
  int unsolved = 0;
  for (int i = 0; i < report.steps; ++i) {
    const double time = world.time();
    const StepStatus& status = world.step(control);
    report.guessed += status.guessed;
    report.islands += status.guessed + status.active_set + status.path + status.other;
    for (const Contact& contact : world.record().contacts.contacts) {
      report.deepest = std::max(report.deepest, -contact.gap);
    }
    if (status.solved()) continue;
    if (unsolved == 0) {
      ADD_FAILURE() << "the step at " << time << " s was not solved: " << status.unsolved << " of " << status.islands
                    << " islands, " << status.rows << " rows, residual " << status.residual << ", diverged "
                    << status.diverged;
    }
    ++unsolved;
  }
  EXPECT_EQ(unsolved, 0) << "of " << report.steps << " steps";
  return report;
}

StepOptions with_time_step(double h) {
  StepOptions options;
  options.time_step = h;
  return options;
}

Control with_targets(const VecX& targets) {
  Control control;
  control.motor_targets = targets;
  return control;
}

Pose pose_of(const World& world, std::string_view body) {
  return body_pose(world.model(), kinematics_of(world), world.model().body(body));
}

Vec3 centre_velocity_of(const World& world, std::string_view body) {
  const BodyIndex index = world.model().body(body);
  const Vec3 centre = world.model().bodies()[index].inertia.centre();
  return point_velocity(world.model(), kinematics_of(world), index, centre);
}

Vec6 velocity_of(const World& world, std::string_view body) {
  return body_velocity(world.model(), kinematics_of(world), world.model().body(body));
}

double q_of(const World& world, std::string_view joint) { return world.state().q[joint_named(world, joint).q_index]; }
double v_of(const World& world, std::string_view joint) { return world.state().v[joint_named(world, joint).v_index]; }

void set_joint_state(World& world, std::string_view name, double q, double v) {
  const Joint& joint = joint_named(world, name);
  State state = world.state();
  state.q[joint.q_index] = q;
  state.v[joint.v_index] = v;
  world.set_state(state.q, state.v);
}

void set_free_velocity(World& world, const std::string& body, const Vec3& velocity, const Vec3& spin) {
  VecX v = world.state().v;
  v.segment<3>(joint_named(world, body + ".x").v_index) = velocity;
  const Joint& ball = joint_named(world, body + ".ball");
  // A ball's velocity is in the axes of the body.
  const Mat3 R = rotation_from_quaternion(world.state().q.segment<4>(ball.q_index));
  v.segment<3>(ball.v_index) = R.transpose() * spin;
  world.set_state(world.state().q, v);
}

Vec3 contact_force_on(const World& world, std::string_view body) {
  const BodyIndex index = world.model().body(body);
  Vec3 impulse = Vec3::Zero();
  for (const World::ContactImpulse& contact : world.contacts()) {
    if (world.model().shapes()[contact.a].body == index) impulse += contact.impulse;
    if (world.model().shapes()[contact.b].body == index) impulse -= contact.impulse;
  }
  return impulse / world.options.time_step;
}

double energy_of(const World& world) { return world.kinetic_energy() + world.potential_energy(); }
double fastest(const World& world) { return world.state().v.cwiseAbs().maxCoeff(); }

}  // namespace lithe::test
