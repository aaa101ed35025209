#pragma once

#include <limits>
#include <string>

#include "lithe/core/index.h"

namespace lithe {

// Drives a 1-DoF joint towards a target that is given anew at each step, with no more than max_effort.
//
// The motor asks for the torque (or force) that its law gives *at the end* of the step, so it is stable for any gain:
//
//   position   τ = stiffness·(target − q⁺) − damping·v⁺
//   velocity   τ = damping·(target − v⁺)
//
// and an infinite gain is allowed: the joint then reaches its target within the step, if the effort suffices (and, for a
// position, no faster than the joint's velocity limit).
struct Motor {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  enum class Target { position, velocity };

  std::string name;
  Target target = Target::velocity;
  double stiffness = 0;           // position only; may be infinite
  double damping = kInfinity;     // may be infinite for a velocity
  double max_effort = kInfinity;  // the joint's effort_limit holds as well

  JointIndex joint = {};  // filled in by ModelBuilder::build()
};

Motor position_servo(std::string name, double max_effort = Motor::kInfinity, double stiffness = Motor::kInfinity,
                     double damping = 0);
Motor velocity_motor(std::string name, double max_effort = Motor::kInfinity, double damping = Motor::kInfinity);

}  // namespace lithe
