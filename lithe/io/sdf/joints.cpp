#include "lithe/io/sdf/joints.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace lithe::internal {

namespace {

constexpr double kNoLimit = 1e16;       // how SDF writes that there is none
constexpr double kParallel = 1e-6;      // |a × b| of unit axes
constexpr double kSmallestAxis = 1e-9;  // length

// Reads a limit, which may be "inf". Beyond ±1e16 it is infinite as well, since that is what the format writes for no
// limit. The result is empty where the element is absent.
std::optional<double> limit_number(const XmlElement& limit, const char* name) {
  const XmlElement element = limit ? limit.child(name) : XmlElement();
  if (!element) return std::nullopt;
  const std::string_view text = element.text();
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
  const bool infinite = digits == "inf" || digits == "Inf" || digits == "INF" || digits == "infinity";
  const double value = infinite ? Joint::kInfinity : std::abs(element.text_number());
  return (negative ? -1 : 1) * (value >= kNoLimit ? Joint::kInfinity : value);
}

// Reads the <axis> and <axis2> of one joint into primitive joints.
class AxisReader {
 public:
  AxisReader(SdfContext& context, const SdfContents& contents, const SdfContents::Joint& joint)
      : context_(context), contents_(contents), joint_(joint) {}

  // Reads what an <axis> says into a primitive joint.
  void read(const XmlElement& axis, bool with_limits, Joint& primitive);
  std::optional<SdfJoint::Follows> read_mimic(const XmlElement& axis, const std::string& follower);

 private:
  Vec3 direction(const XmlElement& axis);
  int frame_of_axis(const XmlElement& axis, const XmlElement& xyz);
  void read_limits(const XmlElement& axis, bool with_limits, Joint& primitive);
  void read_dynamics(const XmlElement& axis, Joint& primitive);

