#pragma once

#include <optional>
#include <string_view>

#include "lithe/model/model_builder.h"
#include "lithe/scenes/task.h"

namespace lithe {

// A model with a state to start from and a time step to take: all that a program needs to run it.
//
// What can be put together (a robot, a row of boxes) comes as a ModelBuilder; a scene puts such things on the ground and
// says how they start.
struct Scene {
  Model model;
  VecX q, v;                // the initial state, nq and nv
  double time_step = 1e-3;  // s
  VecX motor_targets = {};  // one per motor: rad or m for a position, rad/s or m/s for a velocity
  std::optional<Task> task = {};
};

// In the neutral configuration, not moving, every motor's target 0.
Scene at_rest(const ModelBuilder& builder);

// Changes the initial state of a 1-DoF joint. An unknown name is an Error, and so is a ball joint.
void set_initial(Scene& scene, std::string_view joint, double q, double v = 0);

void set_target(Scene& scene, std::string_view motor, double target);

}  // namespace lithe
