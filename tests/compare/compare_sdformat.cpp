#include <cmath>
#include <fstream>
#include <regex>
#include <sdf/sdf.hh>
#include <sstream>
#include <stdexcept>

#include "tests/compare/other_reader.h"

// compare_sdformat [--strangers] FILE …: compares what Lithe reads from SDF files with libsdformat, Gazebo's own reader. Mimics are not
// compared: libsdformat 12 does not read them.

namespace lithe {
namespace {

constexpr double kNoLimit = 1e16;  // how SDF writes that there is none

void check(const sdf::Errors& errors) {
  if (!errors.empty()) throw std::runtime_error(errors[0].Message());
}

Vec3 vector(const ignition::math::Vector3d& v) { return {v.X(), v.Y(), v.Z()}; }

Pose pose(const ignition::math::Pose3d& X) {
  const ignition::math::Quaterniond& r = X.Rot();
  return {rotation_from_quaternion(Vec4(r.X(), r.Y(), r.Z(), r.W())), vector(X.Pos())};
}

Pose resolved(const sdf::SemanticPose& semantic, const std::string& in = "") {
  ignition::math::Pose3d X;
  check(semantic.Resolve(X, in));
  return pose(X);
}

double position_limit(double x) { return std::abs(x) >= kNoLimit ? std::copysign(Joint::kInfinity, x) : x; }
double rate_limit(double x) { return x < 0 || x >= kNoLimit ? Joint::kInfinity : x; }

OtherLink link_of(const sdf::Link& link, const std::string& name, const Pose& X_WB) {
  const ignition::math::Inertiald& inertial = link.Inertial();
  const ignition::math::Matrix3d moments = inertial.MassMatrix().Moi();
  Mat3 about_centre;
  for (unsigned row = 0; row < 3; ++row) {
    for (unsigned column = 0; column < 3; ++column) about_centre(row, column) = moments(row, column);
  }
  const Pose X = pose(inertial.Pose());
  return {.name = name,
          .X_WB = X_WB,
          .mass = inertial.MassMatrix().Mass(),
          .centre = X.p,
          .about_centre = X.R * about_centre * X.R.transpose()};
}

OtherAxis axis_of(const sdf::Joint& joint, const sdf::JointAxis& axis, const Pose& X_WM) {
  ignition::math::Vector3d direction;
  check(axis.ResolveXyz(direction, "__model__"));
  OtherAxis result{.direction_W = X_WM.R * vector(direction).normalized(),
                   .effort_limit = rate_limit(axis.Effort()),
                   .velocity_limit = rate_limit(axis.MaxVelocity()),
                   .damping = axis.Damping(),
                   .dry_friction = axis.Friction(),
                   .stiffness = axis.SpringStiffness(),
                   .rest = axis.SpringReference()};
  if (joint.Type() != sdf::JointType::CONTINUOUS) {
    result.lower = position_limit(axis.Lower());
    result.upper = position_limit(axis.Upper());
  }
  return result;
}

OtherJoint::Kind kind_of(const sdf::Joint& joint) {
  using Kind = OtherJoint::Kind;
  switch (joint.Type()) {
    case sdf::JointType::FIXED: return Kind::fixed;
    case sdf::JointType::REVOLUTE:
    case sdf::JointType::CONTINUOUS: return Kind::revolute;
    case sdf::JointType::PRISMATIC: return Kind::prismatic;
    case sdf::JointType::SCREW: return Kind::screw;
    case sdf::JointType::BALL: return Kind::ball;
    case sdf::JointType::REVOLUTE2:
    case sdf::JointType::UNIVERSAL: return Kind::two_axes;
    default: throw std::runtime_error("joint '" + joint.Name() + "' is of a kind that is not compared");
  }
}

// Walks models with the names that Lithe gives: those of a single model's links as they are written, others with their models' before them.
class Translation {
 public:
  void add_model(const sdf::Model& model, const std::string& prefix, const Pose& X_WM) {
    for (std::uint64_t i = 0; i < model.LinkCount(); ++i) {
      const sdf::Link& link = *model.LinkByIndex(i);
      result.links.push_back(link_of(link, prefix + link.Name(), X_WM * resolved(link.SemanticPose())));
    }
    for (std::uint64_t i = 0; i < model.JointCount(); ++i) add_joint(*model.JointByIndex(i), prefix, X_WM);
    for (std::uint64_t i = 0; i < model.ModelCount(); ++i) {
      const sdf::Model& nested = *model.ModelByIndex(i);
      add_model(nested, prefix + nested.Name() + "::", X_WM * resolved(nested.SemanticPose()));
    }
  }

  OtherModel result;

 private:
  void add_joint(const sdf::Joint& joint, const std::string& prefix, const Pose& X_WM) {
    std::string parent, child;
    check(joint.ResolveParentLink(parent));
    check(joint.ResolveChildLink(child));
    const auto named = [&](const std::string& link) { return link == "world" ? link : prefix + link; };
    OtherJoint other{
        .name = prefix + joint.Name(), .kind = kind_of(joint), .parent = named(parent), .child = named(child)};
    const bool has_axes = other.kind != OtherJoint::Kind::fixed && other.kind != OtherJoint::Kind::ball;
    const unsigned axes = !has_axes ? 0 : other.kind == OtherJoint::Kind::two_axes ? 2 : 1;
    for (unsigned a = 0; a < axes; ++a) {
      if (!joint.Axis(a)) throw std::runtime_error("joint '" + joint.Name() + "' has no axis");
      other.axes.push_back(axis_of(joint, *joint.Axis(a), X_WM));
    }
    // In radians per metre, and left-handed.
    if (other.kind == OtherJoint::Kind::screw) other.pitch = -1 / joint.ThreadPitch();
    result.joints.push_back(std::move(other));
  }
};

OtherModel read(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  // A light, and not there without Gazebo: without it the rest can be read.
  const std::regex sun("<include>\\s*<uri>model://sun</uri>\\s*</include>");
  sdf::Root root;
  check(root.LoadSdfString(std::regex_replace(text.str(), sun, "")));
  Translation translation;
  translation.result.has_mimics = false;
  if (root.Model()) translation.add_model(*root.Model(), "", resolved(root.Model()->SemanticPose()));
  for (std::uint64_t w = 0; w < root.WorldCount(); ++w) {
    const sdf::World& world = *root.WorldByIndex(w);
    const bool single = world.ModelCount() == 1;
    for (std::uint64_t i = 0; i < world.ModelCount(); ++i) {
      const sdf::Model& model = *world.ModelByIndex(i);
      translation.add_model(model, single ? "" : model.Name() + "::", resolved(model.SemanticPose()));
    }
  }
  return translation.result;
}

}  // namespace
}  // namespace lithe

int main(int argc, char** argv) { return lithe::compare_files(argc, argv, "libsdformat", lithe::read); }
