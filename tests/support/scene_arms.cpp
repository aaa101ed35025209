#include "tests/support/scene_arms.h"

#include <Eigen/Geometry>

#include <set>
#include <utility>

#include "lithe/collision/collide.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "tests/support/constants.h"

namespace lithe::test {

namespace {

Arm single_body(const Body& body, const JointList& joints) {
  Model model = ModelBuilder().add_body("world", body, joints).build();
  VecX q = neutral_configuration(model);
  return {std::move(model), std::move(q)};
}

// One of the joints of three DoFs, on one body; a random chain of three DoFs is mostly none of them.
JointList compound_joint(std::mt19937_64& random) {
  switch (uniform_int(random, 0, 9)) {
    case 0:
    case 1: return ball("joint1");
    case 2: return planar("joint1");
    case 3: return translational("joint1");
    case 4:
    case 5:
    case 6:
      return {revolute("joint1.turn", Vec3::UnitY()), prismatic("joint1.slide", Vec3::UnitX(), random_pose(random)),
              screw("joint1.screw", Vec3::UnitZ(), 0.2, random_pose(random))};
    default: return euler("joint1", Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ());
  }
}

}  // namespace

double random_sign(std::mt19937_64& random) { return chance(random, 0.5) ? 1 : -1; }

Pose Arm::pose_of(const std::string& body) const {
  Kinematics kin;
  kinematics(model, q, VecX::Zero(model.nv()), kin);
  return body_pose(model, kin, model.body(body));
}

Arm random_arm(std::mt19937_64& random, int dofs) {
  if (dofs == 3 && chance(random, 0.85)) {
    Arm arm = single_body({.name = "body1", .inertia = random_inertia(random)}, compound_joint(random));
    arm.q = retract(arm.model, arm.q, random_vector(random, 3, 0.3));
    return arm;
  }
  while (true) {
    Arm arm{random_model(random, {.min_dofs = dofs, .max_dofs = dofs, .new_root = 0, .branch = 0}), {}};
    if (arm.model.tree().bodies.back().dof != dofs - 1) continue;
    arm.q = random_state(arm.model, random, {.largest_angle = 2}).q;
    // Out of line.
    arm.q = retract(arm.model, arm.q, random_vector(random, dofs, 0.05));
    return arm;
  }
}

Arm lying_body(Mobility mobility, const Mat3& R, const SpatialInertia& inertia) {
  Body body{.name = "body", .inertia = inertia, .placement = Pose::rotation(R)};
  switch (mobility) {
    case Mobility::free: body.placement = {}; return single_body(body, free_joint("body", Pose::rotation(R)));
    case Mobility::planar:
      return single_body(body, {prismatic("body.x", Vec3::UnitX()), prismatic("body.z", Vec3::UnitZ()),
                                revolute("body.pitch", Vec3::UnitY())});
    case Mobility::translational: return single_body(body, translational("body"));
    case Mobility::vertical: break;
  }
  return single_body(body, prismatic("body.z", Vec3::UnitZ()));
}

VecX lying_velocity(Mobility mobility, const Mat3& R, const Vec3& slide, const Vec3& spin) {
  switch (mobility) {
    case Mobility::free: return (VecX(6) << R.transpose() * slide, R.transpose() * spin).finished();
    case Mobility::planar: return Vec3(slide.x(), slide.z(), spin.y());
    case Mobility::translational: return slide;
    case Mobility::vertical: break;
  }
  return VecX::Constant(1, slide.z());
}

Geometry flat_geometry(ShapeType type, std::mt19937_64& random) {
  switch (type) {
    case ShapeType::capsule: return Capsule{uniform(random, 0.05, 0.2), uniform(random, 0.1, 0.3)};
    case ShapeType::cylinder: return Cylinder{uniform(random, 0.1, 0.2), uniform(random, 0.1, 0.3)};
    case ShapeType::mesh: return foot(uniform(random, 0.2, 0.4), uniform(random, 0.1, 0.3));
    default: break;
  }
  return Box{Vec3(uniform(random, 0.1, 0.3), uniform(random, 0.1, 0.3), uniform(random, 0.05, 0.2))};
}

Mat3 lying_down(ShapeType type, std::mt19937_64& random) {
  switch (type) {
    case ShapeType::box:
      return rotation_from_z(random_sign(random) * Vec3::Unit(uniform_int(random, 0, 2))).transpose();
    case ShapeType::capsule: return rotation_about(Vec3::UnitX(), kPi / 2);
    case ShapeType::cylinder:
      return chance(random, 0.5) ? Mat3(Mat3::Identity()) : Mat3(rotation_about(Vec3::UnitX(), kPi / 2));
    default: return Mat3::Identity();
  }
}

ShapePair random_pair(std::mt19937_64& random) {
  const std::vector<ShapePair>& pairs = all_pairs();
  static const std::set<std::string> few = {"box_plane", "box_box", "sphere_plane", "mesh_plane", "sphere_box"};
  static const std::set<std::string> some = {"capsule_plane", "cylinder_plane", "box_mesh", "mesh_mesh"};
  while (true) {
    const ShapePair pair = pairs[uniform_int(random, 0, static_cast<int>(pairs.size()) - 1)];
    const double share = few.contains(to_string(pair)) ? 0.2 : some.contains(to_string(pair)) ? 0.8 : 1.0;
    if (chance(random, share)) return pair;
  }
}

Vec3 move_to_gap(const TestShape& a, Pose& X_WA, const TestShape& b, const Pose& X_WB, double gap) {
  PairScratch scratch;
  const Contact found = distance(a.collider, X_WA, b.collider, X_WB, scratch);
  X_WA.p += (gap - found.gap) * found.n;
  return found.n;
}

Pose place_beside(const TestShape& a, const Pose& X_WA, const TestShape& b, double gap, std::mt19937_64& random,
                  Vec3* normal) {
  Pose X_WB = {any_rotation(random), {}};
  const Vec3 direction = b.collider.type == ShapeType::plane ? Vec3(X_WB.R.col(2)) : random_vec3(random).normalized();
  X_WB.p = X_WA.p - 1.1 * (a.size + (b.collider.type == ShapeType::plane ? 0 : b.size)) * direction;
  Pose moved = X_WA;
  const Vec3 n = move_to_gap(a, moved, b, X_WB, gap);
  if (normal != nullptr) *normal = n;
  X_WB.p -= moved.p - X_WA.p;
  return X_WB;
}

}  // namespace lithe::test
