#include <algorithm>
#include <cmath>
#include <utility>

#include "lithe/io/mesh/cursor.h"
#include "lithe/io/urdf/robot.h"

namespace lithe::internal {

namespace {

constexpr double kZeroAxis = 1e-9;  // shorter is no direction

// Reads the <axis> of a joint, as a unit vector in the joint's frame. The result is empty, with a warning, where the
// vector has no direction; without an <axis> it is x, which is URDF's default.
std::optional<Vec3> read_axis(const XmlElement& element, UrdfReading& reading) {
  const XmlElement axis = only_child(element, "axis", reading);
  if (!axis) return Vec3::UnitX();  // URDF's default
  warn_of_unknown(axis, "urdf", {}, {"xyz"}, reading.warnings);
  axis.required_attribute("xyz");
  const Vec3 direction = urdf_vector(axis, "xyz", Vec3::UnitX());
  if (direction.norm() < kZeroAxis) {
    reading.warn(axis, "axis",
                 fmt::format("the axis of joint '{}' is \"{}\", which is no direction: the joint is locked",
                             shortened(element.required_attribute("name")), shortened(axis.attribute("xyz"))));
    return std::nullopt;
  }
  return direction.normalized();
}

// A limit of a position, rad or m. One that is as far away as the largest number accepted stands for no limit.
double position_limit(double x) {
  if (x <= -kLargestUrdfNumber) return -Joint::kInfinity;
  return x >= kLargestUrdfNumber ? Joint::kInfinity : x;
}

// Reads a number of <limit>. Exporters leave it empty where nothing is known, which counts as absent, and write "inf"
// for no limit.
std::optional<double> urdf_limit(const XmlElement& limit, const char* name, UrdfReading& reading) {
  const char* value = limit.attribute(name);
  if (!value) return std::nullopt;
  const std::string_view text = value;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    reading.warn(limit, "empty_limit", fmt::format("<limit> has an empty {}: it counts as absent", name));
    return std::nullopt;
  }
  for (const char* infinite : {"inf", "+inf", "infinity", "+infinity"}) {
    if (equal_in_any_case(text, infinite)) return Joint::kInfinity;
  }
  for (const char* infinite : {"-inf", "-infinity"}) {
    if (equal_in_any_case(text, infinite)) return -Joint::kInfinity;
  }
  return limit.number(name);
}

// Reads the limit of an effort or velocity. None means no limit, and so does a negative one, which some exporters
// write.
double rate_limit(const XmlElement& limit, const char* name, UrdfReading& reading) {
  const std::optional<double> x = urdf_limit(limit, name, reading);
  if (!x) return Joint::kInfinity;
  if (*x < 0) {
    reading.warn(limit, "negative_limit", fmt::format("{} of <limit> is {:g}, which is taken for no limit", name, *x));
    return Joint::kInfinity;
  }
  return *x >= kLargestUrdfNumber ? Joint::kInfinity : *x;
}

// Reads `lower` and `upper`. One of them alone leaves the other at 0, as URDF says. Where both are absent that rule
// would lock the joint at 0, as urdfdom does, which nobody means: the joint has no limit then.
void read_position_limits(const XmlElement& limit, Joint& joint, UrdfReading& reading) {
  const std::optional<double> lower = urdf_limit(limit, "lower", reading);
  const std::optional<double> upper = urdf_limit(limit, "upper", reading);
  if (!lower && !upper) {
    reading.warn(
        limit, "no_limit",
        fmt::format("joint '{}' has a <limit> without lower and upper: its position is not limited", joint.name));
    return;
  }
  joint.lower = position_limit(lower.value_or(0));
  joint.upper = position_limit(upper.value_or(0));
  // A joint with these limits could not be anywhere, so they must have changed places.
  if (joint.lower > joint.upper) {
    reading.warn(limit, "limits",
                 fmt::format("the limits of joint '{}' are the wrong way round, and are exchanged: lower {:g} is above "
                             "upper {:g}",
                             joint.name, joint.lower, joint.upper));
    std::swap(joint.lower, joint.upper);
  }
  if (!(joint.lower < Joint::kInfinity) || !(joint.upper > -Joint::kInfinity)) {
    limit.fail(fmt::format("the limits of joint '{}' leave no position", joint.name));
  }
  if (joint.lower == joint.upper) {
    reading.warn(limit, "locked",
                 fmt::format("joint '{}' cannot move: lower and upper are both {:g}", joint.name, joint.lower));
  }
}

// Reads <limit>. `has_range`: the type of the joint is one whose position has limits. The format demands the element of
// such a joint, so its absence is a warning.
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
  joint.effort_limit = rate_limit(limit, "effort", reading);
  joint.velocity_limit = rate_limit(limit, "velocity", reading);
  if (joint.effort_limit == 0 || joint.velocity_limit == 0) {
    reading.warn(limit, "zero_limit",
                 fmt::format("joint '{}' has {}=\"0\" and so cannot be driven; write the true value if it is to be",
                             joint.name, joint.effort_limit == 0 ? "effort" : "velocity"));
  }
}

