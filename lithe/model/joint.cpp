#include "lithe/model/joint.h"

#include <utility>

namespace lithe {

namespace {

// A joint with the members that every type has; the others keep their defaults.
Joint make(std::string name, JointType type, const Vec3& axis, const Pose& placement) {
  Joint joint;
  joint.name = std::move(name);
  joint.type = type;
  joint.axis = axis;
  joint.placement = placement;
  return joint;
}

}  // namespace

const char* to_string(JointType type) {
  switch (type) {
    case JointType::revolute: return "revolute";
    case JointType::prismatic: return "prismatic";
    case JointType::screw: return "screw";
    case JointType::ball: return "ball";
  }
  return "unknown";
}

Joint revolute(std::string name, const Vec3& axis, const Pose& placement) {
  return make(std::move(name), JointType::revolute, axis, placement);
}

Joint prismatic(std::string name, const Vec3& axis, const Pose& placement) {
  return make(std::move(name), JointType::prismatic, axis, placement);
}

Joint screw(std::string name, const Vec3& axis, double pitch, const Pose& placement) {
  Joint joint = make(std::move(name), JointType::screw, axis, placement);
  joint.pitch = pitch;
  return joint;
}

Joint ball(std::string name, const Pose& placement) {
  return make(std::move(name), JointType::ball, Vec3::UnitZ(), placement);
}

JointList weld() { return {}; }

JointList free_joint(const std::string& name, const Pose& placement) {
  JointList list = translational(name, placement);
  list.push_back(ball(name + ".ball"));
  return list;
}

JointList planar(const std::string& name, const Pose& placement) {
  return {prismatic(name + ".x", Vec3::UnitX(), placement), prismatic(name + ".y", Vec3::UnitY()),
          revolute(name + ".turn", Vec3::UnitZ())};
}

JointList translational(const std::string& name, const Pose& placement) {
  return {prismatic(name + ".x", Vec3::UnitX(), placement), prismatic(name + ".y", Vec3::UnitY()),
          prismatic(name + ".z", Vec3::UnitZ())};
}

JointList universal(const std::string& name, const Vec3& first, const Vec3& second, const Pose& placement) {
  return {revolute(name + ".1", first, placement), revolute(name + ".2", second)};
}

JointList euler(const std::string& name, const Vec3& first, const Vec3& second, const Vec3& third,
                const Pose& placement) {
  return {revolute(name + ".1", first, placement), revolute(name + ".2", second), revolute(name + ".3", third)};
}

JointList cylindrical(const std::string& name, const Vec3& axis, const Pose& placement) {
  return {prismatic(name + ".slide", axis, placement), revolute(name + ".turn", axis)};
}

}  // namespace lithe
