#include "lithe/viz/live/internal/live_sliders.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lithe/core/check.h"

namespace lithe::internal {

namespace {

constexpr double kEarthGravity = 9.81;        // m/s²
constexpr double kShareOfWeight = 0.5;        // of the weight that a joint without a limit carries
constexpr double kVelocityWithoutLimit = 10;  // rad/s or m/s
constexpr double kLengthWithoutLimit = 1;     // m

// The slider of this number. The number comes from a client, so it may be anything.
LiveSlider& checked(std::vector<LiveSlider>& sliders, int slider, double value, const char* what) {
  LITHE_CHECK(slider >= 0 && static_cast<std::size_t>(slider) < sliders.size(), "there is no {} {}; there are {}", what,
              slider, sliders.size());
  LITHE_CHECK(std::isfinite(value), "{} {} cannot be {}", what, slider, value);
  return sliders[static_cast<std::size_t>(slider)];
}

// A slider that stands where it begins. Its range always holds that value.
LiveSlider slider_of(std::string name, std::string unit, double lower, double upper, double initial) {
  return {std::move(name), std::move(unit), std::min(lower, initial), std::max(upper, initial), initial, initial};
}

// Whether its q is an angle.
bool turns(const Joint& joint) { return joint.type != JointType::prismatic; }

// The target of a motor, within the range of its joint.
LiveSlider motor_slider(const Motor& motor, const Joint& joint, double initial) {
  if (motor.target == Motor::Target::velocity) {
    const double limit = std::isfinite(joint.velocity_limit) ? joint.velocity_limit : kVelocityWithoutLimit;
    return slider_of(motor.name, turns(joint) ? "rad/s" : "m/s", -limit, limit, initial);
  }
  const double reach = turns(joint) ? std::numbers::pi : kLengthWithoutLimit;
  return slider_of(motor.name, turns(joint) ? "rad" : "m", std::isfinite(joint.lower) ? joint.lower : -reach,
                   std::isfinite(joint.upper) ? joint.upper : reach, initial);
}

// A base that can go anywhere is moved by what it touches, not by a motor.
bool is_base(const Model& model, const Joint& joint) {
  const Body& body = model.bodies()[joint.body];
  return body.parent == Model::world() && body.joints.size() > 1;
}

// For each body, its mass with that of all bodies below it.
std::vector<double> carried_masses(const Model& model) {
  std::vector<double> mass;
  for (const Body& body : model.bodies()) mass.push_back(body.inertia.mass);
  // Parents have smaller numbers than their children.
  for (std::size_t b = mass.size(); b-- > 1;) mass[static_cast<std::size_t>(int{model.bodies()[b].parent})] += mass[b];
  return mass;
}

}  // namespace

LiveControls::LiveControls(const LiveSubject& subject)
    : tau_(VecX::Zero(subject.model.nv())), targets_(subject.motor_targets) {
  add_motors(subject);
  add_joints(subject.model);
}

void LiveControls::add_motors(const LiveSubject& subject) {
  const std::vector<Motor>& motors = subject.model.motors();
  if (targets_.size() == 0) return;  // motors are off
  for (std::size_t m = 0; m < motors.size(); ++m) {
    sliders_.push_back(
        motor_slider(motors[m], subject.model.joints()[motors[m].joint], targets_[static_cast<Eigen::Index>(m)]));
    places_.push_back({true, static_cast<int>(m)});
  }
}

void LiveControls::add_joints(const Model& model) {
  const std::vector<double> mass = carried_masses(model);
  for (std::size_t j = 0; j < model.joints().size(); ++j) {
    const Joint& joint = model.joints()[j];
    const bool has_motor = targets_.size() > 0 && std::ranges::any_of(model.motors(), [&](const Motor& motor) {
                             return static_cast<std::size_t>(int{motor.joint}) == j;
                           });
    if (has_motor || joint.type == JointType::ball || joint.effort_limit <= 0 || is_base(model, joint)) continue;
    const double weight = kEarthGravity * mass[static_cast<std::size_t>(int{joint.body})];
    const double limit = std::isfinite(joint.effort_limit) ? joint.effort_limit : kShareOfWeight * weight;
    if (limit <= 0) continue;
    sliders_.push_back(slider_of(joint.name, turns(joint) ? "N·m" : "N", -limit, limit, 0));
    places_.push_back({false, joint.v_index});
  }
}

Control LiveControls::initial_control() const { return {.tau = tau_, .motor_targets = targets_}; }

void LiveControls::set(int slider, double value, Control& control) {
  LiveSlider& which = checked(sliders_, slider, value, "control");
  which.value = std::clamp(value, which.lower, which.upper);
  const Place place = places_[static_cast<std::size_t>(slider)];
  (place.motor ? control.motor_targets : control.tau)[place.index] = which.value;
}

void LiveControls::restore(Control& control) {
  for (std::size_t i = 0; i < sliders_.size(); ++i) set(static_cast<int>(i), sliders_[i].initial, control);
}

LiveParameters::LiveParameters(const Model& model) : original_(model) {
  const double gravity = model.gravity().norm();
  if (model.total_mass() > 0) add(Kind::gravity, slider_of("gravity", "m/s²", 0, 25, gravity));
  const auto& shapes = model.shapes();
  if (std::ranges::any_of(shapes, [](const Shape& shape) { return shape.material.friction > 0; })) {
    add(Kind::friction, slider_of("friction", "×", 0, 3, 1));
  }
  if (!shapes.empty()) add(Kind::restitution, slider_of("least restitution", "", 0, 1, 0));
  if (std::ranges::any_of(model.joints(), [](const Joint& joint) { return joint.damping > 0; })) {
    add(Kind::damping, slider_of("joint damping", "×", 0, 10, 1));
  }
}

void LiveParameters::add(Kind kind, LiveSlider slider) {
  kinds_.push_back(kind);
  sliders_.push_back(std::move(slider));
}

void LiveParameters::set(int slider, double value, Model& model) {
  LiveSlider& which = checked(sliders_, slider, value, "parameter");
  which.value = std::clamp(value, which.lower, which.upper);
  apply(slider, model);
}

// Writes a slider's value to the model. Multiples are of the numbers that the model had first (original_), so that they
// do not pile up.
void LiveParameters::apply(int slider, Model& model) const {
  const double value = sliders_[static_cast<std::size_t>(slider)].value;
  switch (kinds_[static_cast<std::size_t>(slider)]) {
    case Kind::gravity: {
      const Vec3 own = original_.gravity();
      const Vec3 direction = own.norm() > 0 ? Vec3(own.normalized()) : Vec3(-Vec3::UnitZ());
      // To the last bit where it was.
      model.set_gravity(value == sliders_[static_cast<std::size_t>(slider)].initial ? own : Vec3(value * direction));
      break;
    }
    case Kind::friction:
    case Kind::restitution:
      for (std::size_t s = 0; s < model.shapes().size(); ++s) {
        Shape shape = model.shapes()[s];
        const Material& own = original_.shapes()[s].material;
        if (kinds_[static_cast<std::size_t>(slider)] == Kind::friction) {
          shape.material.friction = value * own.friction;
        } else {
          shape.material.restitution = std::max(value, own.restitution);
        }
        model.set_shape(ShapeIndex(static_cast<int>(s)), shape);
      }
      break;
    case Kind::damping:
      for (std::size_t j = 0; j < model.joints().size(); ++j) {
        Joint joint = model.joints()[j];
        joint.damping = value * original_.joints()[j].damping;
        model.set_joint(JointIndex(static_cast<int>(j)), joint);
      }
      break;
  }
}

void LiveParameters::restore(Model& model) {
  for (std::size_t i = 0; i < sliders_.size(); ++i) set(static_cast<int>(i), sliders_[i].initial, model);
}

}  // namespace lithe::internal
