#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "lithe/dynamics/internal/mass_factor.h"
#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/mjcf/parts.h"
#include "lithe/io/mjcf/rules.h"

namespace lithe::internal::mjcf {

namespace {

constexpr std::size_t kMostJointsOfATendon = 100;

// The law of a linear actuator: force = gain·control + bias − stiffness·length − damping·velocity, and torque =
// gear·force, where length = gear·qpos and velocity = gear·v. MuJoCo's motor, position and velocity are of this kind,
// and so is general with an affine bias.
struct Law {
  Actuator::Kind kind = Actuator::Kind::effort;
  double gain = 1, bias = 0;
  double stiffness = 0;      // of a position servo
  double damping = 0;        // of a servo
  double damping_ratio = 0;  // in place of the damping, where positive
};

// What an actuator acts on: one joint with qpos = q + ref, by this gear. `parts` are all joints at which it pulls, with
// their gears; there are several where joints follow one another.
struct Drive {
  JointPlace joint;
  double gear = 1, ref = 0;
  std::vector<std::pair<JointPlace, double>> parts = {};
};

using Control = MujocoLayout::Control;

// The mass that a force along some direction of the joints has to move, all else being free, in the pose of the file:
// 1/(J M⁻¹ Jᵀ). It builds a model of the bodies alone, because the model itself is not complete yet.
class EffectiveMass {
 public:
  explicit EffectiveMass(const Context& context) {
    ModelBuilder builder;
    add_bodies(context, builder);
    model_ = builder.build();
    Kinematics kin;
    MassMatrix M;
    kinematics(model_, pose_of_the_file(context.scene, model_), kin);
    mass_matrix(model_, kin, M);
    factorize(model_, M, factor_);
  }

  int nv() const { return model_.nv(); }
  double along(const VecX& direction) const {
    MatX motion = direction;
    solve_in_place(model_, factor_, motion);
    const double yielding = direction.dot(motion.col(0));
    return yielding > 0 ? 1 / yielding : 0;
  }

 private:
  Model model_ = ModelBuilder().build();
  MassFactor factor_;
};

// Reads the children of <actuator>. Each takes a place among the controls, also one that is left out, so that ctrl
// keeps its order.
class ActuatorReader {
 public:
  explicit ActuatorReader(Context& context) : context_(context), scene_(context.scene) {}

  // Reads one actuator. `section` is the <actuator> in which it stands, for warnings.
  void read(const XmlElement& element, const XmlElement& section) {
    if (!is_actuator(element.name())) {
      context_.warn_of_unknown(element, section);
      return;
    }
    check_attributes(element, kActuatorRules, context_.warnings);
    const Attributes attributes = context_.defaults.attributes(element, Kind::actuator);
    const char* name = attributes.name();
    controls().push_back({.name = name ? name : ""});
    if (!context_.physics.actuation) return;
    // Both functions warn of what they leave out. The control is there already, and has no effect then.
    const std::optional<Law> law = read_law(attributes);
    if (!law) return;
    const std::optional<Drive> drive = read_drive(attributes);
    if (drive) add(attributes, *law, *drive);
  }

  // To be called when all actuators are read. A joint that only efforts drive is as strong as they are together. A
  // servo has a bound of its own.
  void finish() {
    for (const auto& [joint, strength] : strengths_) {
      if (has_servo_.contains(joint)) continue;
      double& limit = scene_.bodies[joint >> 8].joints[joint & 0xff].properties.effort_limit;
      limit = std::min(limit, strength);
    }
  }

 private:
  std::vector<Control>& controls() { return context_.loaded.mujoco.controls; }

  // Warns that an actuator is left out, and why.
  void leave_out(const Attributes& attributes, std::string_view kind, std::string_view why) {
    context_.warnings.add(attributes.place(), fmt::format("mjcf.actuator.{}", kind),
                          fmt::format("<{}> is left out: {}", attributes.element().name(), why));
  }

  // The law of an actuator by its kind, or nothing for kinds that have none of this form, such as muscles.
  std::optional<Law> read_law(const Attributes& attributes) {
    const std::string_view kind = attributes.element().name();
    if (kind == "motor") return Law{};
    if (kind == "velocity") {
      const double kv = gain(attributes, "kv", 1);
      return Law{.kind = Actuator::Kind::velocity, .gain = kv, .damping = kv};
    }
    if (kind == "general") return read_general(attributes);
    if (kind != "position") {
      leave_out(attributes, kind, "known are motor, position, velocity and general ones like them");
      return std::nullopt;
    }
    if (attributes.number_or("timeconst", 0) != 0) {
      context_.warnings.add(attributes.place(), "mjcf.actuator.timeconst",
                            "timeconst of <position> is not honoured: targets act at once");
    }
    const double kp = gain(attributes, "kp", 1);
    return Law{.kind = Actuator::Kind::position,
               .gain = kp,
               .stiffness = kp,
               .damping = gain(attributes, "kv", 0),
               .damping_ratio = gain(attributes, "dampratio", 0)};
  }