  SdfContext& context_;
  const SdfContents& contents_;
  const SdfContents::Joint& joint_;
};

// The frame in which <xyz> is written: up to SDF 1.4 the model's; from 1.5 on the joint's, unless
// use_parent_model_frame (up to 1.6) or expressed_in (from 1.7 on) says otherwise. A file of 1.4 that says
// use_parent_model_frame all the same is taken at its word.
int AxisReader::frame_of_axis(const XmlElement& axis, const XmlElement& xyz) {
  const char* expressed_in = xyz ? xyz.attribute("expressed_in") : nullptr;
  if (expressed_in && *expressed_in) return contents_.frames.find(joint_.scope, expressed_in, xyz, "expressed_in");
  const bool by_default = joint_.version < SdfVersion{1, 5};
  const XmlElement flag = axis.child("use_parent_model_frame");
  if (flag && joint_.version > SdfVersion{1, 6}) {
    context_.warnings.add(
        flag.place(), "sdf.use_parent_model_frame",
        "use_parent_model_frame is gone since SDF 1.7 and was ignored; write <xyz expressed_in=\"__model__\">");
    return joint_.frame;
  }
  return (flag ? flag.text_flag() : by_default) ? joint_.scope : joint_.frame;
}

// The unit vector of the axis in the joint's frame. The format's default is z.
Vec3 AxisReader::direction(const XmlElement& axis) {
  const XmlElement xyz = axis.child("xyz");
  if (xyz) check_contents(context_, xyz, {.attributes = {"expressed_in"}});
  const Vec3 written = child_vector(axis, "xyz", Vec3::UnitZ());
  const double length = written.norm();
  if (!(length > kSmallestAxis)) {
    xyz.fail(fmt::format("the axis is ({}, {}, {}), which is no direction", written.x(), written.y(), written.z()));
  }
  return contents_.frames.pose_in(joint_.frame, frame_of_axis(axis, xyz)).R * (written / length);
}

// Reads <limit>: positions in rad or m (where `with_limits`), the largest effort and the largest velocity. What is
// absent is not limited. A limit that is a spring (stiffness, dissipation) is warned about.
void AxisReader::read_limits(const XmlElement& axis, bool with_limits, Joint& primitive) {
  const XmlElement limit = axis.child("limit");
  if (!limit) return;
  check_contents(context_, limit,
                 {.once = {"lower", "upper", "effort", "velocity"}, .left_out = {"stiffness", "dissipation"}});
  if (with_limits) {
    primitive.lower = limit_number(limit, "lower").value_or(-Joint::kInfinity);
    primitive.upper = limit_number(limit, "upper").value_or(Joint::kInfinity);
    const bool some = primitive.lower < Joint::kInfinity && primitive.upper > -Joint::kInfinity;
    if (!(primitive.lower <= primitive.upper) || !some) {
      limit.fail(fmt::format("the limits are {} … {}: the lower one must not exceed the upper one", primitive.lower,
                             primitive.upper));
    }
  }
  // The format's default for efforts and velocities is −1, which means that there is no limit.
  const auto most = [&](const char* name) {
    const double value = limit_number(limit, name).value_or(-1);
    return value < 0 ? Joint::kInfinity : value;
  };
  primitive.effort_limit = most("effort");
  primitive.velocity_limit = most("velocity");
  if (primitive.velocity_limit == 0) {
    context_.warnings.add(limit.place(), "sdf.velocity_limit",
                          fmt::format("joint {} has a velocity limit of 0 and cannot move", primitive.name));
  }
}

// Reads <dynamics>: damping, dry friction, and a spring with the position at which it rests.
void AxisReader::read_dynamics(const XmlElement& axis, Joint& primitive) {
  const XmlElement dynamics = axis.child("dynamics");
  if (!dynamics) return;
  check_contents(context_, dynamics, {.once = {"damping", "friction", "spring_reference", "spring_stiffness"}});
  primitive.damping = child_not_negative(dynamics, "damping", 0);
  primitive.dry_friction = child_not_negative(dynamics, "friction", 0);
  primitive.stiffness = child_not_negative(dynamics, "spring_stiffness", 0);
  primitive.rest = child_number(dynamics, "spring_reference", 0);
}

// An <axis> has a direction, limits and resistance; its <mimic> is read apart.
void AxisReader::read(const XmlElement& axis, bool with_limits, Joint& primitive) {
  check_contents(
      context_, axis,
      {.once = {"xyz", "limit", "dynamics", "use_parent_model_frame", "mimic"}, .left_out = {"initial_position"}});
  primitive.axis = direction(axis);
  read_limits(axis, with_limits, primitive);
  read_dynamics(axis, primitive);
}

// Reads <mimic>: follower = multiplier·(leader − reference) + offset. A Mimic has no reference, so its offset takes
// that in.
std::optional<SdfJoint::Follows> AxisReader::read_mimic(const XmlElement& axis, const std::string& follower) {
  const XmlElement mimic = axis.child("mimic");
  if (!mimic) return std::nullopt;
  check_contents(context_, mimic, {.once = {"multiplier", "offset", "reference"}, .attributes = {"joint", "axis"}});
  const std::string leader = mimic.required_attribute("joint");
  const std::string_view which = mimic.attribute("axis") ? mimic.attribute("axis") : "axis";
  if (which != "axis" && which != "axis2") {
    mimic.fail(fmt::format("axis=\"{}\" must be \"axis\" or \"axis2\"", shortened(which)));
  }
  const double multiplier = mimic.required("multiplier").text_number();
  const double offset = child_number(mimic, "offset", 0) - multiplier * child_number(mimic, "reference", 0);
  if (!std::isfinite(offset)) mimic.fail("multiplier times reference is too large for a number");
  return SdfJoint::Follows{.follower = follower,
                           .leader = contents_.find_joint(joint_.scope, leader, mimic),
                           .leader_axis = which == "axis2" ? 1 : 0,
                           .mimic = {.name = follower, .multiplier = multiplier, .offset = offset},
                           .place = mimic.place()};
}

// The pitch of a screw in metres per radian, right-handed. The newer screw_thread_pitch is in metres per revolution.
// The older thread_pitch is in radians per metre, and left-handed.
double screw_pitch(SdfContext& context, const SdfContents::Joint& joint) {
  const XmlElement& element = joint.element;
  if (element.child("screw_thread_pitch")) {
    return child_number(element, "screw_thread_pitch", 0) / (2 * std::numbers::pi);
  }
  const XmlElement old = element.child("thread_pitch");
  if (!old) {
    const bool by_revolution = joint.version >= SdfVersion{1, 10};
    context.warnings.add(element.place(), "sdf.thread_pitch",
                         fmt::format("a screw without a pitch is taken to have the format's own, {}",
                                     by_revolution ? "1 m per revolution" : "−1 rad per metre"));
    return by_revolution ? 1 / (2 * std::numbers::pi) : -1;
  }
  const double radians_per_metre = child_number(element, "thread_pitch", 1);
  if (!(std::abs(radians_per_metre) > 1e-12)) old.fail("<thread_pitch> is in radians per metre and must not be 0");
  return -1 / radians_per_metre;
}

// How a type of joint is read, not what it is: a revolute and a prismatic joint have one axis each.
enum class Kind { fixed, ball, one_axis, two_axes, gearbox };
struct SdfJointType {
  std::string_view name;
  Kind kind;
  JointType primitive = JointType::revolute;
};
constexpr SdfJointType kJointTypes[] = {{"revolute", Kind::one_axis},
                                        {"continuous", Kind::one_axis},
                                        {"prismatic", Kind::one_axis, JointType::prismatic},
                                        {"screw", Kind::one_axis, JointType::screw},
                                        {"universal", Kind::two_axes},
                                        {"revolute2", Kind::two_axes},
                                        {"ball", Kind::ball},
                                        {"fixed", Kind::fixed},
                                        {"gearbox", Kind::gearbox}};

// Looks up the type of a joint; an unknown one is an error that lists those there are.
const SdfJointType& type_of(const XmlElement& joint) {
  const std::string name = joint.required_attribute("type");
  std::string known;
  for (const SdfJointType& type : kJointTypes) {
    if (type.name == name) return type;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", type.name);
  }
  joint.fail(fmt::format("type=\"{}\" is no kind of joint: there are {}", shortened(name), known));
}

// Warns of what is unknown in a <joint>, or has no counterpart.
void check_joint(SdfContext& context, const XmlElement& joint) {
  check_contents(context, joint,
                 {.once = {"parent", "child", "pose", "axis", "axis2", "thread_pitch", "screw_thread_pitch", "physics",
                           "gearbox_ratio", "gearbox_reference_body"},
                  .left_out = {"sensor", "plugin"},
                  .attributes = {"name", "type"}});
  const XmlElement physics = joint.child("physics");
  if (physics) check_contents(context, physics, {.once = {"provide_feedback"}, .left_out = {"ode", "simbody"}});
}

// Reads the one or two axes of a joint. The primitive joints of one with two axes are called NAME.1 and NAME.2. A
// continuous joint has no limits of position, whatever <limit> says.
void read_axes(SdfContext& context, const SdfContents& contents, const SdfContents::Joint& joint,
               const SdfJointType& type, const std::string& name, SdfJoint& result) {
  AxisReader reader(context, contents, joint);
  const bool two = type.kind == Kind::two_axes;
  for (int i = 0; i < (two ? 2 : 1); ++i) {
    const XmlElement axis = joint.element.required(i == 0 ? "axis" : "axis2");
    Joint primitive;
    primitive.name = two ? fmt::format("{}.{}", name, i + 1) : name;
    primitive.type = type.primitive;
    if (type.primitive == JointType::screw) primitive.pitch = screw_pitch(context, joint);
    reader.read(axis, type.name != "continuous", primitive);
    if (const auto follows = reader.read_mimic(axis, primitive.name)) result.follows.push_back(*follows);
    result.joints.push_back(std::move(primitive));
  }
  if (two && (skew(result.joints[0].axis) * result.joints[1].axis).norm() < kParallel) {
    joint.element.fail(fmt::format("the two axes of joint {} are parallel, so they are one and the same", name));
  }
  if (!two && joint.element.child("axis2")) {
    context.warnings.add(joint.element.place(), "sdf.axis2",
                         fmt::format("joint {} is {} and has no second axis: axis2 is ignored", name, type.name));
  }
}

}  // namespace

