#include <cmath>

#include "lithe/io/urdf_robot.h"

namespace lithe {

namespace {

constexpr double kZeroAxis = 1e-9;  // shorter is no direction

Vec3 read_axis(const XmlElement& element, UrdfReading& reading) {
  const XmlElement axis = only_child(element, "axis", reading);
  if (!axis) return Vec3::UnitX();  // URDF's default
  warn_of_unknown(axis, "urdf", {}, {"xyz"}, reading.warnings);
  axis.required_attribute("xyz");
  const Vec3 direction = urdf_vector(axis, "xyz", Vec3::UnitX());
  if (direction.norm() < kZeroAxis) {
    axis.fail(fmt::format("the axis of joint '{}' is \"{}\": it must have a direction",
                          element.required_attribute("name"), axis.attribute("xyz")));
  }
  return direction.normalized();
}

// A position that is so far away that it stands for "no limit".
double position_limit(double x) {
  if (x <= -kLargestUrdfNumber) return -Joint::kInfinity;
  return x >= kLargestUrdfNumber ? Joint::kInfinity : x;
}

// An effort or a velocity.
double rate_limit(const XmlElement& limit, const char* name) {
  const std::optional<double> x = limit.number(name);
  if (!x) return Joint::kInfinity;
  if (*x < 0) limit.fail(fmt::format("{} of <limit> is {:g}, but must not be negative", name, *x));
  return *x >= kLargestUrdfNumber ? Joint::kInfinity : *x;
}

// One of lower and upper alone leaves the other at 0, as URDF says. Neither of them would lock the joint at 0, which nobody means.
void read_position_limits(const XmlElement& limit, Joint& joint, UrdfReading& reading) {
  const std::optional<double> lower = limit.number("lower"), upper = limit.number("upper");
  if (!lower && !upper) {
    reading.warn(
        limit, "no_limit",
        fmt::format("joint '{}' has a <limit> without lower and upper: its position is not limited", joint.name));
    return;
  }
  joint.lower = position_limit(lower.value_or(0));
  joint.upper = position_limit(upper.value_or(0));
  if (joint.lower > joint.upper) {
    limit.fail(fmt::format("the limits of joint '{}' are the wrong way round: lower {:g} is above upper {:g}",
                           joint.name, joint.lower, joint.upper));
  }
  if (!(joint.lower < Joint::kInfinity) || !(joint.upper > -Joint::kInfinity)) {
    limit.fail(fmt::format("the limits of joint '{}' leave no position", joint.name));
  }
  if (joint.lower == joint.upper) {
    reading.warn(limit, "locked",
                 fmt::format("joint '{}' cannot move: lower and upper are both {:g}", joint.name, joint.lower));
  }
}

void read_limit(const XmlElement& element, bool has_range, Joint& joint, UrdfReading& reading) {
  const XmlElement limit = only_child(element, "limit", reading);
  if (!limit) {
    if (has_range) {
      reading.warn(element, "no_limit",
                   fmt::format("joint '{}' has no <limit>: its position is not limited", joint.name));
    }
    return;
  }
  warn_of_unknown(limit, "urdf", {}, {"lower", "upper", "effort", "velocity"}, reading.warnings);
  if (has_range) read_position_limits(limit, joint, reading);
  joint.effort_limit = rate_limit(limit, "effort");
  joint.velocity_limit = rate_limit(limit, "velocity");
  if (joint.effort_limit == 0 || joint.velocity_limit == 0) {
    reading.warn(limit, "zero_limit",
                 fmt::format("joint '{}' has {}=\"0\" and so cannot be driven; write the true value if it is to be",
                             joint.name, joint.effort_limit == 0 ? "effort" : "velocity"));
  }
}

void read_dynamics(const XmlElement& element, Joint& joint, UrdfReading& reading) {
  const XmlElement dynamics = only_child(element, "dynamics", reading);
  if (!dynamics) return;
  warn_of_unknown(dynamics, "urdf", {}, {"damping", "friction"}, reading.warnings);
  joint.damping = urdf_number_not_negative(dynamics, "damping", 0);
  joint.dry_friction = urdf_number_not_negative(dynamics, "friction", 0);
}

// Two slides across the axis and a turn about it; for the axis z these are the plane's own x and y.
JointList planar_about(const std::string& name, const Vec3& axis, const Pose& placement) {
  const Mat3 R = rotation_from_z(axis);
  return {prismatic(name + ".x", R.col(0), placement), prismatic(name + ".y", R.col(1)),
          revolute(name + ".turn", axis)};
}

JointList read_parts(const UrdfJoint& urdf, UrdfReading& reading) {
  const XmlElement& element = urdf.element;
  if (urdf.type == "fixed") return {};
  if (urdf.type == "floating") return free_joint(urdf.name, urdf.origin);
  if (urdf.type == "planar") return planar_about(urdf.name, read_axis(element, reading), urdf.origin);
  Joint joint;
  if (urdf.type == "revolute" || urdf.type == "continuous") {
    joint = revolute(urdf.name, read_axis(element, reading), urdf.origin);
  } else if (urdf.type == "prismatic") {
    joint = prismatic(urdf.name, read_axis(element, reading), urdf.origin);
  } else if (urdf.type == "ball" || urdf.type == "spherical") {
    joint = ball(urdf.name, urdf.origin);
  } else {
    element.fail(
        fmt::format("joint '{}' has type \"{}\"; known are revolute, continuous, prismatic, fixed, floating, "
                    "planar and spherical",
                    urdf.name, urdf.type));
  }
  read_limit(element, urdf.type == "revolute" || urdf.type == "prismatic", joint, reading);
  read_dynamics(element, joint, reading);
  return joint;
}

void warn_of_unused(const UrdfJoint& urdf, UrdfReading& reading) {
  const XmlElement& element = urdf.element;
  warn_of_unknown(
      element, "urdf",
      {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "safety_controller", "calibration"},
      {"name", "type"}, reading.warnings);
  for (const char* end : {"parent", "child"}) {
    if (const XmlElement link = only_child(element, end, reading)) {
      warn_of_unknown(link, "urdf", {}, {"link"}, reading.warnings);
    }
  }
  if (const XmlElement safety = element.child("safety_controller")) {
    reading.warn(safety, "safety_controller", "<safety_controller> is not used: only the limits act");
  }
  if (const XmlElement calibration = element.child("calibration")) {
    reading.warn(calibration, "calibration", "<calibration> is not used: positions count from the joint's zero");
  }
  // On a fixed joint these are habit and mean nothing; on the others they would.
  if (urdf.parts.size() < 2) return;
  for (const char* name : {"limit", "dynamics"}) {
    const XmlElement unused = element.child(name);
    if (!unused) continue;
    reading.warn(unused, fmt::format("{}.{}", urdf.type, name),
                 fmt::format("<{}> of the {} joint '{}' is not used", name, urdf.type, urdf.name));
  }
}

}  // namespace

UrdfJoint read_urdf_joint(const XmlElement& element, UrdfReading& reading) {
  UrdfJoint joint{.element = element, .name = element.required_attribute("name")};
  if (joint.name.empty()) element.fail("a joint has an empty name: give each one a name");
  joint.type = element.required_attribute("type");
  joint.origin = read_urdf_origin(element, reading);
  joint.parts = read_parts(joint, reading);
  warn_of_unused(joint, reading);
  return joint;
}

}  // namespace lithe
