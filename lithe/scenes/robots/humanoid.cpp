#include "lithe/scenes/robots/humanoid.h"

#include <string>
#include <vector>

#include "lithe/scenes/solids/solids.h"

namespace lithe {

namespace {

constexpr double kJointDamping = 0.1;    // N·m·s/rad
constexpr double kVelocityLimit = 12.0;  // rad/s
constexpr double kPelvisHeight = 0.925;  // of the hips above the soles when the legs are straight
constexpr double kSoleDepth = 0.08;      // below the ankle

// A body and the one revolute joint that it hangs on. Everything is in the body's own frame, whose origin is in
// the joint and whose axes are the world's in the neutral configuration; only `offset` is in the parent's.
struct Link {
  std::string body, parent;
  struct {
    std::string name;
    Vec3 axis, offset;
    double lower, upper, effort;
  } joint;
  struct {
    double mass;
    Vec3 centre;
    Vec3 moments;  // about the centre, along the axes
  } inertia;
  struct {
    Geometry geometry;
    Vec3 centre;
  } shape;
};

// The hull of a sole with six corners and a smaller instep above it, symmetric so that it fits both feet.
ConvexMesh foot_mesh() {
  struct Outline {
    double heel_x, heel_y, ball_x, ball_y, toe_x, toe_y, z;
  };
  ConvexMesh mesh;
  for (const Outline& o : {Outline{-0.085, 0.050, 0.100, 0.065, 0.180, 0.045, -kSoleDepth},
                           Outline{-0.065, 0.035, 0.060, 0.045, 0.120, 0.030, -0.030}}) {
    for (const double side : {1.0, -1.0}) {
      mesh.points.push_back({o.heel_x, side * o.heel_y, o.z});
      mesh.points.push_back({o.ball_x, side * o.ball_y, o.z});
      mesh.points.push_back({o.toe_x, side * o.toe_y, o.z});
    }
  }
  return mesh;
}

std::vector<Link> back() {
  return {
      {"lower_spine",
       "pelvis",
       {"back_yaw", {0, 0, 1}, {-0.01, 0, 0}, -0.66, 0.66, 125},
       {2.4, {-0.01, 0, 0.08}, {0.0039, 0.0034, 0.0018}},
       {Capsule{0.05, 0.03}, {0, 0, 0.08}}},
      {"upper_spine",
       "lower_spine",
       {"back_pitch", {0, 1, 0}, {0, 0, 0.16}, -0.44, 0.61, 205},
       {0.7, {-0.01, 0, 0.03}, {0.0005, 0.0005, 0.0004}},
       {Capsule{0.04, 0.01}, {0, 0, 0.02}}},
      {"torso",
       "upper_spine",
       {"back_roll", {1, 0, 0}, {0, 0, 0.05}, -0.70, 0.70, 200},
       {52.3, {-0.09, 0, 0.30}, {1.47, 1.51, 1.30}},
       {Box{{0.20, 0.17, 0.27}}, {-0.05, 0, 0.34}}},
  };
}

std::vector<Link> left_arm() {
  return {
      {"collar",
       "torso",
       {"shoulder_pitch", {0, 0.94, 0.34}, {0.06, 0.14, 0.11}, -2.9, 0.8, 210},
       {3.4, {0, 0.05, 0.085}, {0.011, 0.009, 0.004}},
       {Capsule{0.05, 0.05}, {0, 0.08, 0.14}}},
      {"shoulder",
       "collar",
       {"shoulder_roll", {1, 0, 0}, {0, 0.14, 0.19}, -0.3, 2.8, 170},
       {3.0, {0, 0.01, -0.05}, {0.0058, 0.0058, 0.0032}},
       {Capsule{0.055, 0.05}, {0, 0.01, -0.08}}},
      {"upper_arm",
       "shoulder",
       {"upper_arm_twist", {0, 0, 1}, {0, 0.015, -0.19}, -1.57, 1.57, 115},
       {3.4, {0, 0, -0.065}, {0.0066, 0.0066, 0.0036}},
       {Capsule{0.055, 0.02}, {0, 0, -0.06}}},
      {"elbow",
       "upper_arm",
       {"elbow_bend", {0, 1, 0}, {0, 0.01, -0.12}, -2.36, 0, 115},
       {2.5, {0, 0, -0.04}, {0.0045, 0.0045, 0.0027}},
       {Capsule{0.05, 0.05}, {0, 0, -0.08}}},
      {"forearm",
       "elbow",
       {"wrist_twist", {0, 0, 1}, {0, -0.01, -0.19}, -1.57, 1.57, 115},
       {3.4, {0, 0, -0.065}, {0.0066, 0.0066, 0.0036}},
       {Capsule{0.05, 0.02}, {0, 0, -0.06}}},
      {"hand",
       "forearm",
       {"wrist_roll", {1, 0, 0}, {0, 0.01, -0.12}, -1.18, 1.18, 60},
       {2.5, {0, 0, -0.05}, {0.0045, 0.0045, 0.0027}},
       {Box{{0.045, 0.025, 0.06}}, {0, 0, -0.06}}},
  };
}

std::vector<Link> left_leg() {
  return {
      {"hip_fork",
       "pelvis",
       {"hip_yaw", {0, 0, 1}, {0, 0.09, 0}, -0.17, 1.22, 110},
       {0.65, {0.005, 0, 0}, {0.0007, 0.0007, 0.0004}},
       {Capsule{0.03, 0.02}, {0, 0, 0}}},
      {"hip_cross",
       "hip_fork",
       {"hip_roll", {1, 0, 0}, {0, 0, 0}, -0.52, 0.52, 180},
       {0.85, {0.015, 0.015, -0.03}, {0.0007, 0.0013, 0.0011}},
       {Capsule{0.03, 0.02}, {0.02, 0.015, -0.03}}},
      {"thigh",
       "hip_cross",
       {"hip_pitch", {0, 1, 0}, {0.05, 0, -0.05}, -1.72, 0.52, 260},
       {9.2, {0, 0, -0.21}, {0.09, 0.09, 0.02}},
       {Capsule{0.075, 0.13}, {-0.02, 0, -0.19}}},
      {"shin",
       "thigh",
       {"knee", {0, 1, 0}, {-0.05, 0, -0.375}, 0, 2.39, 220},
       {5.5, {0, 0, -0.19}, {0.077, 0.076, 0.01}},
       {Capsule{0.055, 0.15}, {0.02, 0, -0.20}}},
      {"ankle",
       "shin",
       {"ankle_pitch", {0, 1, 0}, {0, 0, -0.42}, -1.0, 0.7, 220},
       {0.15, {0, 0, 0}, {1.2e-5, 1.0e-5, 1.5e-5}},
       {Sphere{0.025}, {0, 0, 0}}},
      {"foot",
       "ankle",
       {"ankle_roll", {1, 0, 0}, {0, 0, 0}, -0.8, 0.8, 90},
       {2.05, {0.03, 0, -0.065}, {0.002, 0.007, 0.008}},
       {foot_mesh(), {0, 0, 0}}},
  };
}

Vec3 mirrored(const Vec3& place) { return {place.x(), -place.y(), place.z()}; }

// The same turn seen in the mirror y → −y: an axis of rotation is a pseudovector.
Vec3 mirrored_axis(const Vec3& axis) { return {-axis.x(), axis.y(), -axis.z()}; }

// The limb on the other side. Moments and geometries are symmetric in y, so only places and axes change.
std::vector<Link> mirrored(std::vector<Link> limb) {
  for (Link& link : limb) {
    link.joint.axis = mirrored_axis(link.joint.axis);
    link.joint.offset = mirrored(link.joint.offset);
    link.inertia.centre = mirrored(link.inertia.centre);
    link.shape.centre = mirrored(link.shape.centre);
  }
  return limb;
}

// Names the links of a limb after their side. Its first link keeps its parent, which belongs to the trunk.
std::vector<Link> named(const std::string& side, std::vector<Link> limb) {
  for (std::size_t i = 0; i < limb.size(); ++i) {
    limb[i].body = side + limb[i].body;
    limb[i].joint.name = side + limb[i].joint.name;
    if (i > 0) limb[i].parent = side + limb[i].parent;
  }
  return limb;
}

Body rigid_body(const std::string& name, double mass, const Vec3& centre, const Vec3& moments) {
  return {.name = name, .inertia = SpatialInertia::from_centre(mass, centre, moments.asDiagonal())};
}

Shape shape(const std::string& name, const Geometry& geometry, const Vec3& centre) {
  return {.name = name, .geometry = geometry, .placement = Pose::translation(centre)};
}

void add_links(ModelBuilder& builder, const std::vector<Link>& links) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto& [body, parent, joint, inertia, surface] = links[i];
    Joint hinge = revolute(joint.name, joint.axis, Pose::translation(joint.offset));
    hinge.lower = joint.lower;
    hinge.upper = joint.upper;
    hinge.effort_limit = joint.effort;
    hinge.velocity_limit = kVelocityLimit;
    hinge.damping = kJointDamping;
    builder.add_body(parent, rigid_body(body, inertia.mass, inertia.centre, inertia.moments), hinge);
    builder.add_shape(body, shape(body, surface.geometry, surface.centre));
    // The joints are compact: neighbours but one may overlap, as parent and child do.
    if (i > 0) builder.set_collision(links[i - 1].parent, body, false);
  }
}

