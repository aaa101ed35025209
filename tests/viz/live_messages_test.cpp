#include "lithe/viz/live/internal/live_messages.h"

#include <gtest/gtest.h>

#include <limits>

#include "lithe/scenes/solids/solids.h"
#include "tests/support/json_value.h"
#include "tests/viz/frame_reader.h"
#include "tests/viz/live_subjects.h"

namespace lithe::test {

using namespace internal;
namespace {

LiveStatus some_status() {
  return {.scene = 7,
          .playing = true,
          .can_step = true,
          .speed = 0.5,
          .clients = 3,
          .frame = 4'000'000'000,
          .step_seconds = 123e-6,
          .real_time_factor = 0.75};
}

void expect_frame(const std::string& bytes, const LiveFrame& frame, const LiveStatus& status, std::size_t joints) {
  const ReadFrame read = read_frame(bytes);
  EXPECT_EQ(read.scene, status.scene);
  EXPECT_EQ(read.epoch, frame.epoch);
  EXPECT_EQ(read.frame, status.frame);
  EXPECT_EQ(read.time, frame.time);
  EXPECT_FLOAT_EQ(read.step_microseconds, static_cast<float>(1e6 * status.step_seconds));
  EXPECT_FLOAT_EQ(read.real_time_factor, static_cast<float>(status.real_time_factor));
  EXPECT_EQ(read.playing, status.playing);
  EXPECT_EQ(read.diverged, frame.diverged);
  EXPECT_EQ(read.pushed, frame.pushed);
  EXPECT_EQ(read.solver, static_cast<std::uint32_t>(frame.solver));
  EXPECT_EQ(read.joints, joints);
  ASSERT_EQ(frame.track.series[1].name, "kinetic energy");
  ASSERT_EQ(frame.track.series[2].name, "potential energy");
  ASSERT_EQ(frame.track.series[3].name, "contact force");
  EXPECT_EQ(read.kinetic, frame.track.series[1].values[0]);
  EXPECT_EQ(read.potential, frame.track.series[2].values[0]);
  EXPECT_EQ(read.contact_force, frame.track.series[3].values[0]);
  EXPECT_EQ(read.loss, static_cast<float>(frame.loss));
  EXPECT_EQ(read.poses, frame.track.poses);
  EXPECT_EQ(read.centre_of_mass, frame.track.centre_of_mass);
  EXPECT_EQ(read.contact_shapes, frame.track.contact_shapes);
  EXPECT_EQ(read.contact_values, frame.track.contact_values);
  EXPECT_EQ(read.contacts, frame.track.contact_counts[0]);
  EXPECT_EQ(read.has_gradients, frame.track.gradients.has_value());
  if (frame.track.gradients) {
    EXPECT_EQ(read.by_bodies, frame.track.gradients->bodies);
    EXPECT_EQ(read.by_joints, frame.track.gradients->joints);
  }
}

TEST(FrameMessage, HoldsAllOfTheFrame) {
  for (const std::string name : {"humanoid", "catapult", "tumbling_body"}) {
    LiveWorld world(scene_subject(name));
    for (int i = 0; i < 250; ++i) world.step();
    world.push(1, {BodyIndex(1), Vec3::Zero(), Vec3::Zero()});
    const LiveFrame frame = world.frame();
    const std::size_t joints = world.model().joints().size();
    expect_frame(frame_message(frame, some_status(), joints), frame, some_status(), joints);
    EXPECT_EQ(read_frame(frame_message(frame, some_status(), joints)).bodies, world.model().bodies().size());
  }
}

TEST(FrameMessage, HasEachFlagInItsPlace) {
  LiveWorld world(falling_box());
  LiveFrame frame = world.frame();
  LiveStatus status = some_status();
  for (int bits = 0; bits < 8; ++bits) {
    status.playing = bits & 1;
    frame.diverged = bits & 2;
    frame.pushed = bits & 4;
    const std::string bytes = frame_message(frame, status, 4);
    EXPECT_EQ(bytes[4 * 8], bits);
    expect_frame(bytes, frame, status, 4);
  }
}

TEST(FrameMessage, HasNoCentreOfMassWhereNothingMoves) {
  ModelBuilder builder;
  add_ground(builder);
  const Model model = builder.build();
  LiveWorld world({.name = "nothing", .model = model, .start = {VecX(0), VecX(0)}});
  world.step();
  const LiveFrame frame = world.frame();
  const ReadFrame read = read_frame(frame_message(frame, some_status(), 0));
  EXPECT_EQ(read.bodies, 1u);
  EXPECT_TRUE(read.centre_of_mass.empty());
  expect_frame(frame_message(frame, some_status(), 0), frame, some_status(), 0);
}

TEST(FrameMessage, HasFiniteNumbersWhateverTheyAre) {
  LiveWorld world(falling_box());
  LiveFrame frame = world.frame();
  frame.loss = 1e300;
  LiveStatus status = some_status();
  status.step_seconds = 1e300;
  const ReadFrame read = read_frame(frame_message(frame, status, 4));
  EXPECT_EQ(read.loss, std::numeric_limits<float>::max());
  EXPECT_EQ(read.step_microseconds, std::numeric_limits<float>::max());
}

TEST(SceneMessage, HoldsADocumentAndWhatCanBeDone) {
  LiveWorld world(scene_subject("catapult"));
  for (int i = 0; i < 250; ++i) world.step();
  world.set_control(1, 3);
  const JsonValue message = parse_json(scene_message(world, small_catalogue(), some_status()));
  EXPECT_EQ(message.names, (std::vector<std::string>{"type", "number", "show", "live"}));
  EXPECT_EQ(message["type"].text, "scene");
  EXPECT_EQ(message["number"].number, 7);
  const JsonValue& show = message["show"];
  EXPECT_EQ(show["format"].text, "lithe-show");
  EXPECT_EQ(show["title"].text, "catapult");
  EXPECT_EQ(show["bodies"].size(), world.model().bodies().size());
  ASSERT_EQ(show["motions"].size(), 1u);
  const JsonValue& motion = show["motions"][0];
  EXPECT_EQ(motion["times"].floats().size(), 1u);
  EXPECT_EQ(motion["poses"].floats(), world.frame().track.poses);
  std::vector<std::string> series;
  for (const JsonValue& one : motion["series"].items) series.push_back(one["name"].text);
  EXPECT_EQ(series,
            (std::vector<std::string>{"energy", "kinetic energy", "potential energy", "contact force", "loss"}));
  const JsonValue& live = message["live"];
  EXPECT_EQ(live["scene"].text, "catapult");
  ASSERT_EQ(live["scenes"].size(), 3u);
  EXPECT_EQ(live["scenes"][1]["name"].text, "pendulum");
  EXPECT_EQ(live["scenes"][1]["description"].text, "a pendulum swings");
  EXPECT_TRUE(live["playing"].truth);
  EXPECT_TRUE(live["can_step"].truth);
  EXPECT_EQ(live["speed"].number, 0.5);
  EXPECT_EQ(live["loss"].text, "loss");
  ASSERT_EQ(live["controls"].size(), world.controls().size());
  const JsonValue& control = live["controls"][1];
  EXPECT_EQ(control["name"].text, "segment_2");
  EXPECT_EQ(control["unit"].text, "N·m");
  EXPECT_EQ(control["lower"].number, -1000);
  EXPECT_EQ(control["upper"].number, 1000);
  EXPECT_EQ(control["value"].number, 3);
  EXPECT_EQ(control["initial"].number, 0);
  ASSERT_EQ(live["parameters"].size(), world.parameters().size());
  EXPECT_EQ(live["parameters"][0]["name"].text, "gravity");
}

TEST(SceneMessage, MayHaveNoLossAndNoOtherScenes) {
  LiveWorld world(falling_box());
  LiveStatus status = some_status();
  status.can_step = false;
  const JsonValue message = parse_json(scene_message(world, {}, status));
  EXPECT_EQ(message["live"]["loss"].kind, JsonValue::Kind::null);
  EXPECT_EQ(message["live"]["scenes"].size(), 0u);
  EXPECT_EQ(message["live"]["controls"].size(), 0u);
  EXPECT_FALSE(message["live"]["can_step"].truth);
  EXPECT_FALSE(message["show"]["motions"][0].has("gradients"));
}

TEST(SceneMessage, TakesAnyNames) {
  const std::string odd = "\"}],\\ \n\t\x01</script> 日本 {0} \xff\xfe";
  const std::string seen = "\"}],\\ \n\t\x01</script> 日本 {0} \xEF\xBF\xBD\xEF\xBF\xBD";
  ModelBuilder builder;
  builder.add_body("world", {.name = odd, .inertia = SpatialInertia::box(1, Vec3::Constant(0.1))},
                   revolute(odd, Vec3::UnitX()));
  const Model model = builder.build();
  LiveSubject subject = {.name = odd, .model = model, .start = {VecX::Zero(1), VecX::Zero(1)}};
  subject.loss =
      LiveLoss{odd, [](const auto&, const auto&) { return LiveLoss::Value{1, VecX::Zero(1), VecX::Zero(1)}; }};
  LiveWorld world(subject);
  const LiveCatalogue catalogue = {.entries = {{odd, odd}}, .open = {}};
  const std::string text = scene_message(world, catalogue, some_status());
  EXPECT_EQ(text.find('<'), std::string::npos);
  const JsonValue message = parse_json(text);
  EXPECT_EQ(message["live"]["scene"].text, seen);
  EXPECT_EQ(message["live"]["scenes"][0]["description"].text, seen);
  EXPECT_EQ(message["live"]["controls"][0]["name"].text, seen);
  EXPECT_EQ(message["live"]["loss"].text, seen);
  EXPECT_EQ(message["show"]["bodies"][1]["name"].text, seen);
  EXPECT_EQ(message["show"]["motions"][0]["gradients"]["loss"].text, seen);
}

TEST(ValuesMessage, HoldsPresentValues) {
  LiveWorld world(scene_subject("catapult"));
  world.set_control(0, -2.5);
  world.set_parameter(0, 1.625);
  const JsonValue message = parse_json(values_message(world, some_status()));
  EXPECT_EQ(message.names, (std::vector<std::string>{"type", "controls", "parameters", "playing", "speed", "clients"}));
  EXPECT_EQ(message["type"].text, "values");
  EXPECT_EQ(message["controls"].numbers(), (std::vector<double>{-2.5, 0, 0}));
  EXPECT_EQ(message["parameters"].numbers()[0], 1.625);
  EXPECT_EQ(message["parameters"].size(), world.parameters().size());
  EXPECT_TRUE(message["playing"].truth);
  EXPECT_EQ(message["speed"].number, 0.5);
  EXPECT_EQ(message["clients"].number, 3);
}

TEST(ErrorMessage, HoldsAnyText) {
  const JsonValue message = parse_json(error_message("it's \"wrong\" \\ \n <b> \x80"));
  EXPECT_EQ(message["type"].text, "error");
  EXPECT_EQ(message["message"].text, "it's \"wrong\" \\ \n <b> \xEF\xBF\xBD");
}

}  // namespace
}  // namespace lithe::test
