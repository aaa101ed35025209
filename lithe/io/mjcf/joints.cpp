#include <algorithm>
#include <cmath>

#include "lithe/io/mjcf/parts.h"
#include "lithe/io/mjcf/rules.h"
#include "lithe/spatial/internal/robust_norm.h"

namespace lithe::internal::mjcf {

namespace {

// The type of a joint; hinge is MuJoCo's default.
JointPart::Type read_type(const Attributes& attributes) {
  const std::string_view word = attributes.choice("type", {"hinge", "slide", "ball", "free"});
  if (word == "slide") return JointPart::Type::slide;
  if (word == "ball") return JointPart::Type::ball;
  return word == "free" ? JointPart::Type::free : JointPart::Type::hinge;
}

// A property of a joint that must not be negative, 0 where it is absent.
double not_negative(const Attributes& attributes, const char* name) {
  // Newer files may give a polynomial: its constant part comes first.
  const std::optional<VecX> numbers = attributes.numbers(name, 1, 10);
  if (!numbers) return 0;
  if ((*numbers)[0] < 0) attributes.fail(name, "it must not be negative");
  if (!numbers->tail(numbers->size() - 1).isZero(0)) attributes.fail(name, "only a constant is read, not a polynomial");
  return (*numbers)[0];
}

// Reads `range`, in degrees or rad for a hinge and in m for a slide. MuJoCo counts it from its own zero, hence the
// shift by ref. The range of a ball is not honoured.
void read_limits(const Attributes& attributes, Context& context, JointPart& part) {
  const std::optional<VecX> range = read_limited_range(attributes, "range", "limited", context);
  if (!range) return;
  if (!part.has_one_dof()) {
    if (part.type == JointPart::Type::ball) {
      context.warnings.add(part.from.place(), "mjcf.joint.ball_range", "the range of a ball joint is not honoured");
    }
    return;
  }
  const bool turns = part.type == JointPart::Type::hinge;
  const auto position = [&](double written) { return (turns ? context.compiler.angle(written) : written) - part.ref; };
  // Files write "no limit on this side" as a large number.
  constexpr double kNoLimit = 1e10;
  if ((*range)[0] > -kNoLimit) part.properties.lower = position((*range)[0]);
  if ((*range)[1] < kNoLimit) part.properties.upper = position((*range)[1]);
}

// Reads actuatorfrcrange, the bounds of what all actuators of the joint do together. A Model's bound is the same in
// both directions; the exact ones are kept for the layout.
void read_effort_limit(const Attributes& attributes, Context& context, JointPart& part) {
  const std::optional<VecX> range = read_limited_range(attributes, "actuatorfrcrange", "actuatorfrclimited", context);
  if (!range || !part.has_one_dof()) return;
  if ((*range)[0] > 0 || (*range)[1] < 0) attributes.fail("actuatorfrcrange", "0 must lie between its ends");
  part.lower_effort = (*range)[0];
  part.upper_effort = (*range)[1];
  part.properties.effort_limit = range->cwiseAbs().maxCoeff();
  if (-(*range)[0] != (*range)[1]) {
    context.warnings.add(part.from.place(), "mjcf.joint.actuatorfrcrange",
                         fmt::format("actuatorfrcrange is not the same in both directions; {} is used for both",
                                     part.properties.effort_limit));
  }
}

}  // namespace

std::optional<VecX> read_limited_range(const Attributes& attributes, const char* range_name, const char* limited_name,
                                       Context& context) {
  const std::optional<VecX> range = attributes.numbers(range_name, 2, 2);
  const Switch limited = attributes.switch_or(limited_name, Switch::automatic);
  if (limited == Switch::no) return std::nullopt;
  if (!range) {
    if (limited == Switch::yes) attributes.fail(limited_name, fmt::format("but there is no {}", range_name));
    return std::nullopt;
  }
  // With "auto", the default, a range counts if it is there, unless the compiler's autolimits is off.
  if (limited == Switch::automatic) {
    if (range->isZero(0)) return std::nullopt;  // MuJoCo's way of saying none
    if (!context.compiler.automatic_limits) {
      context.warnings.add(
          attributes.place(), fmt::format("mjcf.{}", limited_name),
          fmt::format("{} does not count, because autolimits is off; say {}=\"true\"", range_name, limited_name));
      return std::nullopt;
    }
  }
  if (!((*range)[0] < (*range)[1])) attributes.fail(range_name, "the lower end must come first");
  return range;
}

JointPart read_joint(Context& context, const XmlElement& element, int inherited_class, const Pose& frame) {
  check_attributes(element, kJointRules, context.warnings);
  const Attributes attributes = context.defaults.attributes(element, Kind::joint, inherited_class);
  JointPart part;
  part.from = element;
  if (const char* name = attributes.name()) part.name = name;
  part.type = read_type(attributes);
  part.anchor = frame * attributes.vector3("pos").value_or(Vec3::Zero());

  Joint& joint = part.properties;
  // Anchor and axis are written in the frame around the joint; here they are in the body's.
  joint.axis = frame.R * attributes.vector3("axis").value_or(Vec3::UnitZ());
  if (part.has_one_dof()) {
    const double length = robust_norm(joint.axis);
    if (!(length > 1e-14) || !std::isfinite(length)) attributes.fail("axis", "it must not have length 0");
    joint.axis /= length;
    const auto position = [&](const char* name) {
      const double written = attributes.number_or(name, 0);
      return part.type == JointPart::Type::hinge ? context.compiler.angle(written) : written;
    };
    part.ref = position("ref");
    // A spring's rest is counted from MuJoCo's zero, as a limit is.
    joint.rest = position("springref") - part.ref;
  }
  joint.stiffness = not_negative(attributes, "stiffness");
  joint.damping = not_negative(attributes, "damping");
  joint.armature = not_negative(attributes, "armature");
  joint.dry_friction = not_negative(attributes, "frictionloss");
  read_limits(attributes, context, part);
  read_effort_limit(attributes, context, part);
  if (attributes.number_or("margin", 0) != 0) {
    context.warnings.add(element.place(), "mjcf.joint.margin", "margin is not honoured: a limit acts where it is");
  }
  return part;
}

JointPart read_free_joint(Context& context, const XmlElement& element) {
  // Default classes do not speak of it.
  static constexpr NotHonoured kNotHonoured[] = {{"align", "free bodies keep the frame that the file gives them"}};
  check_attributes(element, {"name group", kNotHonoured}, context.warnings);
  JointPart part;
  part.from = element;
  part.type = JointPart::Type::free;
  if (const char* name = Attributes(element).name()) part.name = name;
  return part;
}

}  // namespace lithe::internal::mjcf
