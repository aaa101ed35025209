#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "lithe/io/mjcf_parts.h"
#include "lithe/io/mjcf_rules.h"
#include "lithe/io/reader_parts.h"

namespace lithe::mjcf {

namespace {

// A linear actuator: force = gain·control + bias·length − damping·velocity, and torque = gear·force, where length = gear·position and
// velocity = gear·v. MuJoCo's motor, position and velocity are of this kind; so is general, with an affine bias.
struct Law {
  Actuator::Kind kind = Actuator::Kind::effort;
  double gain = 1;     // of the control
  double damping = 0;  // of a position servo
};

class ActuatorReader {
 public:
  explicit ActuatorReader(Context& context) : context_(context), scene_(context.scene) {}

  void read(const XmlElement& element, const XmlElement& section) {
    const std::string_view kind = element.name();
    if (!is_actuator(kind)) {
      context_.warn_of_unknown(element, section);
      return;
    }
    check_attributes(element, kActuatorRules, context_.warnings);
    scene_.controls.emplace_back();
    const Attributes attributes = context_.defaults.attributes(element, Kind::actuator);
    const std::optional<Law> law = read_law(attributes);
    if (!law || !moves_one_joint(attributes)) return;
    const char* by = attributes.has("joint") ? "joint" : "jointinparent";
    add(attributes, *law, scene_.find_joint(element, by));
  }

  // A joint that only efforts drive is as strong as they are together.
  void finish() {
    for (const auto& [joint, strength] : strengths_) {
      if (has_servo_.contains(joint)) continue;
      double& limit = scene_.bodies[joint >> 8].joints[joint & 0xff].properties.effort_limit;
      limit = std::min(limit, strength);
    }
  }

 private:
  void leave_out(const Attributes& attributes, std::string_view kind, std::string_view why) {
    context_.warnings.add(attributes.place(), fmt::format("mjcf.actuator.{}", kind),
                          fmt::format("<{}> is left out: {}", attributes.element().name(), why));
  }

  std::optional<Law> read_law(const Attributes& attributes) {
    const std::string_view kind = attributes.element().name();
    if (kind == "motor") return Law{};
    if (kind == "velocity") return Law{Actuator::Kind::velocity, gain(attributes, "kv", 1), 0};
    if (kind == "general") return read_general(attributes);
    if (kind != "position") {
      leave_out(attributes, kind, "known are motor, position, velocity and general ones like them");
      return std::nullopt;
    }
    for (const char* name : {"dampratio", "timeconst"}) {
      if (attributes.number_or(name, 0) == 0) continue;
      context_.warnings.add(attributes.place(), fmt::format("mjcf.actuator.{}", name),
                            fmt::format("{} of <position> is not honoured: give kv as a number", name));
    }
    return Law{Actuator::Kind::position, gain(attributes, "kp", 1), gain(attributes, "kv", 0)};
  }

  double gain(const Attributes& attributes, const char* name, double otherwise) const {
    const double value = attributes.number_or(name, otherwise);
    if (value < 0) attributes.fail(name, "it must not be negative");
    return value;
  }

  std::optional<Law> read_general(const Attributes& attributes) {
    const bool at_once = !attributes.has("dyntype") || std::string_view(attributes.text("dyntype")) == "none";
    const bool fixed = !attributes.has("gaintype") || std::string_view(attributes.text("gaintype")) == "fixed";
    const std::string_view bias_type = attributes.has("biastype") ? attributes.text("biastype") : "none";
    const auto parameters = [&](const char* name, double first) {
      const std::optional<VecX> given = attributes.numbers(name, 0, 20);
      VecX all = VecX::Zero(20);
      all[0] = first;
      if (given) all.head(given->size()) = *given;
      return all;
    };
    const double g = parameters("gainprm", 1)[0];
    const VecX bias = parameters("biasprm", 0);
    const bool unbiased = bias_type == "none" || (bias_type == "affine" && bias.head<3>().isZero(0));
    if (at_once && fixed && unbiased) return Law{Actuator::Kind::effort, g, 0};
    const bool affine = at_once && fixed && bias_type == "affine" && bias[0] == 0 && g > 0;
    if (affine && bias[1] == -g && bias[2] <= 0) return Law{Actuator::Kind::position, g, -bias[2]};
    if (affine && bias[1] == 0 && bias[2] == -g) return Law{Actuator::Kind::velocity, g, 0};
    leave_out(
        attributes, "general",
        "its law is neither that of a motor, nor of a position servo (biasprm = 0, −gainprm, −kv), nor of a velocity "
        "servo (biasprm = 0, 0, −gainprm), without dynamics");
    return std::nullopt;
  }

