#include "lithe/scenes/paper/paper_parts.h"

namespace lithe {

namespace {

constexpr double kLength = 0.25;
constexpr double kThickness = 0.05;

}  // namespace

SpatialInertia unit_inertia() { return SpatialInertia::from_centre(1, Vec3::Zero(), Mat3::Identity()); }

JointList sliding_in_plane(const std::string& name) {
  JointList joints = {prismatic(name + ".x", Vec3::UnitX()), prismatic(name + ".z", Vec3::UnitZ())};
  for (Joint& joint : joints) joint.effort_limit = 0;
  return joints;
}

Joint turning_in_plane(const std::string& name, const Vec3& place, double effort_limit) {
  Joint joint = revolute(name, -Vec3::UnitY(), Pose::translation(place));
  joint.effort_limit = effort_limit;
  return joint;
}

void add_segments(ModelBuilder& builder, const std::string& parent, const Vec3& place, double effort_limit) {
  const Pose middle = Pose::translation(0, 0, kLength / 2);  // the body's frame is the box's
  const Box box{{kThickness / 2, kThickness / 2, kLength / 2}};
  const CollisionFilter filter = {.groups = kSegmentGroup, .mask = ~kSegmentGroup};
  std::string below = parent;
  for (const char* name : {"segment_1", "segment_2", "segment_3"}) {
    const Vec3 end = below == parent ? place : Vec3(0, 0, kLength / 2);
    builder.add_body(below, {.name = name, .inertia = unit_inertia(), .placement = middle},
                     turning_in_plane(name, end, effort_limit));
    builder.add_shape(name, {.name = name, .geometry = box, .filter = filter});
    below = name;
  }
}

void add_floor(ModelBuilder& builder, double length, const Vec3& centre) {
  builder.add_shape(
      "world",
      {.name = "floor", .geometry = Box{{length / 2, 0.5 / 2, 0.25 / 2}}, .placement = Pose::translation(centre)});
}

}  // namespace lithe
