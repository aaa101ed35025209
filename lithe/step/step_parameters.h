#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/model/model.h"

namespace lithe {

// The numbers, besides the state and the forces, that a step is differentiated by, chosen by name: those of
// model/parameters.h, and
//
//   time_step           Δt
//   motor/NAME/target   what the motor is told to reach in this step
//
// Chosen once, used for many steps of models with the same structure (copies of one model). An unknown name is an Error that
// lists the closest known ones. Parameters that a step does not depend on (a frame's place, an infinite gain, the target of a
// motor that is off) have the derivative zero.
class StepParameters {
 public:
  StepParameters() = default;
  StepParameters(const Model& model, std::vector<std::string> names);

  // The targets of all motors, in their order.
  static StepParameters motor_targets(const Model& model);

  int size() const { return static_cast<int>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }

  // What a name stands for.
  struct Entry {
    enum class Kind : std::uint8_t {
      body,
      joint,
      shape,
      frame,
      motor,
      loop,
      mimic,
      gravity,
      time_step,
      motor_target,
    };
    Kind kind = Kind::time_step;
    int index = 0;      // of the body, joint …
    int attribute = 0;  // which of its numbers, as model/parameters.h counts them
  };
  const std::vector<Entry>& entries() const { return entries_; }

  // Whether they were chosen for a model of this structure. No parameters suit any model.
  bool match(const Model& model) const { return names_.empty() || structure_ == model.tree().structure; }

 private:
  std::vector<std::string> names_;
  std::vector<Entry> entries_;
  std::uint64_t structure_ = 0;
};

// Every name that StepParameters knows for this model: the model's own, the motors' targets and the time step.
std::vector<std::string> step_parameter_names(const Model& model);

}  // namespace lithe
