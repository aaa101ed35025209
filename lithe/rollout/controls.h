#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lithe/step/step_record.h"

namespace lithe {

// What acts on a model during T steps: a Control for each, side by side, so that all forces are one matrix. A plain value:
//
//   Controls controls = {.steps = 100, .tau = MatX::Zero(model.nv(), 100)};
//   controls.tau -= rate * gradient.tau;
struct Controls {
  int steps = 0;                                // T
  MatX tau = {};                                // nv × T generalised forces; empty: none
  MatX motor_targets = {};                      // motors × T; empty: motors are off
  std::vector<ExternalWrenches> wrenches = {};  // T, or empty: none
};

// From what acts in each step. Motors are on in all of them or in none.
Controls controls_of(std::span<const Control> steps);
Controls controls_of(int steps, const std::function<Control(int t)>& at);

// The control of step t.
void control_at(const Controls& controls, int t, Control& out);

// Throws an Error that names the part and its size.
void check_controls(const Model& model, const Controls& controls);

}  // namespace lithe
