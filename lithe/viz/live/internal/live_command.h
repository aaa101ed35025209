#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "lithe/viz/live/internal/pointer_drag.h"

namespace lithe::internal {

// What a viewer asks for (docs/live.md).
namespace live {

struct Play {};
struct Pause {};
// While it is paused: take this many steps.
struct Step {
  int count = 1;
};
struct Reset {};
// How fast the simulation goes: simulated over real time.
struct Speed {
  double factor = 1;
};
// Moves a slider of LiveControls, by its number.
struct SetControl {
  int slider = 0;
  double value = 0;
};
// Moves a slider of LiveParameters, by its number.
struct SetParameter {
  int slider = 0;
  double value = 0;
};
struct RestoreDefaults {};
// Holds a body at a point and draws it, until the same client pushes elsewhere or releases it.
struct Push {
  Grab grab;
};
struct Release {};
struct ChooseScene {
  std::string name;
};

using Command = std::variant<Play, Pause, Step, Reset, Speed, SetControl, SetParameter, RestoreDefaults, Push, Release,
                             ChooseScene>;

// Bounds of what a client may ask for.
inline constexpr int kMostSteps = 1000;
inline constexpr double kSlowest = 0.01, kFastest = 10;

// Words separated by single blanks. What is no command is an Error that says what was expected.
Command parse_command(std::string_view text);

}  // namespace live

}  // namespace lithe::internal