// Reads <dynamics>: viscous damping, N·m·s/rad or N·s/m, and dry friction, N·m or N.
void read_dynamics(const XmlElement& element, Joint& joint, UrdfReading& reading) {
  const XmlElement dynamics = only_child(element, "dynamics", reading);
  if (!dynamics) return;
  warn_of_unknown(dynamics, "urdf", {}, {"damping", "friction"}, reading.warnings);
  joint.damping = urdf_number_not_negative(dynamics, "damping", 0);
  joint.dry_friction = urdf_number_not_negative(dynamics, "friction", 0);
}

// The joints of type planar: two slides across the axis and a turn about it. For the axis z the slides are along the x
// and y of the joint's frame.
JointList planar_about(const std::string& name, const Vec3& axis, const Pose& placement) {
  const Mat3 R = rotation_from_z(axis);
  return {prismatic(name + ".x", R.col(0), placement), prismatic(name + ".y", R.col(1)),
          revolute(name + ".turn", axis)};
}

// The type of the joint. One that is written in another case of letters is taken, with a warning.
std::string read_joint_type(const XmlElement& element, UrdfReading& reading) {
  static constexpr std::string_view kTypes[] = {"revolute", "continuous", "prismatic", "fixed",
                                                "floating", "planar",     "spherical", "ball"};
  const std::string type = element.required_attribute("type");
  if (std::ranges::find(kTypes, type) != std::end(kTypes)) return type;
  const auto* known = std::ranges::find_if(kTypes, [&](std::string_view t) { return equal_in_any_case(t, type); });
  if (known == std::end(kTypes)) {
    element.fail(
        fmt::format("joint '{}' has type \"{}\"; known are revolute, continuous, prismatic, fixed, floating, "
                    "planar and spherical",
                    shortened(element.required_attribute("name")), shortened(type)));
  }
  reading.warn(element, "type", fmt::format("joint type \"{}\" is read as {}", type, *known));
  return std::string(*known);
}

// Sets the joints of which this one consists: none if it is fixed, four if it floats, three if it is planar, else one.
// A joint without a direction of motion becomes a fixed one that is marked as locked.
void read_parts(UrdfJoint& urdf, UrdfReading& reading) {
  const XmlElement& element = urdf.element;
  if (urdf.type == "fixed") return;
  if (urdf.type == "floating") {
    urdf.parts = free_joint(urdf.name, urdf.origin);
    return;
  }
  Joint joint;
  if (urdf.type == "spherical" || urdf.type == "ball") {
    joint = ball(urdf.name, urdf.origin);
  } else {
    const std::optional<Vec3> axis = read_axis(element, reading);
    urdf.locked = !axis;
    if (urdf.locked) return;
    if (urdf.type == "planar") {
      urdf.parts = planar_about(urdf.name, *axis, urdf.origin);
      return;
    }
    joint =
        urdf.type == "prismatic" ? prismatic(urdf.name, *axis, urdf.origin) : revolute(urdf.name, *axis, urdf.origin);
  }
  read_limit(element, urdf.type == "revolute" || urdf.type == "prismatic", joint, reading);
  read_dynamics(element, joint, reading);
  urdf.parts = joint;
}

// Warns of everything in a <joint> that has no effect.
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
  joint.type = read_joint_type(element, reading);
  joint.origin = read_urdf_origin(element, reading);
  read_parts(joint, reading);
  warn_of_unused(joint, reading);
  return joint;
}

}  // namespace lithe::internal
