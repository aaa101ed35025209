#include "lithe/model/motor.h"

#include <utility>

namespace lithe {

Motor position_servo(std::string name, double max_effort, double stiffness, double damping) {
  return {.name = std::move(name),
          .target = Motor::Target::position,
          .stiffness = stiffness,
          .damping = damping,
          .max_effort = max_effort};
}

Motor velocity_motor(std::string name, double max_effort, double damping) {
  return {.name = std::move(name),
          .target = Motor::Target::velocity,
          .stiffness = 0,
          .damping = damping,
          .max_effort = max_effort};
}

}  // namespace lithe
