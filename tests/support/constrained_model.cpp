#include "tests/support/constrained_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace lithe::test {

namespace {

std::string random_body_name(const Model& model, std::mt19937_64& random) {
  return model.bodies()[uniform_int(random, 0, static_cast<int>(model.bodies().size()) - 1)].name;
}

// Near its position, so that limits are often reached, sometimes exceeded.
void resist(Joint& joint, double position, std::mt19937_64& random) {
  if (chance(random, 0.3)) joint.stiffness = uniform(random, 1, 100);
  if (chance(random, 0.3)) joint.damping = uniform(random, 0.1, 5);
  if (chance(random, 0.15)) joint.dry_friction = uniform(random, 0.1, 20);
  if (joint.type == JointType::ball) {
    joint.rest_orientation = quaternion_exp(random_vec3(random));
    return;
  }
  joint.rest = position + uniform(random, -1, 1);
  if (chance(random, 0.25)) joint.lower = position - uniform(random, -0.005, 0.02);
  if (chance(random, 0.25)) joint.upper = std::max(joint.lower, position + uniform(random, -0.005, 0.02));
}

Motor random_motor(std::string name, std::mt19937_64& random) {
  const double effort = chance(random, 0.3) ? Motor::kInfinity : uniform(random, 0.1, 50);
  if (chance(random, 0.5)) {
    return velocity_motor(std::move(name), effort, chance(random, 0.5) ? Motor::kInfinity : uniform(random, 0.1, 10));
  }
  const bool rigid = chance(random, 0.5);
  return position_servo(std::move(name), effort, rigid ? Motor::kInfinity : uniform(random, 1, 1000),
                        rigid ? 0 : uniform(random, 0, 10));
}

// 1-DoF joints in random order.
std::vector<std::string> simple_joints(const Model& model, std::mt19937_64& random) {
  std::vector<std::string> names;
  for (const Joint& joint : model.joints()) {
    if (joint.nv() == 1) names.push_back(joint.name);
  }
  std::shuffle(names.begin(), names.end(), random);
  return names;
}

void add_shapes(const Model& model, std::mt19937_64& random, ModelBuilder& builder) {
  const auto material = [&] {
    return Material{chance(random, 0.2) ? 0.0 : uniform(random, 0.1, 1.5),
                    chance(random, 0.3) ? uniform(random, 0, 1) : 0.0};
  };
  for (const Body& body : model.bodies()) {
    if (!chance(random, 0.6)) continue;
    builder.add_shape(body.name, {.name = body.name,
                                  .geometry = Sphere{uniform(random, 0.1, 0.6)},
                                  .placement = Pose::translation(random_vec3(random, 0.2)),
                                  .material = material()});
  }
  builder.add_shape("world", {.name = "ground",
                              .geometry = Plane{},
                              .placement = {random_rotation(random), random_vec3(random, 0.5)},
                              .material = material()});
}

void add_loops(const Model& model, std::mt19937_64& random, ModelBuilder& builder) {
  for (int i = uniform_int(random, 0, 2); i > 0; --i) {
    const std::string a = random_body_name(model, random);
    const std::string b = random_body_name(model, random);
    const DofTree& tree = model.tree();
    if (tree.bodies[model.body(a)].dof == tree.bodies[model.body(b)].dof) continue;  // nothing moves between them
    builder.add_loop(a, b,
                     {.name = fmt::format("loop{}", i),
                      .kind = chance(random, 0.5) ? LoopClosure::Kind::ball : LoopClosure::Kind::weld,
                      .placement_a = random_pose(random),
                      .placement_b = random_pose(random)});
  }
}

}  // namespace

ConstrainedCase random_constrained_case(std::mt19937_64& random, const ConstrainedModelOptions& options) {
  const Model bare =
      random_model(random, {.min_dofs = options.min_dofs, .max_dofs = options.max_dofs, .new_root = options.new_root});
  const RandomState at = random_state(bare, random, {.largest_angle = 3});

  Model resisting = bare;
  for (std::size_t j = 0; j < bare.joints().size(); ++j) {
    Joint joint = bare.joints()[j];
    resist(joint, at.q[joint.q_index], random);
    resisting.set_joint(JointIndex(static_cast<int>(j)), joint);
  }
  ModelBuilder builder = builder_of(resisting);
  if (options.contacts) add_shapes(bare, random, builder);
  const std::vector<std::string> joints = simple_joints(bare, random);
  for (std::size_t i = 0; i < joints.size() && i < 4; ++i) {
    if (chance(random, 0.5)) builder.add_motor(joints[i], random_motor(fmt::format("motor{}", i), random));
  }
  if (options.loops) {
    if (joints.size() >= 2 && chance(random, 0.4)) {
      builder.add_mimic(joints[0], joints[1],
                        {.name = "mimic", .multiplier = uniform(random, -2, 2), .offset = uniform(random, -1, 1)});
    }
    add_loops(bare, random, builder);
  }

  ConstrainedCase result{builder.build(), {at.q, at.v}, {}, {}};
  result.control.tau = at.tau;
  if (chance(random, 0.8)) {
    result.control.motor_targets = random_vector(random, static_cast<int>(result.model.motors().size()));
  }
  result.control.wrenches = random_wrenches(result.model, random);
  result.options.time_step = uniform(random, 1e-4, 1e-2);
  result.options.correction = uniform(random, 0, 1);
  if (chance(random, 0.3)) result.options.integrator = Integrator::explicit_position;
  return result;
}

}  // namespace lithe::test
