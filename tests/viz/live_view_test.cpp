#include "lithe/viz/live/live_view.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lithe/core/check.h"
#include "lithe/viz/document/show_json.h"
#include "tests/support/clock.h"
#include "tests/support/error_text.h"
#include "tests/viz/live_subjects.h"
#include "tests/viz/test_client.h"

namespace lithe::test {
namespace {

const std::string kLivePage = "<html>" + std::string(kShowPlaceholder) + "</html>";

// Waits for values in which something holds.
template <class Condition>
bool wait_value(TestClient& client, Condition condition) {
  return client.wait([&] { return !client.values.empty() && condition(client.value()); });
}

template <class Condition>
bool wait_frame(TestClient& client, Condition condition) {
  return client.wait([&] { return !client.frames.empty() && condition(client.frame()); });
}

TEST(LiveView, ThePageSaysThatItIsLive) {
  const LiveView view(falling_box(), {}, kLivePage);
  const ViewAddress where = parse_address(view.address());
  const std::string answer = http_get(where.port, "/?token=" + where.token);
  EXPECT_EQ(http_status(answer), 200);
  EXPECT_TRUE(answer.ends_with(
      R"(<html><script type="application/json" id="lithe-show">{"format":"lithe-live","version":1}</script></html>)"))
      << answer;
  expect_error([] { LiveView none(falling_box(), {}, "<html></html>"); }, "place");
}

TEST(LiveView, GreetsWithTheSceneThenValuesAndAFrame) {
  const LiveView view(falling_box(), small_catalogue(), kLivePage, kPaused);
  TestClient client(view.address());
  ASSERT_TRUE(client.wait([&] { return !client.frames.empty(); }));
  EXPECT_EQ(client.kinds, (std::vector<std::string>{"scene", "values", "frame"}));
  EXPECT_EQ(client.scene()["live"]["scene"].text, "falling box");
  EXPECT_EQ(client.scene()["live"]["scenes"].size(), 3u);
  EXPECT_TRUE(client.scene()["live"]["can_step"].truth);
  EXPECT_FALSE(client.scene()["live"]["playing"].truth);
  EXPECT_EQ(client.scene()["number"].number, client.frame().scene);
  EXPECT_EQ(client.value()["clients"].number, 1);
  EXPECT_EQ(client.frame().time, 0);
  EXPECT_FALSE(client.frame().playing);
  EXPECT_EQ(view.clients(), 1);
}

TEST(LiveView, PlaysWhenTheFirstViewerIsThereUnlessItIsToWait) {
  LiveView view(falling_box(), {}, kLivePage);
  EXPECT_EQ(view.now().time, 0);
  TestClient client(view.address());
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.time > 0.05 && frame.playing; }));
  client.send("pause");
  EXPECT_TRUE(wait_value(client, [](const JsonValue& value) { return !value["playing"].truth; }));
  TestClient second(view.address());  // which is not the first
  EXPECT_TRUE(second.wait([&] { return !second.scenes.empty(); }));
  EXPECT_FALSE(second.scene()["live"]["playing"].truth);

  LiveView waiting(falling_box(), {}, kLivePage, kPaused);
  TestClient other(waiting.address());
  ASSERT_TRUE(other.wait([&] { return !other.frames.empty(); }));
  EXPECT_FALSE(other.scene()["live"]["playing"].truth);
  EXPECT_EQ(waiting.now().time, 0);
}

TEST(LiveView, PlaysAndPauses) {
  const LiveView view(falling_box(), {}, kLivePage, kPaused);
  TestClient client(view.address());
  client.send("play");
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.playing && frame.time > 0.1; }));
  client.send("pause");
  ASSERT_TRUE(wait_value(client, [](const JsonValue& value) { return !value["playing"].truth; }));
  ASSERT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return !frame.playing; }));
  const double time = view.now().time;
  EXPECT_EQ(client.frame().time, time);
  client.send("step 1");
  EXPECT_TRUE(wait_frame(client, [&](const ReadFrame& frame) { return frame.time > time; }));
  EXPECT_NEAR(client.frame().time, time + 1e-3, 1e-12);  // it stood still in between
  for (std::size_t i = 1; i < client.frames.size(); ++i) {
    EXPECT_EQ(client.frames[i].epoch, client.frames[0].epoch);
    EXPECT_GE(client.frames[i].time, client.frames[i - 1].time);
    EXPECT_GT(client.frames[i].frame, client.frames[i - 1].frame);
  }
}

TEST(LiveView, Steps) {
  const LiveView view(falling_box(), {}, kLivePage, kPaused);
  TestClient client(view.address());
  client.send("step 1");
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.time > 0; }));
  EXPECT_NEAR(view.now().time, 1e-3, 1e-15);
  EXPECT_NEAR(view.now().state.v[2], -9.81e-3, 1e-12);
  client.send("step 100");
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.time > 0.1009; }));
  EXPECT_NEAR(view.now().time, 0.101, 1e-12);
  client.send("play");
  EXPECT_TRUE(wait_value(client, [](const JsonValue& value) { return value["playing"].truth; }));
  EXPECT_EQ(client.refusal("step 1"), "pause first: steps are for a simulation that stands still");
}

