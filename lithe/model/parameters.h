#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/model/model.h"

namespace lithe {

// A model's numbers by name, for identification, design optimisation and scripts. A name is kind/NAME/attribute;
// the NAME may itself contain slashes.
//
//   body/NAME/   mass mx my mz Ixx Ixy Ixz Iyy Iyz Izz   the ten of SpatialInertia::parameters(), in that order
//                x y z                                   where the body sits behind its last joint
//   joint/NAME/  x y z                                   placement in its parent: a link length
//                stiffness damping armature dry_friction effort_limit velocity_limit
//                lower upper rest                        not for a ball
//                pitch                                   of a screw
//   shape/NAME/  friction restitution margin x y z       and of its geometry: radius, half_length,
//                                                        half_x half_y half_z
//   frame/NAME/  x y z
//   motor/NAME/  stiffness damping max_effort            stiffness of a position servo only
//   loop/NAME/   ax ay az bx by bz                       where it holds the first body and the second
//   mimic/NAME/  multiplier offset
//   gravity/     x y z
//
// An unknown name is an Error that lists the closest known ones.

// What a name stands for, for those who need to know more of a parameter than its value: the thing it belongs to (the place of
// the body, joint … in the model's list) and which of its numbers it is.
enum class ParameterKind : std::uint8_t { body, joint, shape, frame, motor, loop, mimic, gravity };
struct ParameterPlace {
  ParameterKind kind = ParameterKind::body;
  int index = 0;
  int attribute = 0;  // one of the enumerations below; of a frame and of gravity: x, y, z
};

namespace body_parameter {
enum : int { mass, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz, x, y, z };
}
namespace joint_parameter {
enum : int {
  x,
  y,
  z,
  pitch,
  stiffness,
  rest,
  damping,
  armature,
  dry_friction,
  lower,
  upper,
  effort_limit,
  velocity_limit
};
}
namespace shape_parameter {
enum : int { friction, restitution, margin, radius, half_length, half_x, half_y, half_z, x, y, z };
}
namespace motor_parameter {
enum : int { stiffness, damping, max_effort };
}
namespace loop_parameter {
enum : int { ax, ay, az, bx, by, bz };
}
namespace mimic_parameter {
enum : int { multiplier, offset };
}

// Nothing where the model has no parameter of this name.
std::optional<ParameterPlace> find_parameter(const Model& model, std::string_view name);

// Every parameter that the model has, in the order of the kinds above.
std::vector<std::string> parameter_names(const Model& model);

double parameter(const Model& model, std::string_view name);
VecX parameters(const Model& model, const std::vector<std::string>& names);

// The new value is checked like a new model. If it is refused, the model stays as it was.
void set_parameter(Model& model, std::string_view name, double value);

// All or nothing. The values of one body, joint, shape … are checked together, so an inertia can change in ways
// that would be refused number by number.
void set_parameters(Model& model, const std::vector<std::string>& names, const ConstVecRef& values);

}  // namespace lithe