  // A gain. It must not be negative, or the actuator would push away from its target.
  double gain(const Attributes& attributes, const char* name, double otherwise) const {
    const double value = attributes.number_or(name, otherwise);
    if (value < 0) attributes.fail(name, "it must not be negative");
    return value;
  }

  // The law of <general>: gainprm and biasprm are lists of which the first one and the first three numbers count. The
  // affine bias is b₀ + b₁·length + b₂·velocity, so a servo has b₁, b₂ ≤ 0. Without b₁ and b₂ it is a motor.
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
    const Vec3 bias = bias_type == "affine" ? Vec3(parameters("biasprm", 0).head<3>()) : Vec3(Vec3::Zero());
    if (at_once && fixed && (bias_type == "none" || bias_type == "affine")) {
      if (bias[1] == 0 && bias[2] == 0) return Law{.gain = g, .bias = bias[0]};
      // A positive third number is a damping ratio, as MuJoCo's <position dampratio> writes it, where the law is that of a servo.
      const double ratio = bias[2] > 0 && bias[1] == -g ? bias[2] : 0;
      const bool stable = bias[1] <= 0 && (bias[2] <= 0 || ratio > 0);
      if (stable) {
        return Law{.kind = bias[1] < 0 ? Actuator::Kind::position : Actuator::Kind::velocity,
                   .gain = g,
                   .bias = bias[0],
                   .stiffness = -bias[1],
                   .damping = ratio > 0 ? 0 : -bias[2],
                   .damping_ratio = ratio};
      }
    }
    leave_out(
        attributes, "general",
        "it has dynamics, a gain that depends on the motion, or a bias that pushes away from its target; known are "
        "gaintype=\"fixed\" with biastype=\"none\" or \"affine\" (biasprm = any, ≤ 0, ≤ 0)");
    return std::nullopt;
  }

  // What the actuator acts on. Of the six numbers of `gear` the first is for hinges, slides and tendons; the others are
  // for balls, free joints and sites, which are left out.
  std::optional<Drive> read_drive(const Attributes& attributes) {
    const double gear = attributes.filled("gear", VecX::Unit(6, 0))[0];
    const auto none = [&](std::string_view kind, std::string_view why) {
      leave_out(attributes, kind, why);
      return std::nullopt;
    };
    for (const char* other : {"site", "body", "slidersite", "cranksite"}) {
      if (attributes.has(other)) return none(other, fmt::format("it acts on a {}; only joints are driven", other));
    }
    if (gear == 0) return none("gear", "its gear is 0");
    if (attributes.has("tendon")) return read_tendon_drive(attributes, gear);
    const bool directly = attributes.has("joint");
    if (!directly && !attributes.has("jointinparent")) attributes.element().fail("the actuator needs a joint");
    const JointPlace place = scene_.find_joint(attributes.element(), directly ? "joint" : "jointinparent");
    const JointPart& joint = scene_.joint(place);
    if (!joint.has_one_dof()) {
      return none("many_dofs", "it drives a ball or free joint; only hinges and slides are driven");
    }
    if (joint.locked) return none("locked", fmt::format("its joint {} moves no mass and is locked", joint.name));
    return Drive{place, gear, joint.ref, {{place, gear}}};
  }

  // The joint that `place` follows in the end, through others if need be, and how: q = multiplier·q_source + offset.
  Following source_of(JointPlace place) const {
    Following sum{.source = place, .multiplier = 1, .offset = 0};
    for (auto at = scene_.follows.find(key(place)); at != scene_.follows.end();
         at = scene_.follows.find(key(sum.source))) {
      sum.offset += sum.multiplier * at->second.offset;
      sum.multiplier *= at->second.multiplier;
      sum.source = at->second.source;
    }
    return sum;
  }

