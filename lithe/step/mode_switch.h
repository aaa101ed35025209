#pragma once

#include <cstdint>

namespace lithe {

// What is not the same in two steps. A difference of their results is then no derivative: in between something closed,
// began to slide or reached a bound. Constraints that do not push in either of them do not count: whether they are there makes
// no difference to the motion.
enum class ModeSwitch : std::uint8_t {
  none = 0,
  constraints = 1,  // other features touch, another limit is reached, friction rows came or went
  targets = 2,      // another rule gives a constraint's target (TargetRule; a servo at its joint's velocity limit)
  normals = 4,      // a contact opened or closed
  friction = 8,     // a contact's friction row has another mode, or its tangents lie across their seam
  joints = 16,      // a limit, a motor or dry friction has another mode
  solver = 32,      // only one of the two is polished, solved, or has all of its targets; one diverged; or ranks differ
};
constexpr ModeSwitch operator|(ModeSwitch a, ModeSwitch b) {
  return static_cast<ModeSwitch>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool has(ModeSwitch switches, ModeSwitch one) {
  return (static_cast<std::uint8_t>(switches) & static_cast<std::uint8_t>(one)) != 0;
}

}  // namespace lithe