SdfJoint read_sdf_joint(SdfContext& context, const SdfContents& contents, const SdfContents::Joint& joint) {
  check_joint(context, joint.element);
  const SdfJointType& type = type_of(joint.element);
  // <parent> and <child> may name any frame; what the joint connects are the links with which these move.
  const XmlElement parent = joint.element.required("parent");
  SdfJoint result = {.frame = joint.frame};
  result.parent =
      contents.frames.link_of(contents.frames.find_or_world(joint.scope, parent.text(), parent, "<parent>"));
  result.child = contents.frames.link_of(joint.frame);
  const std::string name = contents.name_of(joint.frame);
  if (result.parent == result.child) {
    joint.element.fail(fmt::format("joint {} connects {} with itself", name, contents.frames[result.child].name));
  }
  switch (type.kind) {
    case Kind::fixed: break;
    case Kind::ball:
      result.joints.push_back(ball(name));
      if (const XmlElement axis = joint.element.child("axis")) {
        context.warnings.add(axis.place(), "sdf.ball_axis",
                             fmt::format("joint {} is a ball: its axis is ignored", name));
      }
      break;
    case Kind::gearbox:
      result.in_use = false;
      context.warnings.add(joint.element.place(), "sdf.gearbox",
                           fmt::format("joint {} is a gearbox, which has no counterpart here: it is left out", name));
      break;
    default: read_axes(context, contents, joint, type, name, result); break;
  }
  return result;
}

// (A·B)⁻¹ = B⁻¹·A⁻¹: the joints in the other order, each about the opposite axis, so that the same q undoes the motion.
JointList reversed(const JointList& joints) {
  JointList result;
  for (auto joint = joints.rbegin(); joint != joints.rend(); ++joint) {
    result.push_back(*joint);
    result.back().axis = -joint->axis;
  }
  return result;
}

}  // namespace lithe::internal