  // A fixed tendon as a drive of one joint. That is possible where all its joints follow one of them, as a gripper's
  // fingers do; it is then that joint with another gear: length = Σ cᵢ qposᵢ = Σ cᵢ (mᵢ q + oᵢ + refᵢ) = C·(q + D/C).
  std::optional<Drive> drive_of(const TendonPart& tendon) const {
    if (!tendon.fixed || tendon.joints.empty() || tendon.joints.size() > kMostJointsOfATendon) return std::nullopt;
    Drive drive{.joint = source_of(tendon.joints.front().first).source};
    double C = 0, D = 0;
    for (const auto& [place, coefficient] : tendon.joints) {
      const Following way = source_of(place);
      if (key(way.source) != key(drive.joint) || scene_.joint(place).locked) return std::nullopt;
      C += coefficient * way.multiplier;
      D += coefficient * (way.offset + scene_.joint(place).ref);
      drive.parts.emplace_back(place, coefficient);
    }
    if (C == 0) return std::nullopt;
    drive.gear = C;
    drive.ref = D / C;
    return drive;
  }

  // The drive of an actuator that pulls at a tendon; nothing, with a warning, where the tendon is not like a joint.
  std::optional<Drive> read_tendon_drive(const Attributes& attributes, double gear) {
    const std::string name = attributes.text("tendon");
    const auto found = scene_.tendons.find(name);
    if (found == scene_.tendons.end()) {
      attributes.element().fail(
          fmt::format("<{}> names an unknown tendon \"{}\"", attributes.element().name(), shortened(name)));
    }
    // Many actuators may pull at one tendon, which is looked at once.
    auto known = tendon_drives_.find(name);
    if (known == tendon_drives_.end()) known = tendon_drives_.emplace(name, drive_of(found->second)).first;
    std::optional<Drive> drive = known->second;
    if (!drive) {
      leave_out(attributes, "tendon",
                "it pulls at a tendon; known are fixed tendons over joints of which all but one follow that one "
                "(<equality> <joint>)");
      return std::nullopt;
    }
    drive->gear *= gear;
    for (auto& part : drive->parts) part.second *= gear;
    return drive;
  }

  // Adds an actuator that has a law and a drive: to the list of actuators, to the controls, and if it is a servo, as a
  // motor of the model.
  void add(const Attributes& attributes, const Law& law, const Drive& drive) {
    const JointPart& joint = scene_.joint(drive.joint);
    Actuator actuator{.name = name_of(attributes, joint), .joint = joint.name, .kind = law.kind};
    Control& control = controls().back();
    control.name = actuator.name;
    const auto range = read_limited_range(attributes, "ctrlrange", "ctrllimited", context_);
    if (range && context_.physics.clamp_controls) {
      control.lower = (*range)[0];
      control.upper = (*range)[1];
    }
    const auto force = read_limited_range(attributes, "forcerange", "forcelimited", context_);
    if (law.kind == Actuator::Kind::effort) {
      set_effort(law, drive.gear, force, actuator, control);
      control.dof = joint.v_index;
      strengths_[key(drive.joint)] += strength_of(actuator);
    } else {
      has_servo_.insert(key(drive.joint));
      set_target(attributes, law, drive, actuator, control);
      add_motor(attributes, law, drive, force, actuator);
    }
    context_.loaded.actuators.push_back(std::move(actuator));
  }

  // The actuator's own name, or one that is made of the joint's.
  std::string name_of(const Attributes& attributes, const JointPart& joint) {
    const char* name = attributes.name();
    return names_.unique(name ? std::string(name) : joint.name + "_actuator");
  }

  // The largest effort of which an actuator is capable, N·m or N at the joint.
  static double strength_of(const Actuator& effort) {
    if (effort.gear == 0) return std::abs(effort.bias);  // 0·∞ is no number
    return std::max(std::abs(effort.gear * effort.lower + effort.bias),
                    std::abs(effort.gear * effort.upper + effort.bias));
  }

  // Fills in an actuator that is an effort: tau = gear·(gain·control + bias). A bound of the force is one of the
  // control as well.
  static void set_effort(const Law& law, double gear, const std::optional<VecX>& force, Actuator& actuator,
                         Control& control) {
    control.kind = Control::Kind::effort;
    control.scale = law.gain;
    control.offset = law.bias;
    control.gear = gear;
    actuator.gear = gear * law.gain;
    actuator.bias = gear * law.bias;
    actuator.lower = control.lower;
    actuator.upper = control.upper;
    if (!force) return;
    control.lower_force = (*force)[0];
    control.upper_force = (*force)[1];
    if (law.gain == 0) return;
    const double a = ((*force)[0] - law.bias) / law.gain, b = ((*force)[1] - law.bias) / law.gain;
    actuator.lower = std::max(actuator.lower, std::min(a, b));
    actuator.upper = std::max(actuator.lower, std::min(actuator.upper, std::max(a, b)));
  }

