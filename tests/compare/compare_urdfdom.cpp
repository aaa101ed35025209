#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <urdf_parser/urdf_parser.h>

#include "tests/compare/other_reader.h"

// compare_urdfdom [--strangers] FILE …: compares what Lithe reads from URDF files with urdfdom, ROS's own reader.

namespace lithe {
namespace {

constexpr double kNoLimit = 1e12;  // docs/files.md: what is beyond is no limit

Vec3 vector(const urdf::Vector3& v) { return {v.x, v.y, v.z}; }

Pose pose(const urdf::Pose& X) {
  const urdf::Rotation& r = X.rotation;
  return {rotation_from_quaternion(Vec4(r.x, r.y, r.z, r.w)), vector(X.position)};
}

double limit(double x) { return std::abs(x) >= kNoLimit ? std::copysign(Joint::kInfinity, x) : x; }

OtherLink link_of(const urdf::Link& link, const Pose& X_WB) {
  OtherLink result{.name = link.name, .X_WB = X_WB, .is_world = link.name == "world"};
  if (!link.inertial) return result;
  const urdf::Inertial& inertial = *link.inertial;
  Mat3 about_centre;
  about_centre << inertial.ixx, inertial.ixy, inertial.ixz,  //
      inertial.ixy, inertial.iyy, inertial.iyz,              //
      inertial.ixz, inertial.iyz, inertial.izz;
  const Pose X = pose(inertial.origin);
  result.mass = inertial.mass;
  result.centre = X.p;
  result.about_centre = X.R * about_centre * X.R.transpose();
  return result;
}

OtherJoint::Kind kind_of(const urdf::Joint& joint) {
  using Kind = OtherJoint::Kind;
  switch (joint.type) {
    case urdf::Joint::REVOLUTE:
    case urdf::Joint::CONTINUOUS: return Kind::revolute;
    case urdf::Joint::PRISMATIC: return Kind::prismatic;
    case urdf::Joint::FLOATING: return Kind::floating;
    case urdf::Joint::PLANAR: return Kind::planar;
    case urdf::Joint::FIXED: return Kind::fixed;
    default: throw std::runtime_error("joint '" + joint.name + "' has an unknown type");
  }
}

OtherJoint joint_of(const urdf::Joint& joint, const Pose& X_WJ) {
  using Kind = OtherJoint::Kind;
  OtherJoint result{
      .name = joint.name, .kind = kind_of(joint), .parent = joint.parent_link_name, .child = joint.child_link_name};
  if (result.kind == Kind::fixed || result.kind == Kind::floating) return result;
  OtherAxis axis{.direction_W = X_WJ.R * vector(joint.axis).normalized()};
  if (joint.limits) {
    if (joint.type != urdf::Joint::CONTINUOUS) {
      axis.lower = limit(joint.limits->lower);
      axis.upper = limit(joint.limits->upper);
      axis.limits_may_be_absent = axis.lower == 0 && axis.upper == 0;  // urdfdom's defaults
    }
    axis.effort_limit = limit(joint.limits->effort);
    axis.velocity_limit = limit(joint.limits->velocity);
  }
  if (joint.dynamics) {
    axis.damping = joint.dynamics->damping;
    axis.dry_friction = joint.dynamics->friction;
  }
  result.axes.push_back(axis);
  if (joint.mimic) result.follows = {joint.mimic->joint_name, joint.mimic->multiplier, joint.mimic->offset};
  return result;
}

void add_link(const urdf::Link& link, const Pose& X_WB, OtherModel& model) {
  model.links.push_back(link_of(link, X_WB));
  for (const urdf::JointSharedPtr& joint : link.child_joints) {
    const Pose X_WJ = X_WB * pose(joint->parent_to_joint_origin_transform);
    model.joints.push_back(joint_of(*joint, X_WJ));
  }
  for (const urdf::LinkSharedPtr& child : link.child_links) {
    add_link(*child, X_WB * pose(child->parent_joint->parent_to_joint_origin_transform), model);
  }
}

OtherModel read(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const urdf::ModelInterfaceSharedPtr robot = urdf::parseURDF(text.str());
  if (!robot) throw std::runtime_error("refused (its reason is on standard error)");
  OtherModel model;
  add_link(*robot->getRoot(), {}, model);
  return model;
}

}  // namespace
}  // namespace lithe

int main(int argc, char** argv) { return lithe::compare_files(argc, argv, "urdfdom", lithe::read); }