// However many are asked for: they are taken little by little, and what comes in between is done.
TEST(LiveView, StaysResponsiveWhileManyStepsAreTaken) {
  const LiveView view(many_boxes(1000), {}, kLivePage, kPaused);
  TestClient client(view.address());
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(client.send("step 1000"));  // which take longer than anybody's patience
  client.send("reset");
  EXPECT_TRUE(wait_frame(client, [&](const ReadFrame& frame) { return frame.epoch == 2 && frame.time == 0; }));
  EXPECT_EQ(view.now().time, 0);  // the others are forgotten
}

TEST(LiveView, Resets) {
  const LiveView view(falling_box(), {}, kLivePage, kPaused);
  TestClient client(view.address());
  client.send("step 50");
  ASSERT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.time > 0.0499; }));
  const std::uint32_t epoch = client.frame().epoch;
  client.send("reset");
  EXPECT_TRUE(wait_frame(client, [&](const ReadFrame& frame) { return frame.epoch != epoch; }));
  EXPECT_EQ(client.frame().epoch, epoch + 1);
  EXPECT_EQ(client.frame().time, 0);
  EXPECT_FLOAT_EQ(client.frame().poses[9], 0.5f);
}

TEST(LiveView, GoesSlowerAndFaster) {
  const LiveView view(falling_box(), {}, kLivePage, kPaused);
  TestClient client(view.address());
  client.send("speed 0.01");
  EXPECT_TRUE(wait_value(client, [](const JsonValue& value) { return value["speed"].number == 0.01; }));
  client.send("play");
  const Stopwatch watch;
  EXPECT_TRUE(client.wait([&] { return watch.seconds() > 0.5; }));
  const double slow = view.now().time;
  EXPECT_LT(slow, 0.02 * watch.seconds() + 2e-3);
  const Stopwatch fast;
  client.send("speed 10");
  EXPECT_TRUE(wait_value(client, [](const JsonValue& value) { return value["speed"].number == 10; }));
  EXPECT_TRUE(wait_frame(client, [&](const ReadFrame& frame) { return frame.time > slow + 1; }));
  EXPECT_GT(fast.seconds(), 0.05);  // no faster than asked for, but for what a tick may catch up
  EXPECT_EQ(client.refusal("speed 11"), "11 is not within 0.01 … 10: speed FACTOR");
}

TEST(LiveView, SetsControlsAndParametersAndRestoresThem) {
  const LiveView view(scene_subject("cartpole"), {}, kLivePage, kPaused);
  TestClient client(view.address());
  ASSERT_TRUE(client.wait([&] { return !client.values.empty(); }));
  const double initial = client.value()["parameters"][0].number;
  client.send("control 0 100");
  EXPECT_TRUE(wait_value(client, [](const JsonValue& value) { return value["controls"][0].number == 10; }));
  client.send("parameter 0 1.5");
  EXPECT_TRUE(wait_value(client, [](const JsonValue& value) { return value["parameters"][0].number == 1.5; }));
  TestClient later(view.address());  // finds them as they are
  ASSERT_TRUE(later.wait([&] { return !later.scenes.empty(); }));
  EXPECT_EQ(later.scene()["live"]["controls"][0]["value"].number, 10);
  EXPECT_EQ(later.scene()["live"]["controls"][0]["initial"].number, 0);
  client.send("defaults");
  EXPECT_TRUE(wait_value(client, [&](const JsonValue& value) {
    return value["controls"][0].number == 0 && value["parameters"][0].number == initial;
  }));
  EXPECT_EQ(client.refusal("control 99 1"), "there is no control 99; there are 1");
  EXPECT_EQ(client.refusal("parameter -1 1"), "there is no parameter -1; there are 3");
}

