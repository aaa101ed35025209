#include "lithe/rollout/controls.h"

#include "lithe/core/check.h"

namespace lithe {

namespace {

// Puts one step's part next to those of the other steps.
void put(const VecX& part, int t, int steps, const char* name, MatX& all) {
  if (all.size() == 0) all.setZero(part.size(), steps);
  LITHE_CHECK(part.size() == all.rows(), "step {}: {} has {} entries, in other steps it has {}", t, name, part.size(),
              all.rows());
  all.col(t) = part;
}

void check_part(const MatX& part, const char* name, Eigen::Index rows, const char* what, int steps) {
  if (part.size() == 0) return;
  LITHE_CHECK(part.rows() == rows, "controls: {} has {} rows, the model has {} {}", name, part.rows(), rows, what);
  LITHE_CHECK(part.cols() == steps, "controls: {} has {} columns, there are {} steps", name, part.cols(), steps);
}

}  // namespace

Controls controls_of(int steps, const std::function<Control(int t)>& at) {
  LITHE_CHECK(steps >= 0, "controls of {} steps: there cannot be fewer than none", steps);
  Controls controls;
  controls.steps = steps;
  for (int t = 0; t < steps; ++t) {
    const Control control = at(t);
    if (control.tau.size() > 0) put(control.tau, t, steps, "tau", controls.tau);
    if (control.motor_targets.size() > 0) {
      LITHE_CHECK(t == 0 || controls.motor_targets.size() > 0, "step {} switches the motors on; they were off before",
                  t);
      put(control.motor_targets, t, steps, "motor_targets", controls.motor_targets);
    }
    LITHE_CHECK(control.motor_targets.size() > 0 || controls.motor_targets.size() == 0,
                "step {} switches the motors off; they were on before", t);
    if (!control.wrenches.empty()) {
      controls.wrenches.resize(steps);
      controls.wrenches[t] = control.wrenches;
    }
  }
  return controls;
}

Controls controls_of(std::span<const Control> steps) {
  return controls_of(static_cast<int>(steps.size()), [&](int t) { return steps[t]; });
}

void control_at(const Controls& controls, int t, Control& out) {
  const auto read_part = [t](const MatX& all, VecX& part) {
    if (all.size() > 0) {
      part = all.col(t);
    } else {
      part.resize(0);
    }
  };
  read_part(controls.tau, out.tau);
  read_part(controls.motor_targets, out.motor_targets);
  if (controls.wrenches.empty()) {
    out.wrenches.clear();
  } else {
    out.wrenches = controls.wrenches[t];
  }
}

void check_controls(const Model& model, const Controls& controls) {
  LITHE_CHECK(controls.steps >= 0, "controls: {} steps; there cannot be fewer than none", controls.steps);
  check_part(controls.tau, "tau", model.nv(), "DoFs", controls.steps);
  check_part(controls.motor_targets, "motor_targets", static_cast<Eigen::Index>(model.motors().size()), "motors",
             controls.steps);
  LITHE_CHECK(controls.wrenches.empty() || controls.wrenches.size() == static_cast<std::size_t>(controls.steps),
              "controls: wrenches for {} steps, there are {}", controls.wrenches.size(), controls.steps);
}

}  // namespace lithe
