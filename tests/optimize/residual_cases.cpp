#include "tests/optimize/residual_cases.h"

#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "tests/support/constants.h"
#include "tests/support/random_model.h"

namespace lithe::test {

namespace {

constexpr int kControls = 3;

Model dressed(const Model& model, std::mt19937_64& random) {
  ModelBuilder builder = builder_of(model);
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}});
  for (const Body& body : model.bodies()) {
    builder.add_frame(body.name, {.name = body.name, .placement = random_pose(random)});
    if (body.parent.valid()) builder.add_shape(body.name, {.name = body.name, .geometry = Sphere{0.2}});
  }
  return builder.build();
}

// A turn by at most 2.5 rad.
Vec3 random_turn(std::mt19937_64& random) { return uniform(random, 0, 2.5) * random_axis(random); }

// How far the target is from q.
VecX random_offset(const Model& model, std::mt19937_64& random) {
  VecX offset = random_vector(random, model.nv());
  for (const int dof : model.tree().balls) offset.segment<3>(dof) = random_turn(random);
  return offset;
}

}  // namespace

ResidualCase::ResidualCase(Model the_model, const VecX& the_q, const VecX& the_v, const VecX& the_u,
                           const VecX& the_u_before)
    : model(std::move(the_model)), q(the_q), v(the_v), u(the_u), u_before(the_u_before) {
  kinematics(model, q, v, kin);
  step(model, {q, v}, {}, {}, record);
}

VecX ResidualCase::value(const Residual& residual, ResidualJacobian* jacobian) const {
  VecX result = VecX::Zero(residual.size(model));
  residual.evaluate(at(), result, jacobian);
  return result;
}

VecX ResidualCase::value_at_q(const Residual& residual, const VecX& other) const {
  Kinematics there;
  kinematics(model, other, v, there);
  VecX result = VecX::Zero(residual.size(model));
  residual.evaluate({model, 3, other, v, u, u_before, there, &record, parameters}, result, nullptr);
  return result;
}

VecX ResidualCase::value_at_v(const Residual& residual, const VecX& other) const {
  Kinematics there;
  kinematics(model, q, other, there);
  VecX result = VecX::Zero(residual.size(model));
  residual.evaluate({model, 3, q, other, u, u_before, there, &record, parameters}, result, nullptr);
  return result;
}

VecX ResidualCase::value_at_parameter(const Residual& residual, const std::string& name, double change) const {
  Model changed = model;
  set_parameter(changed, name, parameter(model, name) + change);
  Kinematics there;
  kinematics(changed, q, v, there);
  VecX result = VecX::Zero(residual.size(changed));
  residual.evaluate({changed, 3, q, v, u, u_before, there, &record, parameters}, result, nullptr);
  return result;
}

ResidualCase random_residual_case(std::mt19937_64& random, int max_dofs) {
  const Model model = dressed(random_model(random, {.max_dofs = max_dofs}), random);
  const RandomState state = random_state(model, random);
  return {model, state.q, state.v, random_vector(random, kControls), random_vector(random, kControls)};
}

std::vector<ResidualPtr> all_residuals(const ResidualCase& c, std::mt19937_64& random) {
  using namespace residuals;
  const Model& model = c.model;
  const int bodies = static_cast<int>(model.bodies().size());
  const auto frame = [&]() -> const std::string& { return model.frames()[uniform_int(random, 0, bodies - 1)].name; };
  std::vector<ResidualPtr> all = {
      configuration(retract(model, c.q, random_offset(model, random))),
      velocity(random_vector(random, model.nv())),
      controls(random_vector(random, kControls)),
      control_change(kControls),
      frame_position(model, frame(), random_vec3(random)),
      frame_height(model, frame(), uniform(random, -1, 1), 3 * random_axis(random)),
      frame_velocity(model, frame(), random_vector(random, 6)),
      centre_of_mass_position(random_vec3(random)),
      centre_of_mass_velocity(random_vec3(random)),
      contact_force(model, model.bodies()[uniform_int(random, 0, bodies - 1)].name, uniform(random, -1, 1)),
  };
  const FrameIndex turned(uniform_int(random, 0, bodies - 1));
  const Mat3 target = rotation_exp(random_turn(random)) * frame_pose(model, c.kin, turned).R;
  all.push_back(frame_orientation(model, model.frames()[turned].name, target));
  // Neither on one body, nor so close that the distance bends sharply.
  for (int a = 1; a < bodies; ++a) {
    const int b = uniform_int(random, 0, a - 1);
    const Vec3 apart = frame_pose(model, c.kin, FrameIndex(a)).p - frame_pose(model, c.kin, FrameIndex(b)).p;
    if (apart.norm() < 0.1) continue;
    all.push_back(frame_distance(model, model.frames()[a].name, model.frames()[b].name, uniform(random, -1, 1)));
    break;
  }
  for (const Joint& joint : model.joints()) {
    if (joint.type == JointType::ball) continue;
    const double target_value = uniform(random, -1, 1);
    all.push_back(joint_position(model, joint.name, target_value));
    all.push_back(joint_velocity(model, joint.name, target_value));
    all.push_back(position_bound(model, joint.name, BoundSide::lower, target_value));
    all.push_back(position_bound(model, joint.name, BoundSide::upper, target_value));
    all.push_back(velocity_bound(model, joint.name, BoundSide::lower, target_value));
    all.push_back(velocity_bound(model, joint.name, BoundSide::upper, target_value));
    break;
  }
  return all;
}

ResidualCase bent_arm() {
  const SpatialInertia kilogram = SpatialInertia::point(1, Vec3::UnitX());
  Model model = ModelBuilder()
                    .add_frame("world", {.name = "base"})
                    .add_frame("world", {.name = "goal", .placement = Pose::translation(2, 0, 0)})
                    .add_body("world", {.name = "upper", .inertia = kilogram}, revolute("shoulder", Vec3::UnitZ()))
                    .add_body("upper", {.name = "lower", .inertia = kilogram},
                              revolute("elbow", Vec3::UnitZ(), Pose::translation(1, 0, 0)))
                    .add_frame("upper", {.name = "upper_end", .placement = Pose::translation(1, 0, 0)})
                    .add_frame("lower", {.name = "hand", .placement = Pose::translation(1, 0, 0)})
                    .build();
  return {model, Eigen::Vector2d(kPi / 2, -kPi / 2), Eigen::Vector2d(1, 2), Eigen::Vector2d(5, -7),
          Eigen::Vector2d(4, 2)};
}

}  // namespace lithe::test