  bool moves_one_joint(const Attributes& attributes) {
    for (const char* other : {"tendon", "site", "body", "slidersite", "cranksite"}) {
      if (!attributes.has(other)) continue;
      leave_out(attributes, other, fmt::format("it acts on a {}; only joints are driven", other));
      return false;
    }
    const bool directly = attributes.has("joint");
    if (!directly && !attributes.has("jointinparent")) attributes.element().fail("the actuator needs a joint");
    const JointPlace place = scene_.find_joint(attributes.element(), directly ? "joint" : "jointinparent");
    if (scene_.joint(place).has_one_dof()) return true;
    leave_out(attributes, "many_dofs", "it drives a ball or free joint; only hinges and slides are driven");
    return false;
  }

  void add(const Attributes& attributes, const Law& law, const JointPlace& place) {
    const double gear = attributes.filled("gear", VecX::Unit(6, 0))[0];
    if (gear == 0) {
      leave_out(attributes, "gear", "its gear is 0");
      return;
    }
    const JointPart& joint = scene_.joint(place);
    Actuator actuator{.name = name_of(attributes, joint), .joint = joint.name, .kind = law.kind};
    const auto control = read_limited_range(attributes, "ctrlrange", "ctrllimited", context_);
    const auto force = read_limited_range(attributes, "forcerange", "forcelimited", context_);
    if (law.kind == Actuator::Kind::effort) {
      set_effort(law, gear, control, force, actuator);
      const double largest = std::max(std::abs(actuator.lower), std::abs(actuator.upper));
      strengths_[key(place)] += std::abs(actuator.gear) * largest;
    } else {
      has_servo_.insert(key(place));
      set_target_range(attributes, gear, control, joint, actuator);
      add_motor(attributes, law, gear, joint.ref, force, actuator);
    }
    context_.loaded.actuators.push_back(std::move(actuator));
  }

  std::string name_of(const Attributes& attributes, const JointPart& joint) {
    const char* name = attributes.name();
    return names_.unique(name ? std::string(name) : joint.name + "_actuator");
  }

  // tau = gear·gain·control; a bound of the force is one of the control.
  static void set_effort(const Law& law, double gear, const std::optional<VecX>& control,
                         const std::optional<VecX>& force, Actuator& actuator) {
    actuator.gear = gear * law.gain;
    if (control) {
      actuator.lower = (*control)[0];
      actuator.upper = (*control)[1];
    }
    if (!force || law.gain == 0) return;
    const double a = (*force)[0] / law.gain, b = (*force)[1] / law.gain;
    actuator.lower = std::max(actuator.lower, std::min(a, b));
    actuator.upper = std::max(actuator.lower, std::min(actuator.upper, std::max(a, b)));
  }

  // A motor's target is the joint's own position or velocity: control/gear, and a position counts from the file's pose.
  void set_target_range(const Attributes& attributes, double gear, const std::optional<VecX>& control,
                        const JointPart& joint, Actuator& actuator) const {
    const bool position = actuator.kind == Actuator::Kind::position;
    const double share = attributes.number_or("inheritrange", 0);
    const Joint& limits = joint.properties;
    if (position && share > 0 && std::isfinite(limits.lower) && std::isfinite(limits.upper)) {
      const double middle = 0.5 * (limits.lower + limits.upper), half = 0.5 * share * (limits.upper - limits.lower);
      actuator.lower = middle - half;
      actuator.upper = middle + half;
    } else if (control) {
      const VecX targets = *control / gear - VecX::Constant(2, position ? joint.ref : 0);
      actuator.lower = targets.minCoeff();
      actuator.upper = targets.maxCoeff();
    }
  }

  // torque = gear·(gain·(control − gear·q) − damping·gear·v) = gain·gear²·(control/gear − q) − damping·gear²·v.
  void add_motor(const Attributes& attributes, const Law& law, double gear, double ref,
                 const std::optional<VecX>& force, const Actuator& actuator) {
    Motor motor{.name = actuator.name};
    const bool position = law.kind == Actuator::Kind::position;
    motor.target = position ? Motor::Target::position : Motor::Target::velocity;
    motor.stiffness = position ? law.gain * gear * gear : 0;
    motor.damping = (position ? law.damping : law.gain) * gear * gear;
    if (force) {
      motor.max_effort = std::abs(gear) * force->cwiseAbs().maxCoeff();
      if (-(*force)[0] != (*force)[1]) {
        context_.warnings.add(attributes.place(), "mjcf.actuator.forcerange",
                              "forcerange is not the same in both directions; the larger end is used for both");
      }
    }
    at_line(attributes.element(), [&] { context_.loaded.builder.add_motor(actuator.joint, motor); });
    scene_.controls.back() = {.motor = motors_++, .gear = gear, .ref = position ? ref : 0};
  }

  Context& context_;
  Scene& scene_;
  NameSet names_;
  int motors_ = 0;
  std::unordered_map<std::int64_t, double> strengths_;  // of the efforts on a joint
  std::unordered_set<std::int64_t> has_servo_;
};

}  // namespace

void read_actuators(Context& context, const std::vector<XmlElement>& sections) {
  ActuatorReader reader(context);
  for (const XmlElement& section : sections) {
    for (const XmlElement& element : context.includes.children(section)) reader.read(element, section);
  }
  reader.finish();
}

}  // namespace lithe::mjcf
