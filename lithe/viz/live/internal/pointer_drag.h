#pragma once

#include "lithe/dynamics/internal/mass_factor.h"
#include "lithe/dynamics/inverse_dynamics.h"
#include "lithe/step/step_record.h"

namespace lithe::internal {

// A point of a body that somebody holds and draws towards a place, as with a mouse.
struct Grab {
  BodyIndex body;
  Vec3 point = Vec3::Zero();   // in the body's frame
  Vec3 target = Vec3::Zero();  // in the world

  bool operator==(const Grab&) const = default;
};

// The wrenches of grabs: each asks for the force that gives its point, without contacts, the velocity with which it
// would be at its target in an eighth of a second, as far as it can move there, and gets no more than a few times the
// weight of what hangs together. So a robot can be lifted by its hand, whatever the time step, and nothing is torn
// apart.
class DragForces {
 public:
  // In `state`, with the other forces of `control`; added to control.wrenches.
  void add(const Model& model, const State& state, double time_step, const Grab& grab, Control& control);

 private:
  Kinematics kin_;
  InverseDynamics bias_;
  MassMatrix M_;
  MassFactor factor_;
  Mat3X J_;
  MatX M_inv_Jt_;
  MatX a_free_;
};

// A body that moves and numbers that are finite; else an Error.
void check_grab(const Model& model, const Grab& grab);

}  // namespace lithe::internal
