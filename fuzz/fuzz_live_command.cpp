#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lithe/core/check.h"
#include "lithe/core/internal/overloaded.h"
#include "lithe/model/model_builder.h"
#include "lithe/viz/live/internal/live_command.h"
#include "lithe/viz/live/internal/live_messages.h"

// Bytes are what a viewer sends, one command per line. Each is refused with an Error that is fit to be sent back, or is
// a command whose numbers are finite and within their bounds; and a small world that obeys them stays finite and can be
// shown.
namespace lithe {

using namespace internal;
namespace {

// Of one input: what is longer only takes longer.
constexpr int kMostSteps = 6;
constexpr int kMostCommands = 30;

void require(bool condition, std::string_view what) {
  if (condition) return;
  fmt::print(stderr, "fuzz_live_command: {}\n", what);
  std::abort();
}

// A box on the ground, and a damped pendulum with a motor.
LiveSubject subject() {
  ModelBuilder builder;
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}});
  builder.add_body("world", {.name = "box", .inertia = SpatialInertia::box(1, Vec3::Constant(0.2))}, free_joint("box"));
  builder.add_shape("box", {.name = "box", .geometry = Box{Vec3::Constant(0.1)}});
  Joint hinge = revolute("hinge", Vec3::UnitY(), Pose::translation(2, 0, 2));
  hinge.damping = 0.1;
  builder.add_body("world", {.name = "rod", .inertia = SpatialInertia::point(1, Vec3(0, 0, -1))}, hinge);
  builder.add_motor("hinge", velocity_motor("turn", 5));
  builder.add_body("rod", {.name = "end", .inertia = SpatialInertia::sphere(0.1, 0.05)},
                   revolute("elbow", Vec3::UnitX(), Pose::translation(0, 0, -1)));
  const Model model = builder.build();
  State start = {VecX::Zero(model.nq()), VecX::Zero(model.nv())};
  start.q[2] = 0.1;
  start.q[6] = 1;  // the box's quaternion
  return {.name = "fuzz", .model = model, .start = start, .time_step = 1e-2, .motor_targets = VecX::Zero(1)};
}

void check_error(const Error& error) {
  const std::string_view what = error.what();
  require(!what.empty() && what.size() < 300, "an Error without a text, or with an endless one");
  for (const char c : what) require(c < 0 || c >= ' ', "an Error with control characters");
  require(!error_message(what).empty(), "an Error that cannot be sent");
}

void check_numbers(const live::Command& command) {
  std::visit(
      Overloaded{[](const live::Step& step) { require(step.count >= 1 && step.count <= 1000, "steps"); },
                 [](const live::Speed& speed) { require(speed.factor >= 0.01 && speed.factor <= 10, "a speed"); },
                 [](const live::SetControl& set) { require(std::isfinite(set.value), "a control"); },
                 [](const live::SetParameter& set) { require(std::isfinite(set.value), "a parameter"); },
                 [](const live::Push& push) {
                   require(push.grab.point.allFinite() && push.grab.target.allFinite(), "a push");
                 },
                 [](const auto&) {}},
      command);
}

void obey(LiveWorld& world, const live::Command& command, int& steps_left) {
  std::visit(Overloaded{[&](const live::Step& step) {
                          for (int i = 0; i < std::min(step.count, 3) && steps_left > 0; ++i, --steps_left)
                            world.step();
                        },
                        [&](const live::Reset&) { world.reset(); },
                        [&](const live::SetControl& set) { world.set_control(set.slider, set.value); },
                        [&](const live::SetParameter& set) { world.set_parameter(set.slider, set.value); },
                        [&](const live::RestoreDefaults&) { world.restore_defaults(); },
                        [&](const live::Push& push) { world.push(1, push.grab); },
                        [&](const live::Release&) { world.release(1); }, [](const auto&) {}},
             command);
  require(world.state().q.allFinite() && world.state().v.allFinite(), "the state is not finite");
  for (const auto* sliders : {&world.controls(), &world.parameters()}) {
    for (const LiveSlider& slider : *sliders) {
      require(slider.value >= slider.lower && slider.value <= slider.upper, "a slider is out of its range");
    }
  }
}

void fuzz(std::string_view text) {
  static LiveWorld world(subject());
  world.release(1);
  world.restore_defaults();
  world.reset();
  int steps_left = kMostSteps;
  for (int i = 0; i < kMostCommands; ++i) {
    const std::size_t end = text.find('\n');
    try {
      const live::Command command = live::parse_command(text.substr(0, end));
      check_numbers(command);
      obey(world, command, steps_left);
    } catch (const Error& error) {
      check_error(error);
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (steps_left == kMostSteps) return;
  const LiveFrame frame = world.frame();
  require(!frame_message(frame, {}, world.model().joints().size()).empty(), "a frame that cannot be sent");
}

}  // namespace
}  // namespace lithe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lithe::fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