TEST(LiveView, ChoosesScenes) {
  const LiveView view(scene_subject("catapult"), small_catalogue(), kLivePage, kPaused);
  TestClient client(view.address()), other(view.address());
  client.send("step 5");
  ASSERT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.time > 0; }));
  client.send("push 1 0 0 0 0 0 1");
  ASSERT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.pushed; }));
  const double number = client.scene()["number"].number;
  client.send("scene pendulum");
  for (TestClient* each : {&client, &other}) {
    EXPECT_TRUE(each->wait([&] { return each->scenes.size() == 2; }));
    EXPECT_EQ(each->scene()["number"].number, number + 1);
    EXPECT_EQ(each->scene()["live"]["scene"].text, "pendulum");
    EXPECT_EQ(each->scene()["live"]["loss"].kind, JsonValue::Kind::null);
    EXPECT_TRUE(wait_frame(*each, [&](const ReadFrame& frame) { return frame.scene == number + 1; }));
    EXPECT_EQ(each->frame().time, 0);
    EXPECT_EQ(each->frame().bodies, 2u);
    EXPECT_FALSE(each->frame().pushed);
  }
  EXPECT_EQ(client.refusal("scene nothing"), "there is no scene of this name to choose");
  EXPECT_EQ(client.refusal("scene broken"), "its file is gone");
  EXPECT_EQ(client.refusal("scene catapult"), "there is no scene of this name to choose");  // not in the catalogue
  client.send("step 1");
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.time > 0; }));
  EXPECT_EQ(client.scenes.size(), 2u);  // refusals changed nothing
}

TEST(LiveView, PushesAndReleases) {
  const LiveView view(falling_box(), {}, kLivePage, kPaused);
  TestClient client(view.address());
  client.send("push 1 0 0 0 0.2 0 0.7");
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.pushed; }));
  EXPECT_EQ(client.frame().time, 0);  // kept until time goes on
  client.send("speed 10");
  client.send("play");
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) {
    return std::abs(frame.poses[7] - 0.2) < 0.01 && std::abs(frame.poses[9] - 0.7) < 0.01;
  }));
  client.send("release");
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return !frame.pushed && frame.poses[9] < 0.11; }));
  EXPECT_EQ(client.refusal("push 9 0 0 0 0 0 0"), "there is no body 9 to be drawn; they are 1 … 1");
}

TEST(LiveView, RefusesWhatIsNoCommandAndGoesOn) {
  const LiveView view(falling_box(), {}, kLivePage, kPaused);
  TestClient client(view.address()), other(view.address());
  EXPECT_EQ(client.refusal("fly"), "'fly' is no command");
  EXPECT_EQ(client.refusal(""), "'' is no command");
  EXPECT_EQ(client.refusal("step"), "'step' takes 1 value(s), not 0: step COUNT");
  client.send("step 1");
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.time > 0; }));
  EXPECT_TRUE(wait_frame(other, [](const ReadFrame& frame) { return frame.time > 0; }));
  EXPECT_TRUE(other.errors.empty());  // they are for who asked
}

// Errors come when a loss throws; the viewers are told, and everything else goes on.
TEST(LiveView, SurvivesALossThatCannotBeComputed) {
  LiveSubject subject = falling_box();
  subject.loss = LiveLoss{"picky", [](const auto& q, const auto&) {
                            LITHE_CHECK(q[2] > -0.05, "it is too low for me");
                            return LiveLoss::Value{q[2], VecX::Zero(6), VecX::Zero(6)};
                          }};
  LiveView view(subject, small_catalogue(), kLivePage, kPaused);
  TestClient client(view.address());
  client.send("play");
  ASSERT_TRUE(client.wait([&] { return !client.errors.empty(); }));
  EXPECT_EQ(client.errors.back(), "the simulation was paused: it is too low for me");
  EXPECT_TRUE(wait_value(client, [](const JsonValue& value) { return !value["playing"].truth; }));
  TestClient late(view.address());
  EXPECT_TRUE(late.wait([&] { return !late.errors.empty(); }));
  EXPECT_NE(late.errors.front().find("it is too low for me"), std::string::npos) << late.errors.front();
  client.send("reset");
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.time == 0 && frame.epoch == 2; }));
  client.send("scene pendulum");
  EXPECT_TRUE(late.wait([&] { return !late.scenes.empty(); }));
}

TEST(LiveView, SaysThatItDiverged) {
  LiveSubject subject = falling_box();
  subject.time_step = 0.01;
  LiveView view(subject, {}, kLivePage, kPaused);
  TestClient client(view.address());
  view.show(subject.start.q, VecX::Constant(6, 9.9e29), 1);
  client.send("speed 10");
  client.send("play");
  ASSERT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.diverged; }));
  EXPECT_TRUE(wait_value(client, [](const JsonValue& value) { return !value["playing"].truth; }));
  EXPECT_EQ(client.refusal("play"), "the simulation diverged; reset it first");
  EXPECT_EQ(client.refusal("step 1"), "the simulation diverged; reset it first");
  client.send("reset");
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return !frame.diverged && frame.time == 0; }));
  client.send("play");
  EXPECT_TRUE(wait_frame(client, [](const ReadFrame& frame) { return frame.time > 0; }));
}

TEST(LiveView, APortThatIsTakenIsAnError) {
  const LiveView view(falling_box(), {}, kLivePage);
  const int port = parse_address(view.address()).port;
  expect_error([&] { LiveView other(falling_box(), {}, kLivePage, {.port = port}); }, "cannot be used");
}

}  // namespace
}  // namespace lithe::test
