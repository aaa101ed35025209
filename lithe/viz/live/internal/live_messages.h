#pragma once

#include <string>
#include <string_view>

#include "lithe/viz/live/internal/live_world.h"

namespace lithe::internal {

// What a live viewer is sent (docs/live.md).

// How the simulation runs at the moment.
struct LiveStatus {
  std::uint32_t scene = 1;  // counts the scenes that were shown
  bool playing = false;
  bool can_step = true;  // false: somebody else moves the world
  double speed = 1;
  int clients = 0;
  std::uint32_t frame = 0;      // number within the epoch
  double step_seconds = 0;      // mean time that a step took
  double real_time_factor = 0;  // simulated over real time
};

// The text messages: JSON objects, each with a member `type`.
std::string scene_message(LiveWorld& world, const LiveCatalogue& catalogue, const LiveStatus& status);
std::string values_message(const LiveWorld& world, const LiveStatus& status);
std::string error_message(std::string_view what);

// The binary message: 32-bit little-endian words.
std::string frame_message(const LiveFrame& frame, const LiveStatus& status, std::size_t joints);
inline constexpr std::uint32_t kFrameMagic = 0x3146494c;  // the letters LIF1

}  // namespace lithe::internal
