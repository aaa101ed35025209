#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "lithe/core/check.h"
#include "lithe/viz/document/show_json.h"
#include "lithe/viz/live/live_view.h"
#include "tests/support/clock.h"
#include "tests/support/error_text.h"
#include "tests/viz/live_subjects.h"
#include "tests/viz/test_client.h"

// Many at once: browsers that agree, hang and vanish, and programs that show what they compute.
namespace lithe::test {
namespace {

const std::string kBarePage = std::string(kShowPlaceholder);

TEST(LiveViewClients, TwoSeeTheSame) {
  const LiveView view(scene_subject("catapult"), {}, kBarePage, kPaused);
  TestClient first(view.address()), second(view.address());
  first.send("control 0 2");
  second.send("parameter 0 5");
  for (TestClient* each : {&first, &second}) {
    EXPECT_TRUE(each->wait([&] {
      return !each->values.empty() && each->value()["controls"][0].number == 2 &&
             each->value()["parameters"][0].number == 5 && each->value()["clients"].number == 2;
    }));
  }
  first.send("step 300");
  const auto done = [](const ReadFrame& frame, double time) { return std::abs(frame.time - time) < 1e-9; };
  const double time = 300 * scene_subject("catapult").time_step;
  for (TestClient* each : {&first, &second}) {
    EXPECT_TRUE(each->wait([&] { return !each->frames.empty() && done(each->frame(), time); }));
  }
  EXPECT_EQ(first.frame().poses, second.frame().poses);
  EXPECT_EQ(first.frame().contact_values, second.frame().contact_values);
  EXPECT_EQ(first.frame().by_joints, second.frame().by_joints);
  EXPECT_EQ(first.frame().epoch, second.frame().epoch);
}

TEST(LiveViewClients, TwentyAtOnceAllGetFrames) {
  const LiveView view(scene_subject("humanoid"), {}, kBarePage);
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(std::make_unique<TestClient>(view.address()));
  for (const auto& client : clients) {
    EXPECT_EQ(client->status(), 101);
    EXPECT_TRUE(client->wait([&] { return client->frames.size() >= 10; }));
    EXPECT_EQ(client->kinds.front(), "scene");
    EXPECT_EQ(client->scenes.size(), 1u);
  }
  EXPECT_EQ(view.clients(), 20);
  clients.resize(3);
  EXPECT_TRUE(eventually([&] { return view.clients() == 3; }));
  EXPECT_TRUE(clients[0]->wait([&] { return clients[0]->value()["clients"].number == 3; }));
}

TEST(LiveViewClients, TheSceneComesFirstWhateverGoesOn) {
  const LiveView view(falling_box(), {}, kBarePage);
  TestClient busy(view.address());
  for (int i = 0; i < 40; ++i) {
    busy.send("parameter 0 " + std::to_string(i % 20));
    TestClient client(view.address());
    ASSERT_TRUE(client.wait([&] { return client.kinds.size() >= 2; }));
    EXPECT_EQ(client.kinds.front(), "scene");
  }
}

// One that stops reading misses frames; nobody else does, and time goes on.
TEST(LiveViewClients, OneThatHangsDelaysNobody) {
  const LiveView view(many_boxes(1000), {}, kBarePage, kPaused);
  TestClient reader(view.address()), sleeper(view.address(), {.receive_buffer = 4096});
  ASSERT_TRUE(reader.wait([&] { return !reader.frames.empty(); }));
  ASSERT_TRUE(sleeper.wait([&] { return !sleeper.frames.empty(); }));
  const std::size_t before = sleeper.frames.size();
  reader.send("play");
  // Until far more was sent than the system keeps for a client: 28 kB each.
  constexpr std::size_t kFrames = 120;
  const std::size_t first = reader.frames.size();
  const double start = view.now().time;
  ASSERT_TRUE(reader.wait([&] { return reader.frames.size() >= first + kFrames; }, 2 * kPatience));
  EXPECT_GT(view.now().time, start);
  // What it missed is gone; it goes on with what is now.
  reader.send("pause");
  ASSERT_TRUE(reader.wait([&] { return !reader.frame().playing; }));
  ASSERT_TRUE(sleeper.wait([&] { return sleeper.frame().frame == reader.frame().frame; }));
  EXPECT_LT(sleeper.frames.size() - before, reader.frames.size() / 2);
  EXPECT_EQ(sleeper.frame().poses, reader.frame().poses);
}

TEST(LiveViewClients, OneThatVanishesLetsGo) {
  const LiveView view(falling_box(), {}, kBarePage, kPaused);
  TestClient stays(view.address());
  {
    TestClient goes(view.address());
    goes.send("push 1 0 0 0 0 0 3");
    ASSERT_TRUE(stays.wait([&] { return !stays.frames.empty() && stays.frame().pushed; }));
    EXPECT_TRUE(stays.wait([&] { return stays.value()["clients"].number == 2; }));
    goes.vanish();
  }
  EXPECT_TRUE(stays.wait([&] { return !stays.frame().pushed && stays.value()["clients"].number == 1; }));
  EXPECT_EQ(view.clients(), 1);
  stays.send("push 1 0 0 0 0 0 3");  // one's own push is another's business
  EXPECT_TRUE(stays.wait([&] { return stays.frame().pushed; }));
  {
    TestClient goes(view.address());
    goes.send("release");
    EXPECT_TRUE(goes.wait([&] { return !goes.frames.empty() && goes.frame().pushed; }));
  }
  EXPECT_TRUE(stays.wait([&] { return stays.value()["clients"].number == 1; }));
  EXPECT_TRUE(stays.frame().pushed);
}

TEST(LiveViewClients, MayComeAndGoQuickly) {
  const LiveView view(falling_box(), {}, kBarePage);
  for (int i = 0; i < 60; ++i) {
    TestClient client(view.address());
    EXPECT_EQ(client.status(), 101);
    if (i % 3 == 0) client.send("push 1 0 0 0 0 0 1");
    if (i % 2 == 0) client.vanish();
  }
  EXPECT_TRUE(eventually([&] { return view.clients() == 0; }));
  TestClient client(view.address());
  EXPECT_TRUE(client.wait([&] { return client.frames.size() > 3; }));
  EXPECT_FALSE(client.frame().pushed);
}

TEST(LiveViewClients, TimeGoesOnWithoutThem) {
  const LiveView view(falling_box(), {}, kBarePage);
  {
    TestClient client(view.address());
    ASSERT_TRUE(client.wait([&] { return !client.frames.empty(); }));
  }
  ASSERT_TRUE(eventually([&] { return view.clients() == 0; }));
  const double time = view.now().time;
  EXPECT_TRUE(eventually([&] { return view.now().time > time + 0.1; }));
}

TEST(LiveViewClients, DoNotKeepItFromEnding) {
  auto view = std::make_unique<LiveView>(scene_subject("pile"), small_catalogue(), kBarePage);
  TestClient client(view->address()), sleeper(view->address(), {.receive_buffer = 4096});
  ASSERT_TRUE(client.wait([&] { return !client.frames.empty(); }));
  for (int i = 0; i < 100; ++i) client.send(i % 2 ? "scene pendulum" : "scene falling box");
  client.send("pause");
  for (int i = 0; i < 100; ++i) client.send("step 1000");
  const Stopwatch watch;
  view.reset();
  EXPECT_LT(watch.seconds(), 8);  // what was asked for takes minutes
  EXPECT_TRUE(client.wait_until_closed());
}

TEST(LiveViewClients, AProgramShowsWhatItComputes) {
  LiveView view(falling_box(), {}, kBarePage, {.can_step = false});
  TestClient client(view.address());
  ASSERT_TRUE(client.wait([&] { return !client.frames.empty(); }));
  EXPECT_FALSE(client.scene()["live"]["can_step"].truth);
  EXPECT_FALSE(client.frame().playing);
  const State start = view.now().state;
  const std::uint32_t epoch = client.frame().epoch;
  for (int i = 1; i <= 20; ++i) {
    VecX q = start.q;
    q[0] = 0.1 * i;
    view.show(q, start.v, 0.5 * i);
    EXPECT_EQ(view.now().time, 0.5 * i);
  }
  EXPECT_TRUE(client.wait([&] { return client.frame().time == 10; }));
  EXPECT_FLOAT_EQ(client.frame().poses[7], 2);
  EXPECT_EQ(client.frame().epoch, epoch);
  view.show(start.q, start.v, 0);  // again from the start
  EXPECT_TRUE(client.wait([&] { return client.frame().epoch == epoch + 1; }));
  for (const std::string command :
       {"play", "pause", "step 1", "reset", "speed 2", "parameter 0 1", "defaults", "push 1 0 0 0 0 0 0", "release"}) {
    EXPECT_EQ(client.refusal(command), "this world is moved by a program, not from here") << command;
  }
  expect_error([&] { view.show(VecX::Zero(2), start.v, 1); }, "q");
  EXPECT_EQ(view.now().time, 0);
}

TEST(LiveViewClients, ProgramsMayCallFromSeveralThreads) {
  LiveView view(falling_box(), {}, kBarePage, {.can_step = false});
  TestClient client(view.address());
  const State start = view.now().state;
  std::atomic<int> wrong = 0, shown = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        VecX q = start.q;
        q[0] = q[1] = t;
        view.show(q, start.v, i);
        const LiveView::Moment now = view.now();
        if (now.state.q[0] != now.state.q[1] || view.clients() > 1) ++wrong;
        ++shown;
      }
    });
  }
  EXPECT_TRUE(client.wait([&] { return shown == 400; }));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  view.show(start.q, start.v, 1e6);
  EXPECT_TRUE(client.wait([&] { return !client.frames.empty() && client.frame().time == 1e6; }));
  for (const ReadFrame& frame : client.frames) EXPECT_EQ(frame.poses[7], frame.poses[8]);
}

TEST(LiveViewClients, ProgramsPlayAndPause) {
  LiveView view(falling_box(), {}, kBarePage, kPaused);
  view.play(true);
  EXPECT_TRUE(eventually([&] { return view.now().time > 0.05; }));
  view.play(false);
  const double time = view.now().time;
  view.play(false);
  EXPECT_EQ(view.now().time, time);
}

}  // namespace
}  // namespace lithe::test
