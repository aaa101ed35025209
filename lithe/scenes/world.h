#pragma once

#include <string>
#include <vector>

#include "lithe/scenes/scene.h"
#include "lithe/step/step.h"

namespace lithe {

// A model in motion, for people: it keeps the state, the time and the warm start that step() leaves to its caller.
//
//   World world("humanoid");
//   while (world.time() < 1) world.step();
//   fmt::print("{}\n", world.state().q.transpose());
class World {
 public:
  // Starts in the neutral configuration, at rest.
  explicit World(Model model, const StepOptions& options = {});
  // Starts as the scene says, with its time step and its motors' targets.
  explicit World(const Scene& scene);
  // A scene of the catalogue, or a robot file on the ground that it wants (open_scene() in lithe/scenes/from_file.h).
  explicit World(const std::string& scene_or_file);

  const Model& model() const { return model_; }
  // Another set of numbers for the same structure (or another model altogether: then the state starts anew).
  void set_model(Model model);

  const State& state() const { return state_; }
  void set_state(const ConstVecRef& q, const ConstVecRef& v);  // checked; the warm start is forgotten
  double time() const { return time_; }
  void set_time(double time) { time_ = time; }

  StepOptions options;
  VecX motor_targets;  // one per motor, where step() is not given a Control; empty: motors are off

  // A force at a point of the world, or a wrench [torque about the body's origin; force], on a body during the next step.
  void add_force(BodyIndex body, const Vec3& force, const Vec3& point);
  void add_wrench(BodyIndex body, const Vec6& wrench);

  // Steps once: without forces, with generalised forces, or with everything that a Control holds (then `motor_targets` does not count).
  const StepStatus& step();
  const StepStatus& step(const ConstVecRef& tau);
  const StepStatus& step(const Control& control);

  // Of the last step; nothing before the first one.
  const StepRecord& record() const { return record_; }
  const StepStatus& status() const { return record_.status; }

  // The contacts of the last step with the impulse on a, in the order of the ContactSet.
  struct ContactImpulse {
    ShapeIndex a, b;
    Vec3 p, n;
    double gap;
    Vec3 impulse;
  };
  std::vector<ContactImpulse> contacts() const;

  double kinetic_energy() const;
  double potential_energy() const;  // of gravity and of the joints' springs

 private:
  void share_colliders();  // prepares the model's shapes: no step has to wait for it

  Model model_;
  State state_;
  double time_ = 0;
  Control control_;  // of the step under way
  Control usual_;    // kept for its memory
  ExternalWrenches added_;
  StepRecord record_;
};

}  // namespace lithe
