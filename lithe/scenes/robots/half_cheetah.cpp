#include "lithe/scenes/robots/half_cheetah.h"

#include <string>

#include "lithe/scenes/solids/solids.h"
#include "lithe/spatial/rotation.h"

namespace lithe {

namespace {

constexpr double kLimbRadius = 0.046;
constexpr double kTorsoHeight = 0.7;
constexpr double kRiderMass = 0.1;

// The cheetah is in a group of its own, which it does not collide with.
constexpr CollisionFilter kNotItself = {.groups = 2, .mask = ~std::uint32_t{2}};

// A capsule whose axis is z turned by `angle` about y; the centre is in the body's frame.
struct Rod {
  double mass;
  double length;  // between the caps' centres
  Vec3 centre;
  double angle;
};

struct Hinge {
  Vec3 offset;  // in the parent
  double lower, upper;
  double stiffness, damping;
};

void add_rod(ModelBuilder& builder, const std::string& parent, const std::string& name, const Rod& rod,
             const Pose& placement, const JointList& joints) {
  const Capsule capsule{kLimbRadius, rod.length / 2};
  const Pose X_BG = {rotation_about(Vec3::UnitY(), rod.angle), rod.centre};
  const SpatialInertia inertia = solid_inertia(rod.mass, capsule).in(X_BG);
  builder.add_body(parent, {.name = name, .inertia = inertia, .placement = placement}, joints);
  builder.add_shape(name, {.name = name, .geometry = capsule, .placement = X_BG, .filter = kNotItself});
}

void add_leg_part(ModelBuilder& builder, const std::string& parent, const std::string& name, const Hinge& hinge,
                  const Rod& rod) {
  Joint joint = revolute(name, Vec3::UnitY(), Pose::translation(hinge.offset));
  joint.lower = hinge.lower;
  joint.upper = hinge.upper;
  joint.stiffness = hinge.stiffness;
  joint.damping = hinge.damping;
  add_rod(builder, parent, name, rod, {}, joint);
}

void add_root(ModelBuilder& builder) {
  const SpatialInertia rider = SpatialInertia::point(kRiderMass, Vec3::Zero());
  const Pose start = Pose::translation(0, 0, kTorsoHeight);
  builder.add_body("world", {.name = "rail", .inertia = rider}, prismatic("root.x", Vec3::UnitX(), start));
  builder.add_body("rail", {.name = "slider", .inertia = rider}, prismatic("root.z", Vec3::UnitZ()));
  const double along_x = 1.5707963267948966;
  add_rod(builder, "slider", "torso", {4.89254870769, 1.0, Vec3::Zero(), along_x}, {},
          revolute("root.pitch", Vec3::UnitY()));
  add_rod(builder, "torso", "head", {1.46776461231, 0.3, Vec3::Zero(), 0.87}, Pose::translation(0.6, 0, 0.1), weld());
}

void add_back_leg(ModelBuilder& builder) {
  add_leg_part(builder, "torso", "b_thigh", {{-0.5, 0, 0}, -0.52, 1.05, 240, 0.6},
               {1.53524804, 0.29, {0.1, 0, -0.13}, -3.8});
  add_leg_part(builder, "b_thigh", "b_shin", {{0.16, 0, -0.25}, -0.785, 0.785, 180, 0.45},
               {1.58093995, 0.29, {-0.14, 0, -0.07}, -2.03});
  add_leg_part(builder, "b_shin", "b_foot", {{-0.28, 0, -0.14}, -0.4, 0.785, 120, 0.3},
               {1.0691906, 0.188, {0.03, 0, -0.097}, -0.27});
}

void add_front_leg(ModelBuilder& builder) {
  add_leg_part(builder, "torso", "f_thigh", {{0.5, 0, 0}, -1, 0.7, 180, 0.45},
               {1.42558747, 0.266, {-0.07, 0, -0.12}, 0.52});
  add_leg_part(builder, "f_thigh", "f_shin", {{-0.14, 0, -0.24}, -1.2, 0.87, 120, 0.3},
               {1.17885117, 0.212, {0.065, 0, -0.09}, -0.6});
  add_leg_part(builder, "f_shin", "f_foot", {{0.13, 0, -0.18}, -0.5, 0.5, 60, 0.15},
               {0.84986945, 0.14, {0.045, 0, -0.07}, -0.6});
}

}  // namespace

ModelBuilder half_cheetah() {
  ModelBuilder builder;
  add_root(builder);
  add_back_leg(builder);
  add_front_leg(builder);
  return builder;
}

Scene half_cheetah_on_ground() {
  ModelBuilder builder = half_cheetah();
  add_ground(builder);
  Scene scene = at_rest(builder);
  set_initial(scene, "root.z", -0.1);
  set_initial(scene, "root.pitch", 0.03);
  scene.time_step = 2e-3;
  return scene;
}

}  // namespace lithe
