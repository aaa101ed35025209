#include "lithe/io/mjcf_parts.h"
#include "lithe/io/reader_parts.h"
#include "lithe/spatial/rotation.h"

namespace lithe::mjcf {

namespace {

constexpr NotHonoured kKeyNotHonoured[] = {
    {"act", "actuators have no state of their own"},
    {"plastic", "springs do not yield"},
};
// mpos and mquat are of mocap bodies, which have their own warning.
constexpr AttributeRules kKeyRules = {"name time qpos qvel ctrl mpos mquat", kKeyNotHonoured};

// MuJoCo's quaternion (w, x, y, z) in our order.
Vec4 reordered(const Vec4& wxyz, const Attributes& attributes) {
  const double length = wxyz.norm();
  if (!(length > 1e-9)) attributes.fail("qpos", "a quaternion in it has length 0");
  return Vec4(wxyz[1], wxyz[2], wxyz[3], wxyz[0]) / length;
}

// qpos lists the same numbers as q, in the same order, but for quaternions and for what a joint calls 0.
VecX configuration(const Scene& scene, const VecX& qpos, const Attributes& attributes) {
  VecX q = qpos;
  Eigen::Index at = 0;
  for (const BodyPart& body : scene.bodies) {
    for (const JointPart& joint : body.joints) {
      if (joint.has_one_dof()) {
        q[at++] -= joint.ref;
        continue;
      }
      if (joint.type == JointPart::Type::free) at += 3;
      q.segment<4>(at) = reordered(qpos.segment<4>(at), attributes);
      at += 4;
    }
  }
  return q;
}

// The numbers of one list of a keyframe; nothing where there is none, or where it cannot fit.
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

void read_key(Context& context, const XmlElement& element, NameSet& names) {
  check_attributes(element, kKeyRules, context.warnings);
  const Attributes attributes(element);
  const LoadedModel& loaded = context.loaded;
  Keyframe key{.name = names.unique(attributes.name() ? attributes.name() : "key"),
               .time = attributes.number_or("time", 0),
               .q = loaded.q,
               .v = loaded.v,
               .motor_targets = loaded.motor_targets};
  if (const auto qpos = read_list(context, attributes, "qpos", loaded.q.size())) {
    key.q = configuration(context.scene, *qpos, attributes);
  }
  if (const auto qvel = read_list(context, attributes, "qvel", loaded.v.size())) key.v = *qvel;
  const auto& controls = context.scene.controls;
  if (const auto ctrl = read_list(context, attributes, "ctrl", static_cast<Eigen::Index>(controls.size()))) {
    for (std::size_t i = 0; i < controls.size(); ++i) {
      const double control = (*ctrl)[static_cast<Eigen::Index>(i)];
      if (controls[i].motor >= 0) {
        key.motor_targets[controls[i].motor] = control / controls[i].gear - controls[i].ref;
      } else if (control != 0) {
        context.warnings.add(element.place(), "mjcf.key.ctrl", "ctrl: only the targets of servos are kept, no efforts");
      }
    }
  }
  context.loaded.keyframes.push_back(std::move(key));
}

}  // namespace

void set_initial_state(Context& context) {
  // Free joints are where the file puts their bodies; every other joint is at 0 there.
  Eigen::Index at = 0;
  for (const BodyPart& body : context.scene.bodies) {
    for (const JointPart& joint : body.joints) {
      if (joint.type == JointPart::Type::free) {
        context.loaded.q.segment<3>(at) = body.X_PB.p;
        context.loaded.q.segment<4>(at + 3) = quaternion_from_rotation(body.X_PB.R);
      }
      at += joint.has_one_dof() ? 1 : joint.type == JointPart::Type::ball ? 4 : 7;
    }
  }
  // A servo's control is 0 unless something else is said.
  for (const ControlPart& control : context.scene.controls) {
    if (control.motor >= 0) context.loaded.motor_targets[control.motor] = -control.ref;
  }
}

void read_keyframes(Context& context, const std::vector<XmlElement>& sections) {
  NameSet names;
  // Each keyframe is as large as the state, so hostile files could multiply the two.
  constexpr std::int64_t kMostNumbers = 4'000'000;
  std::int64_t numbers = 0;
  for (const XmlElement& section : sections) {
    for (const XmlElement& element : context.includes.children(section)) {
      if (element.name() != "key") {
        context.warn_of_unknown(element, section);
        continue;
      }
      numbers += context.loaded.q.size() + context.loaded.v.size() + context.loaded.motor_targets.size();
      if (numbers > kMostNumbers) element.fail(fmt::format("the keyframes have more than {} numbers", kMostNumbers));
      read_key(context, element, names);
    }
  }
}

}  // namespace lithe::mjcf
