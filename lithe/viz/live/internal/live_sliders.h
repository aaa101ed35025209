#pragma once

#include <string>
#include <vector>

#include "lithe/viz/live/live_subject.h"

namespace lithe::internal {

// A number that a viewer's user can change.
struct LiveSlider {
  std::string name, unit;
  double lower = 0, upper = 1;
  double initial = 0;
  double value = 0;
};

// The forces of joints and the targets of motors.
//
// A motor's range is its joint's; where that has no end, half a turn, a metre or 10 units per second. A joint without
// motor, with one DoF and a limit of effort above zero has that range; without a limit, half the weight that it carries.
// What a free or sliding base consists of has no slider, for nothing drives it, nor has a joint that carries no weight.
class LiveControls {
 public:
  explicit LiveControls(const LiveSubject& subject);

  const std::vector<LiveSlider>& sliders() const { return sliders_; }
  // Within its range. A number of no slider, or a value that is not finite, is an Error.
  void set(int slider, double value, Control& control);
  void restore(Control& control);
  // Everything as it starts: control's sizes are those of the model.
  Control initial_control() const;

 private:
  struct Place {
    bool motor;
    int index;  // of the motor, or the DoF
  };
  void add_motors(const LiveSubject& subject);
  void add_joints(const Model& model);

  std::vector<LiveSlider> sliders_;
  std::vector<Place> places_;
  VecX tau_, targets_;
};

// Numbers of the world as a whole: gravity (m/s²), friction and damping as multiples of the model's own, and the least
// restitution of all shapes. Those without effect on a model are left out.
class LiveParameters {
 public:
  explicit LiveParameters(const Model& model);

  const std::vector<LiveSlider>& sliders() const { return sliders_; }
  void set(int slider, double value, Model& model);
  void restore(Model& model);

 private:
  enum class Kind { gravity, friction, restitution, damping };
  void add(Kind kind, LiveSlider slider);
  void apply(int slider, Model& model) const;

  std::vector<LiveSlider> sliders_;
  std::vector<Kind> kinds_;
  Model original_;
};

}  // namespace lithe::internal
