#include "tests/viz/frame_reader.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lithe::test {

namespace {

class Words {
 public:
  explicit Words(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number(std::size_t size) {
    if (bytes_.size() < size) {
      if (!short_) ADD_FAILURE() << "a frame ends too early";
      short_ = true;
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[i]);
    bytes_.remove_prefix(size);
    return value;
  }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  float f32() {
    const std::uint32_t bits = u32();
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  double f64() {
    const std::uint64_t bits = number(8);
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::vector<float> floats(std::size_t count) {
    std::vector<float> all;
    for (std::size_t i = 0; i < count && !short_; ++i) all.push_back(f32());
    return all;
  }
  std::vector<std::uint32_t> unsigneds(std::size_t count) {
    std::vector<std::uint32_t> all;
    for (std::size_t i = 0; i < count && !short_; ++i) all.push_back(u32());
    return all;
  }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  bool short_ = false;
};

}  // namespace

ReadFrame read_frame(std::string_view bytes) {
  Words words(bytes);
  ReadFrame frame;
  frame.magic = words.u32();
  frame.scene = words.u32();
  frame.epoch = words.u32();
  frame.frame = words.u32();
  frame.time = words.f64();
  frame.step_microseconds = words.f32();
  frame.real_time_factor = words.f32();
  const std::uint32_t state = words.u32();
  frame.playing = state & 1;
  frame.diverged = state & 2;
  frame.pushed = state & 4;
  frame.solver = words.u32();
  frame.bodies = words.u32();
  frame.contacts = words.u32();
  const std::uint32_t parts = words.u32();
  frame.has_gradients = parts & 2;
  frame.joints = words.u32();
  frame.kinetic = words.f32();
  frame.potential = words.f32();
  frame.contact_force = words.f32();
  frame.loss = words.f32();
  frame.poses = words.floats(std::size_t{7} * frame.bodies);
  if (parts & 1) frame.centre_of_mass = words.floats(3);
  frame.contact_shapes = words.unsigneds(std::size_t{2} * frame.contacts);
  frame.contact_values = words.floats(std::size_t{9} * frame.contacts);
  if (frame.has_gradients) {
    frame.by_bodies = words.floats(std::size_t{3} * frame.bodies);
    frame.by_joints = words.floats(frame.joints);
  }
  EXPECT_EQ(frame.magic, 0x3146494cu);
  EXPECT_EQ(bytes.substr(0, 4), "LIF1");
  EXPECT_LT(state, 8u);
  EXPECT_LT(parts, 4u);
  EXPECT_LE(frame.solver, 5u);
  EXPECT_EQ(words.left(), 0u) << "something follows a frame";
  return frame;
}

}  // namespace lithe::test