void add_limbs(ModelBuilder& builder, const std::vector<Link>& left, const char* frame, const Vec3& frame_place) {
  for (const std::string side : {"left_", "right_"}) {
    const std::vector<Link> limb = named(side, side == "left_" ? left : mirrored(left));
    add_links(builder, limb);
    builder.add_frame(limb.back().body, {.name = side + frame, .placement = Pose::translation(frame_place)});
  }
}

}  // namespace

ModelBuilder humanoid() {
  const Vec3 head(0.03, 0, 0.70);  // in the torso
  ModelBuilder builder;
  builder.add_body("world", rigid_body("pelvis", 17.9, {0.01, 0, 0.03}, {0.124, 0.096, 0.117}),
                   free_joint("root", Pose::translation(0, 0, kPelvisHeight)));
  builder.add_shape("pelvis", shape("pelvis", Box{{0.12, 0.15, 0.10}}, {0, 0, 0.04}));
  add_links(builder, back());
  builder.add_shape("torso", shape("head", Sphere{0.10}, head));
  builder.add_frame("torso", {.name = "head", .placement = Pose::translation(head)});
  add_limbs(builder, left_arm(), "palm", {0, 0, -0.06});
  add_limbs(builder, left_leg(), "sole", {0.04, 0, -kSoleDepth});
  // The thighs' rounded tops reach into the pelvis.
  builder.set_collision("pelvis", "left_thigh", false).set_collision("pelvis", "right_thigh", false);
  return builder;
}

Scene standing_humanoid() {
  ModelBuilder builder = humanoid();
  add_ground(builder);
  return at_rest(builder);
}

}  // namespace lithe
