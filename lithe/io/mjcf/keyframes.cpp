#include <algorithm>
#include <cmath>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/mjcf/parts.h"
#include "lithe/model/configuration.h"
#include "lithe/spatial/rotation.h"

namespace lithe::internal::mjcf {

namespace {

constexpr NotHonoured kKeyNotHonoured[] = {
    {"act", "actuators have no state of their own"},
    {"plastic", "springs do not yield"},
};
// mpos and mquat are of mocap bodies, which have their own warning.
constexpr AttributeRules kKeyRules = {"name time qpos qvel ctrl mpos mquat", kKeyNotHonoured};

// A quaternion of MuJoCo's (w, x, y, z) in Lithe's order, normalised. Files have zeros where somebody forgot the 1;
// MuJoCo takes them for no rotation, and so does this, with a warning.
Vec4 reordered(const Vec4& wxyz, const Attributes& attributes, WarningList& warnings) {
  const double length = wxyz.norm();
  if (length > 1e-9) return Vec4(wxyz[1], wxyz[2], wxyz[3], wxyz[0]) / length;
  warnings.add(attributes.place(), "mjcf.key.quaternion",
               "a quaternion in qpos is 0 0 0 0; it is taken for no rotation, 1 0 0 0");
  return quaternion_identity();
}

// Translates qpos into q. Both list the same numbers in the same order, but quaternions differ in their order and
// hinges and slides in what they call 0.
VecX configuration(const Scene& scene, const VecX& qpos, const Attributes& attributes, WarningList& warnings) {
  VecX q = qpos;
  for (const BodyPart& body : scene.bodies) {
    for (const JointPart& joint : body.joints) {
      if (joint.locked) continue;
      if (joint.has_one_dof()) {
        q[joint.q_index] -= joint.ref;
        continue;
      }
      const int at = joint.q_index + (joint.type == JointPart::Type::free ? 3 : 0);
      q.segment<4>(at) = reordered(qpos.segment<4>(at), attributes, warnings);
    }
  }
  return q;
}

// Sets the motor targets for which the controls of a keyframe ask. Efforts are none of a keyframe's numbers here.
void read_controls(Context& context, const Attributes& attributes, const VecX& ctrl, Keyframe& key) {
  const std::vector<MujocoLayout::Control>& controls = context.loaded.mujoco.controls;
  for (std::size_t i = 0; i < controls.size(); ++i) {
    const MujocoLayout::Control& control = controls[i];
    const double u = ctrl[static_cast<Eigen::Index>(i)];
    if (control.motor >= 0) {
      key.motor_targets[control.motor] = control.scale * std::clamp(u, control.lower, control.upper) + control.offset;
    } else if (u != 0) {
      context.warnings.add(attributes.place(), "mjcf.key.ctrl",
                           "ctrl: only the targets of servos are kept, no efforts");
    }
  }
}

// Sets the targets of a keyframe that says nothing of controls: its position servos hold its pose, because a robot that
// somebody has put on its feet is to stand. A target must be within what the control's range allows.
void hold(const LoadedModel& loaded, Keyframe& key) {
  for (std::size_t m = 0; m < loaded.model.motors().size(); ++m) {
    const Motor& motor = loaded.model.motors()[m];
    if (motor.target == Motor::Target::position) {
      key.motor_targets[static_cast<Eigen::Index>(m)] = key.q[loaded.model.joints()[motor.joint].q_index];
    }
  }
  for (const MujocoLayout::Control& control : loaded.mujoco.controls) {
    if (control.kind != MujocoLayout::Control::Kind::position) continue;
    double& target = key.motor_targets[control.motor];
    const double a = control.scale * control.lower + control.offset, b = control.scale * control.upper + control.offset;
    if (!std::isnan(a) && !std::isnan(b)) target = std::clamp(target, std::min(a, b), std::max(a, b));
  }
}

// The numbers of one list of a keyframe; nothing if it is absent. A list of the wrong length is an error, unless parts
// of the model are left out: then it is a warning, and the list is not read.
std::optional<VecX> read_list(Context& context, const Attributes& attributes, const char* name, Eigen::Index wanted) {
  const std::optional<VecX> numbers = attributes.numbers(name, 0, 10'000'000);
  if (!numbers) return std::nullopt;
  if (numbers->size() == wanted) return numbers;
  if (!context.scene.incomplete) {
    attributes.element().fail(fmt::format("{} has {} numbers, but the model has {}", name, numbers->size(), wanted));
  }
  context.warnings.add(attributes.place(), "mjcf.key.size",
                       fmt::format("{} is not read: it speaks of parts that are left out", name));
  return std::nullopt;
}

// Reads a <key>. Lists that are absent are those of the state in which the model starts.
void read_key(Context& context, const XmlElement& element, NameSet& names) {
  check_attributes(element, kKeyRules, context.warnings);
  const Attributes attributes(element);
  const LoadedModel& loaded = context.loaded;
  // Names of keyframes are made unique, so that each can be asked for.
  Keyframe key{.name = names.unique(attributes.name() ? attributes.name() : "key"),
               .time = attributes.number_or("time", 0),
               .q = loaded.q,
               .v = loaded.v,
               .motor_targets = loaded.motor_targets};
  if (const auto qpos = read_list(context, attributes, "qpos", loaded.q.size())) {
    key.q = configuration(context.scene, *qpos, attributes, context.warnings);
  }
  if (const auto qvel = read_list(context, attributes, "qvel", loaded.v.size())) key.v = *qvel;
  const auto controls = static_cast<Eigen::Index>(loaded.mujoco.controls.size());
  if (const auto ctrl = read_list(context, attributes, "ctrl", controls)) {
    read_controls(context, attributes, *ctrl, key);
  } else {
    hold(loaded, key);
  }
  context.loaded.keyframes.push_back(std::move(key));
}

}  // namespace

VecX pose_of_the_file(const Scene& scene, const Model& model) {
  // Free joints are where the file puts their bodies; every other joint is at 0 there.
  VecX q = neutral_configuration(model);
  for (const BodyPart& body : scene.bodies) {
    for (const JointPart& joint : body.joints) {
      if (joint.type != JointPart::Type::free || joint.locked) continue;
      q.segment<3>(joint.q_index) = body.X_PB.p;
      q.segment<4>(joint.q_index + 3) = quaternion_from_rotation(body.X_PB.R);
    }
  }
  return q;
}

void set_initial_state(Context& context) {
  context.loaded.q = pose_of_the_file(context.scene, context.loaded.model);
  // A servo's control is 0 unless something else is said.
  for (const MujocoLayout::Control& control : context.loaded.mujoco.controls) {
    if (control.motor < 0) continue;
    context.loaded.motor_targets[control.motor] =
        control.scale * std::clamp(0.0, control.lower, control.upper) + control.offset;
  }
}

void read_keyframes(Context& context, const std::vector<XmlElement>& sections, int count) {
  NameSet names;
  // Each keyframe is as large as the state, so hostile files could multiply the two.
  constexpr std::int64_t kMostNumbers = 4'000'000;
  const std::int64_t size = context.loaded.q.size() + context.loaded.v.size() + context.loaded.motor_targets.size() + 1;
  const auto check_room = [&](const XmlElement& element, std::int64_t keys) {
    if (keys * size > kMostNumbers) element.fail(fmt::format("the keyframes have more than {} numbers", kMostNumbers));
  };
  for (const XmlElement& section : sections) {
    for (const XmlElement& element : context.includes.children(section)) {
      if (element.name() != "key") {
        context.warn_of_unknown(element, section);
        continue;
      }
      check_room(element, static_cast<std::int64_t>(context.loaded.keyframes.size()) + 1);
      read_key(context, element, names);
    }
  }
  // MuJoCo has as many keyframes as <size nkey> says; those that the file does not give are its initial state.
  check_room(context.root, count);
  const LoadedModel& loaded = context.loaded;
  while (static_cast<int>(loaded.keyframes.size()) < count) {
    context.loaded.keyframes.push_back({names.unique("key"), 0, loaded.q, loaded.v, loaded.motor_targets});
  }
}

}  // namespace lithe::internal::mjcf
