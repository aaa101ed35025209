#include <algorithm>
#include <cmath>

#include "lithe/io/mjcf/write_parts.h"

namespace lithe::internal::mjcf {

namespace {

// Whether the pose is the identity to the last bit.
bool is_identity(const Pose& X) { return X.R == Mat3::Identity() && X.p == Vec3::Zero(); }

// Whether the joint has anything that a <freejoint> cannot say.
bool resists(const Joint& joint) {
  return joint.stiffness != 0 || joint.damping != 0 || joint.armature != 0 || joint.dry_friction != 0 ||
         std::isfinite(joint.lower) || std::isfinite(joint.upper) || std::isfinite(joint.effort_limit) ||
         std::isfinite(joint.velocity_limit);
}

// The name N of the free joint by which the body hangs, if its joints are N.x, N.y, N.z and N.ball as free_joint()
// makes them in the world's own frame; else nothing.
std::string free_joint_name(const Model& model, const Body& body) {
  if (body.parent != Model::world() || body.joints.size() != 4 || !is_identity(body.placement)) return {};
  static constexpr std::array<std::string_view, 4> kEndings = {".x", ".y", ".z", ".ball"};
  std::string name;
  for (int k = 0; k < 4; ++k) {
    const Joint& joint = model.joints()[body.joints[k]];
    const bool fits =
        k < 3 ? joint.type == JointType::prismatic && joint.axis == Vec3::Unit(k) : joint.type == JointType::ball;
    if (!fits || !is_identity(joint.placement) || resists(joint) || !joint.name.ends_with(kEndings[k])) return {};
    const std::string whole = joint.name.substr(0, joint.name.size() - kEndings[k].size());
    if (whole.empty() || (k > 0 && whole != name)) return {};
    name = whole;
  }
  return name;
}

// Writes the range of a joint. MJCF has no half-open ranges, and the two ends must differ.
void write_range(const Joint& joint, Output& out) {
  if (!std::isfinite(joint.lower) && !std::isfinite(joint.upper)) return;
  const double lower = std::max(joint.lower, -kNoLimit);
  double upper = std::min(joint.upper, kNoLimit);
  if (!(lower < upper)) upper = std::nextafter(lower, kNoLimit);
  out.attribute("range", text_of(Eigen::Vector2d(lower, upper)));
}

// Writes what resists the joint's motion.
void write_resistance(const Joint& joint, Output& out) {
  out.attribute_unless(0, "stiffness", joint.stiffness);
  out.attribute_unless(0, "damping", joint.damping);
  out.attribute_unless(0, "armature", joint.armature);
  out.attribute_unless(0, "frictionloss", joint.dry_friction);
  if (std::isfinite(joint.velocity_limit)) {
    out.warn("velocity limit", fmt::format("joint '{}' has a velocity limit, which MJCF does not know", joint.name));
  }
}

// Warns of what MJCF cannot say about a ball joint.
void write_ball(const Joint& joint, const Pose& X_BJ, Output& out) {
  if ((X_BJ.R - Mat3::Identity()).cwiseAbs().maxCoeff() > 1e-9) {
    out.warn("turned ball",
             fmt::format("ball joint '{}' has a frame that is turned against its body's: MJCF measures its "
                         "orientation in the body's axes, so its four numbers in q (and its velocities) mean "
                         "another rotation there",
                         joint.name));
  }
  const bool rests_turned = joint.stiffness > 0 && joint.rest_orientation.head<3>().norm() > 1e-12;
  if (rests_turned) {
    out.warn(
        "rest orientation",
        fmt::format("the spring of ball joint '{}' rests at an orientation, which MJCF does not know", joint.name));
  }
}

// Writes a joint, whose frame at q = 0 is X_BJ in the body. A screw is a hinge and a slide that follows it; without
// `room` for the slide (MJCF has at most six degrees of freedom per body) it is a hinge.
void write_joint(const Joint& joint, const Pose& X_BJ, bool room, Output& out, std::vector<WrittenScrew>& screws) {
  const bool is_ball = joint.type == JointType::ball;
  const Vec3 axis = X_BJ.R * joint.axis;
  out.open("joint");
  out.attribute("name", joint.name);
  out.attribute("type", is_ball ? "ball" : joint.type == JointType::prismatic ? "slide" : "hinge");
  if (X_BJ.p != Vec3::Zero()) out.attribute("pos", X_BJ.p);
  if (!is_ball) {
    out.attribute("axis", axis);
    write_range(joint, out);
    out.attribute_unless(0, "springref", joint.rest);
    if (std::isfinite(joint.effort_limit)) {
      const double most = std::max(joint.effort_limit, 1e-300);
      out.attribute("actuatorfrcrange", text_of(Eigen::Vector2d(-most, most)));
    }
  } else {
    write_ball(joint, X_BJ, out);
  }
  write_resistance(joint, out);
  out.close();
  if (joint.type != JointType::screw) return;
  if (!room) {
    out.warn("pitch",
             fmt::format("screw joint '{}' is written as a hinge and loses its pitch: a body in MJCF has at most "
                         "6 degrees of freedom",
                         joint.name));
    return;
  }
  out.warn("screw", fmt::format("screw joint '{}' is written as a hinge and a slide that follows it", joint.name));
  screws.push_back({joint.name, joint.name + "_slide", joint.pitch});
  out.open("joint");
  out.attribute("name", screws.back().slide);
  out.attribute("type", "slide");
  out.attribute("axis", axis);
  out.close();
}

}  // namespace

void write_joints(const Model& model, const Body& body, const NeutralBody& at, Output& out,
                  std::vector<WrittenScrew>& screws) {
  if (const std::string name = free_joint_name(model, body); !name.empty()) {
    out.open("freejoint");
    out.attribute("name", name);
    out.close();
    return;
  }
  int dofs = 0;
  for (const JointIndex j : body.joints) {
    const Joint& joint = model.joints()[j];
    dofs += joint.nv() + (joint.type == JointType::screw ? 1 : 0);
  }
  const bool room = dofs <= 6;
  for (std::size_t k = 0; k < body.joints.size(); ++k) {
    write_joint(model.joints()[body.joints[k]], at.X_BJ[k], room, out, screws);
  }
}

}  // namespace lithe::internal::mjcf
