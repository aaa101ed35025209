#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lithe/scenes/scene.h"
#include "lithe/scenes/world.h"

namespace lithe::cli {

// A robot that holds its pose, comes to rest and then moves smoothly about it: states that it can really be in, for those who need some
// (`lithe gradcheck`, `lithe doctor`). Forces that are drawn at random do not give any: they throw a finger across the room and leave
// an excavator unmoved.
//
// Joints that have a motor (whose targets the scene gives) are held by it. The others are held by a spring and a damper that are scaled to
// the robot's own weight, so that the weight of all that a joint may carry bends it by 0.05 rad or 5 mm. Nothing holds a base that
// floats, joints that follow others, joints whose limits leave no room, balls and joints that loops move (which are damped). Poses are held 2 % of their range away from limits: at a
// limit that neither pushes nor lets go there is no derivative. Springs and dampers are those of a copy of the model, where they are stable however
// stiff; step_released() turns them into forces.
//
// Everything depends on the scene and the seeds alone.
class HeldMotion {
 public:
  explicit HeldMotion(const Scene& scene);

  // How coming to rest went.
  struct Settling {
    int steps = 0;
    bool quiet = false;    // no DoF was faster than 0.01 rad/s or m/s for 50 steps
    bool stopped = false;  // by the caller, before it was quiet or all steps were taken
    bool diverged = false;
    int first_dropped = 0;  // steps that dropped targets among the first 100,
    int last_dropped = 0;   // among the last 100,
    int dropped = 0;        // and in all
    int unsolved = 0;       // steps
    double top_speed = 0;   // of any DoF, rad/s or m/s
    double speed = 0;       // the same at the end
    double deepest = 0;     // how far shapes are inside each other at the end, m
    int contacts = 0;       // at the end
  };

  // From the scene's state to rest, in 2 s of its own time and 2,000 steps at most. Motions begin where this ends. `stop` is asked after each step.
  const Settling& settle(const std::function<bool(int steps)>& stop = {});
  const Settling& settling() const { return settling_; }

  // A new motion from there: targets swing about the pose by up to 0.2 rad or a quarter of the joint's range (slides: 5 cm), and a base that
  // floats is pushed so as to gain up to 2 m/s² and 5 rad/s². Joints whose limits leave no room are pushed by a fifth of what they may carry:
  // between limits that do not push either, there is no derivative.
  void start(std::uint64_t seed);
  // The same by a world that has never stepped before, and has everything to prepare.
  void start_anew(std::uint64_t seed);
  const StepStatus& step();
  const World& world() const { return held_; }

  // The next step of the motion, and the same of the model itself: driven by the forces that springs and dampers amount to, within its
  // joints' effort limits. Where these suffice, both end in the same state.
  void step_released(const Model& model, StepRecord& record);

 private:
  // One 1-DoF joint that is held, or the motor that holds it.
  struct Hold {
    int joint = -1, motor = -1;  // motor: −1 where a spring does it
    int dof = -1, q_index = -1;
    double stiffness = 0, damping = 0;
    double target = 0;        // where it is held
    double up = 0, down = 0;  // how far a motion takes it
    double effort = Joint::kInfinity;
  };
  // A DoF that is pushed, and how hard at most.
  struct Push {
    int dof = -1;
    double most = 0;  // N or N m
  };
  // A sum of sines that starts at 0 and stays within ±1.
  struct Swing {
    double rate[2], phase[2];
    double at(double time) const;
  };

  void hold_joints(const Scene& scene);
  void drive();
  void note(Settling& settling) const;

  World held_;
  State begin_, rest_;
  VecX motor_targets_;
  std::vector<Hold> holds_;
  std::vector<Push> pushes_;
  std::vector<Swing> swings_;  // one per hold, then one per push; none: the robot stays
  double start_time_ = 0;
  Control control_;
  Settling settling_;
};

}  // namespace lithe::cli
