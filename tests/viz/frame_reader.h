#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lithe::test {

// A frame as docs/live.md lays it out, read by a reader that shares nothing with the writer.
struct ReadFrame {
  std::uint32_t magic = 0, scene = 0, epoch = 0, frame = 0;
  double time = 0;
  float step_microseconds = 0, real_time_factor = 0;
  bool playing = false, diverged = false, pushed = false;
  std::uint32_t solver = 0;
  float kinetic = 0, potential = 0, contact_force = 0, loss = 0;
  std::vector<float> poses, centre_of_mass;
  std::vector<std::uint32_t> contact_shapes;
  std::vector<float> contact_values;
  bool has_gradients = false;
  std::vector<float> by_bodies, by_joints;
  std::uint32_t bodies = 0, contacts = 0, joints = 0;
};

// Bytes that are too few, too many or not a frame fail the test.
ReadFrame read_frame(std::string_view bytes);

}  // namespace lithe::test