  // Fills in a servo. A motor's target is the joint's own position or velocity at which the force is 0:
  // gain·control + bias = stiffness·gear·(q + ref), or = damping·gear·v.
  void set_target(const Attributes& attributes, const Law& law, const Drive& drive, Actuator& actuator,
                  Control& control) const {
    const bool position = law.kind == Actuator::Kind::position;
    const double per_unit = (position ? law.stiffness : law.damping) * drive.gear;
    control.kind = position ? Control::Kind::position : Control::Kind::velocity;
    control.scale = per_unit == 0 ? 0 : law.gain / per_unit;
    control.offset = (per_unit == 0 ? 0 : law.bias / per_unit) - (position ? drive.ref : 0);
    control.gear = drive.gear;
    // With inheritrange the range of the target is so much of the joint's range, about the same middle.
    const double share = attributes.number_or("inheritrange", 0);
    const Joint& limits = scene_.joint(drive.joint).properties;
    if (position && share > 0 && std::isfinite(limits.lower) && std::isfinite(limits.upper)) {
      const double middle = 0.5 * (limits.lower + limits.upper), half = 0.5 * share * (limits.upper - limits.lower);
      actuator.lower = middle - half;
      actuator.upper = middle + half;
      if (control.scale != 0 && context_.physics.clamp_controls) {
        const double a = (actuator.lower - control.offset) / control.scale;
        const double b = (actuator.upper - control.offset) / control.scale;
        control.lower = std::min(a, b);
        control.upper = std::max(a, b);
      }
    } else if (std::isfinite(control.lower) && std::isfinite(control.upper)) {
      const double a = control.scale * control.lower + control.offset;
      const double b = control.scale * control.upper + control.offset;
      actuator.lower = std::min(a, b);
      actuator.upper = std::max(a, b);
    }
  }

  // Adds the motor of a servo:
  // torque = gear·(gain·control + bias − stiffness·gear·(q + ref) − damping·gear·v)
  //        = stiffness·gear²·(target − q) − damping·gear²·v.
  void add_motor(const Attributes& attributes, const Law& law, const Drive& drive, const std::optional<VecX>& force,
                 const Actuator& actuator) {
    Motor motor{.name = actuator.name};
    const bool position = law.kind == Actuator::Kind::position;
    const double square = drive.gear * drive.gear;
    motor.target = position ? Motor::Target::position : Motor::Target::velocity;
    motor.stiffness = law.stiffness * square;
    motor.damping = (law.damping_ratio > 0 ? critical_damping(attributes, law, drive) : law.damping) * square;
    if (force) {
      motor.max_effort = std::abs(drive.gear) * force->cwiseAbs().maxCoeff();
      if (-(*force)[0] != (*force)[1]) {
        context_.warnings.add(attributes.place(), "mjcf.actuator.forcerange",
                              "forcerange is not the same in both directions; the larger end is used for both");
      }
    }
    at_line(attributes.element(), [&] { context_.loaded.builder.add_motor(actuator.joint, motor); });
    controls().back().motor = motors_++;
  }

  // The damping that `dampratio` means. A ratio of 1 is critical for the mass that the actuator moves in the pose of
  // the file: kv = ratio·2·√(kp·mass). (MuJoCo 4 does it so; before, MuJoCo took the mass matrix's diagonal.)
  double critical_damping(const Attributes& attributes, const Law& law, const Drive& drive) {
    if (!effective_mass_) effective_mass_.emplace(context_);
    const double nv = effective_mass_->nv();
    // Each one is a solution of equations of the size of the model.
    if (++damping_ratios_ * nv * nv > 2e9) {
      attributes.fail("dampratio", "there are too many of them for a model of this size: give kv as a number");
    }
    VecX direction = VecX::Zero(effective_mass_->nv());
    for (const auto& [place, gear] : drive.parts) direction[scene_.joint(place).v_index] += gear;
    return law.damping_ratio * 2 * std::sqrt(law.stiffness * effective_mass_->along(direction));
  }

  Context& context_;
  Scene& scene_;
  NameSet names_;
  int motors_ = 0;
  std::optional<EffectiveMass> effective_mass_;  // once something asks for it
  int damping_ratios_ = 0;
  std::unordered_map<std::string, std::optional<Drive>> tendon_drives_;  // by a gear of 1
  std::unordered_map<std::int64_t, double> strengths_;                   // of all efforts on a joint together
  std::unordered_set<std::int64_t> has_servo_;                           // joints that a servo drives
};

}  // namespace

void read_actuators(Context& context, const std::vector<XmlElement>& sections) {
  ActuatorReader reader(context);
  for (const XmlElement& section : sections) {
    for (const XmlElement& element : context.includes.children(section)) reader.read(element, section);
  }
  reader.finish();
}

}  // namespace lithe::internal::mjcf
