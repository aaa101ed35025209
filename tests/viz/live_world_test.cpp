#include "lithe/viz/live/internal/live_world.h"

#include <gtest/gtest.h>

#include <vector>

#include "lithe/dynamics/body_motion.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/step/step.h"
#include "tests/support/constants.h"
#include "tests/support/error_text.h"
#include "tests/viz/live_subjects.h"

namespace lithe::test {

using namespace internal;
namespace {

int slider(const std::vector<LiveSlider>& sliders, const std::string& name) {
  for (std::size_t i = 0; i < sliders.size(); ++i) {
    if (sliders[i].name == name) return static_cast<int>(i);
  }
  ADD_FAILURE() << "there is no slider " << name;
  return -1;
}

std::vector<State> run_steps(LiveWorld& world, int steps, bool with_frames = false) {
  std::vector<State> states = {world.state()};
  for (int i = 0; i < steps; ++i) {
    if (with_frames) world.frame();
    world.step();
    states.push_back(world.state());
  }
  return states;
}

void expect_same_bits(const std::vector<State>& a, const std::vector<State>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].q, b[i].q) << "state " << i;
    ASSERT_EQ(a[i].v, b[i].v) << "state " << i;
  }
}

TEST(LiveWorld, MovesAsTheSimulationDoes) {
  for (const std::string name : {"humanoid", "catapult", "four_bar", "stack:3"}) {
    const LiveSubject subject = scene_subject(name);
    LiveWorld world(subject);
    StepOptions options;
    options.time_step = subject.time_step;
    State state = subject.start;
    StepRecord record;
    for (int i = 0; i < 100; ++i) {
      const Control control = {.tau = VecX::Zero(subject.model.nv()), .motor_targets = subject.motor_targets};
      step(subject.model, state, control, options, record, &record.warm_start);
      state = record.next;
      world.step();
      ASSERT_EQ(world.state().q, state.q) << name << " " << i;
      ASSERT_EQ(world.state().v, state.v) << name << " " << i;
    }
    EXPECT_NEAR(world.time(), 100 * subject.time_step, 1e-9);
  }
}

TEST(LiveWorld, ResetGivesTheSameMotionAgain) {
  for (const std::string& name : scene_names()) {
    SCOPED_TRACE(name);
    LiveWorld world(scene_subject(name));
    const std::vector<State> first = run_steps(world, 60);
    run_steps(world, 25);
    world.reset();
    EXPECT_EQ(world.time(), 0);
    expect_same_bits(run_steps(world, 60), first);
  }
}

// Not even what the solver guessed stays.
TEST(LiveWorld, ResetForgetsHowConstraintsWereSolved) {
  LiveWorld world(scene_subject("humanoid"));
  const LiveSolver cold = world.frame().solver;
  run_steps(world, 20);
  world.frame();
  world.step();
  EXPECT_EQ(world.frame().solver, LiveSolver::guessed);
  EXPECT_GT(cold, LiveSolver::guessed);
  world.reset();
  EXPECT_EQ(world.frame().solver, cold);
}

TEST(LiveWorld, IsNotChangedByLookingAtIt) {
  for (const std::string name : {"humanoid", "pile", "catapult"}) {
    LiveWorld world(scene_subject(name));
    const std::vector<State> unseen = run_steps(world, 60);
    world.reset();
    expect_same_bits(run_steps(world, 60, true), unseen);
  }
}

TEST(LiveWorld, ParametersActOnTheNextStep) {
  LiveWorld world(falling_box());
  const double h = world.subject().time_step;
  world.step();
  const double before = world.state().v[2];
  EXPECT_NEAR(before, -9.81 * h, 1e-12);
  world.frame();  // the step from here was computed already
  world.set_parameter(slider(world.parameters(), "gravity"), 5);
  world.step();
  EXPECT_NEAR(world.state().v[2], before - 5 * h, 1e-12);
  world.frame();
  world.restore_defaults();
  world.step();
  EXPECT_NEAR(world.state().v[2], before - (5 + 9.81) * h, 1e-12);
  EXPECT_EQ(world.subject().model.gravity(), Vec3(0, 0, -9.81));
}

TEST(LiveWorld, ControlsActOnTheNextStepAndSurviveAReset) {
  LiveWorld world(scene_subject("cartpole"));
  const int cart = slider(world.controls(), "cart");
  const std::vector<State> free = run_steps(world, 5);
  world.reset();
  world.frame();
  world.set_control(cart, 5);
  const std::vector<State> driven = run_steps(world, 5);
  EXPECT_GT(driven[1].v[0], free[1].v[0]);
  world.reset();
  EXPECT_EQ(world.controls()[static_cast<std::size_t>(cart)].value, 5);
  expect_same_bits(run_steps(world, 5), driven);
  world.restore_defaults();
  world.reset();
  expect_same_bits(run_steps(world, 5), free);
}

TEST(LiveWorld, MotorsFollowTheirSliders) {
  LiveWorld world(scene_subject("gripper"));
  const int lift = slider(world.controls(), "lift");
  const LiveSlider before = world.controls()[static_cast<std::size_t>(lift)];
  const double target = before.value - 0.06;
  ASSERT_GT(target, before.lower);
  world.set_control(lift, target);
  run_steps(world, 2000);
  const Model& model = world.model();
  EXPECT_NEAR(world.state().q[model.joints()[model.joint("lift")].q_index], target, 0.02);
}

TEST(LiveWorld, CountsEpochs) {
  LiveWorld world(falling_box());
  const State start = world.state();
  const auto epoch = [&] { return world.frame().epoch; };
  const std::uint32_t first = epoch();
  world.step();
  EXPECT_EQ(epoch(), first);
  world.set_parameter(0, 1);
  world.push(1, {BodyIndex(1), Vec3::Zero(), Vec3::Zero()});
  EXPECT_EQ(epoch(), first);
  world.set_state(start.q, start.v, 2);  // later: it goes on from there
  EXPECT_EQ(epoch(), first);
  EXPECT_EQ(world.time(), 2);
  world.set_state(start.q, start.v, 2);  // at the same time
  EXPECT_EQ(epoch(), first + 1);
  world.set_state(start.q, start.v, -1);  // earlier
  EXPECT_EQ(epoch(), first + 2);
  world.reset();
  EXPECT_EQ(epoch(), first + 3);
  EXPECT_EQ(world.time(), 0);
}

TEST(LiveWorld, TakesStatesFromElsewhere) {
  LiveWorld world(falling_box());
  VecX q = world.state().q, v = VecX::Constant(6, 0.1);
  q[0] = 0.7;
  q.tail(4) << 0, 0, 3, 4;  // to be normalised
  world.set_state(q, v, 1.5);
  EXPECT_EQ(world.state().v, v);
  EXPECT_NEAR((world.state().q.tail(4) - Vec4(0, 0, 0.6, 0.8)).norm(), 0, 1e-15);
  const std::vector<float> poses = world.frame().track.poses;
  EXPECT_FLOAT_EQ(poses[7], 0.7f);
  EXPECT_FLOAT_EQ(poses[7 + 5], 0.6f);
}

TEST(LiveWorld, RefusesStatesThatDoNotFitAndKeepsItsOwn) {
  LiveWorld world(falling_box());
  world.step();
  const State before = world.state();
  const double time = world.time();
  VecX bad = before.q;
  bad[1] = kNan;
  expect_error([&] { world.set_state(bad, before.v, 1); }, "q");
  expect_error([&] { world.set_state(VecX::Zero(3), before.v, 1); }, "q", "3");
  expect_error([&] { world.set_state(before.q, VecX::Zero(7), 1); }, "v", "7");
  expect_error([&] { world.set_state(before.q, before.v, kNan); }, "a time of nan s");
  EXPECT_EQ(world.state().q, before.q);
  EXPECT_EQ(world.time(), time);
}

TEST(LiveWorld, RefusesSubjectsThatDoNotFit) {
  LiveSubject subject = falling_box();
  subject.start.v = VecX::Zero(2);
  expect_error([&] { LiveWorld world(subject); }, "v", "2");
  subject = falling_box();
  subject.time_step = 0;
  expect_error([&] { LiveWorld world(subject); }, "time step");
  subject = scene_subject("four_bar");
  subject.motor_targets = VecX::Zero(3);
  expect_error([&] { LiveWorld world(subject); }, "has 1 motors, but 3 targets");
}

TEST(LiveWorld, PushesAreHeldUntilTheyAreReleased) {
  LiveWorld world(falling_box());
  EXPECT_FALSE(world.frame().pushed);
  const Grab grab = {BodyIndex(1), Vec3::Zero(), Vec3(0.3, 0, 0.8)};
  world.push(1, grab);
  EXPECT_TRUE(world.frame().pushed);
  run_steps(world, 2500);
  EXPECT_NEAR((world.state().q.head(3) + Vec3(0, 0, 0.5) - grab.target).norm(), 0, 1e-3);
  world.push(2, grab);  // two hands
  world.release(1);
  EXPECT_TRUE(world.frame().pushed);
  world.release(1);  // lets go of nothing
  world.release(2);
  EXPECT_FALSE(world.frame().pushed);
  run_steps(world, 1000);
  EXPECT_LT(world.state().q[2] + 0.5, 0.11);  // it lies on the ground
  expect_error([&] { world.push(1, {BodyIndex(5), Vec3::Zero(), Vec3::Zero()}); }, "there is no body 5");
  EXPECT_FALSE(world.frame().pushed);
}

TEST(LiveWorld, PushesSurviveAReset) {
  LiveWorld world(falling_box());
  world.push(1, {BodyIndex(1), Vec3::Zero(), Vec3(0, 0, 2)});
  const std::vector<State> first = run_steps(world, 50);
  EXPECT_GT(first.back().v[2], 0);
  world.reset();
  expect_same_bits(run_steps(world, 50), first);
}

TEST(LiveWorld, AFramesContactsAreThoseOfTheStepFromItsState) {
  LiveWorld world(scene_subject("humanoid"));
  run_steps(world, 40);
  for (int i = 0; i < 5; ++i) {
    const State state = world.state();
    const LiveFrame frame = world.frame();
    StepOptions options;
    options.time_step = world.subject().time_step;
    StepRecord record;
    step(world.model(), state, {.tau = VecX::Zero(world.model().nv())}, options, record);
    const auto& contacts = record.contacts.contacts;
    ASSERT_GE(contacts.size(), 12u);
    ASSERT_EQ(frame.track.contact_counts, std::vector<std::uint32_t>{static_cast<std::uint32_t>(contacts.size())});
    double sum = 0;
    Vec3 total = Vec3::Zero(), shown_total = Vec3::Zero();
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      EXPECT_EQ(frame.track.contact_shapes[2 * k], static_cast<std::uint32_t>(int{contacts[k].a}));
      EXPECT_EQ(frame.track.contact_shapes[2 * k + 1], static_cast<std::uint32_t>(int{contacts[k].b}));
      const Vec3 force = contact_impulse(record, static_cast<int>(k)) / options.time_step;
      for (int x = 0; x < 3; ++x) {
        const float* shown = &frame.track.contact_values[9 * k];
        EXPECT_EQ(shown[x], static_cast<float>(contacts[k].p[x]));
        EXPECT_EQ(shown[3 + x], static_cast<float>(contacts[k].n[x]));
        shown_total[x] += shown[6 + x];
        sum += x == 0 ? Eigen::Vector3f(shown[6], shown[7], shown[8]).norm() : 0;
      }
      total += force;
    }
    // How a flat foot shares its load among six points is open; what they are together is not.
    EXPECT_NEAR((shown_total - total).norm() / total.norm(), 0, 1e-5);
    EXPECT_NEAR(frame.track.series[3].values[0] / sum, 1, 1e-5);
    world.step();
  }
}

TEST(LiveWorld, AFramesContactForceIsTheWeightOfWhatRests) {
  LiveWorld world(falling_box());
  run_steps(world, 2000);
  const LiveFrame frame = world.frame();
  EXPECT_EQ(frame.track.series[3].name, "contact force");
  EXPECT_NEAR(frame.track.series[3].values[0], 2 * 9.81, 0.01);
  EXPECT_NEAR(frame.track.series[2].values[0], 2 * 9.81 * 0.1, 0.01);  // potential energy
  EXPECT_NE(frame.solver, LiveSolver::nothing);
  EXPECT_NE(frame.solver, LiveSolver::unsolved);
}

TEST(LiveWorld, TellsTheWorstOfTheSolverSinceTheLastFrame) {
  LiveWorld world(falling_box());
  EXPECT_EQ(world.frame().solver, LiveSolver::nothing);  // it flies
  run_steps(world, 2000);
  const LiveSolver worst = world.frame().solver;  // it landed on the way
  EXPECT_GT(worst, LiveSolver::guessed);
  world.step();
  EXPECT_EQ(world.frame().solver, LiveSolver::guessed);  // at rest
}

// With a loss, whose gradients must not overflow either.
LiveSubject runaway() {
  LiveSubject subject = falling_box();
  subject.time_step = 0.01;
  subject.loss = LiveLoss{"distance", [](const auto& q, const auto&) {
                            VecX by_q = VecX::Zero(6);
                            by_q[0] = 1;
                            return LiveLoss::Value{q[0], by_q, VecX::Zero(6)};
                          }};
  return subject;
}

// Makes the state overflow, by steps from one that is just small enough.
void diverge(LiveWorld& world) {
  const VecX v = VecX::Constant(6, 9.9e29);
  world.set_state(world.subject().start.q, v, 1);
  for (int i = 0; i < 1000 && !world.diverged(); ++i) {
    world.step();
    const LiveFrame frame = world.frame();  // there is something to draw all the way
    EXPECT_EQ(frame.track.frames(), 1u);
  }
  ASSERT_TRUE(world.diverged());
}

TEST(LiveWorld, HoldsTheStateWhenNumbersOverflow) {
  LiveWorld world(runaway());
  diverge(world);
  const State held = world.state();
  const double time = world.time();
  EXPECT_TRUE(held.q.allFinite() && held.v.allFinite());
  run_steps(world, 10);
  expect_same_bits({world.state()}, {held});
  EXPECT_EQ(world.time(), time);
  EXPECT_TRUE(world.frame().diverged);
  EXPECT_EQ(world.show().motions.size(), 1u);
  world.reset();
  EXPECT_FALSE(world.diverged());
  EXPECT_FALSE(world.frame().diverged);
  LiveWorld fresh(runaway());
  expect_same_bits(run_steps(world, 3), run_steps(fresh, 3));
}

TEST(LiveWorld, ALaterStateEndsADivergenceAsAJump) {
  LiveWorld world(runaway());
  diverge(world);
  const std::uint32_t epoch = world.frame().epoch;
  world.set_state(world.subject().start.q, world.subject().start.v, 1e9);
  EXPECT_FALSE(world.diverged());
  EXPECT_EQ(world.frame().epoch, epoch + 1);
}

TEST(LiveWorld, RefusesStatesThatAreTooLargeToBeShown) {
  LiveSubject subject = falling_box();
  LiveWorld world(subject);
  for (const double huge : {1e31, 1e200, 1.7e308}) {
    VecX v = subject.start.v, q = subject.start.q;
    v[3] = -huge;
    expect_error([&] { world.set_state(q, v, 1); }, "larger than 1e+30: that cannot be shown");
    q[0] = huge;
    expect_error([&] { world.set_state(q, subject.start.v, 1); }, "larger than 1e+30");
    subject.start.v = v;
    expect_error([&] { LiveWorld other(subject); }, "larger than 1e+30");
    subject.start.v = VecX::Zero(6);
  }
  EXPECT_EQ(world.time(), 0);
}

TEST(LiveWorld, ShowsWhichPairsDoNotTouch) {
  LiveSubject subject = falling_box();
  EXPECT_TRUE(LiveWorld(subject).show().excepted_pairs.empty());
  subject.excepted_pairs = {{.a = "box", .b = "other", .reason = ExceptedPair::Reason::srdf}};
  const std::vector<ShowExceptedPair> shown = LiveWorld(subject).show().excepted_pairs;
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0].a, "box");
  EXPECT_EQ(shown[0].b, "other");
  EXPECT_EQ(shown[0].reason, "an SRDF says so");
}

TEST(LiveWorld, ShowsADocumentWithThePresentFrame) {
  LiveWorld world(scene_subject("catapult"));
  run_steps(world, 250);
  const ShowDocument show = world.show();
  const LiveFrame frame = world.frame();
  EXPECT_EQ(show.title, "catapult");
  EXPECT_EQ(show.time_step, world.subject().time_step);
  EXPECT_EQ(show.bodies.size(), world.model().bodies().size());
  ASSERT_EQ(show.motions.size(), 1u);
  EXPECT_EQ(show.motions[0].frames(), 1u);
  EXPECT_EQ(show.motions[0].poses, frame.track.poses);
  EXPECT_EQ(show.motions[0].contact_values, frame.track.contact_values);
  ASSERT_EQ(show.motions[0].series.size(), 5u);
  EXPECT_EQ(show.motions[0].series[4].name, "loss");
  EXPECT_EQ(show.motions[0].series[4].values[0], static_cast<float>(frame.loss));
  ASSERT_TRUE(show.motions[0].gradients);
  EXPECT_EQ(show.motions[0].gradients->joints, frame.track.gradients->joints);
}

TEST(LiveWorld, EverySceneCanBeShown) {
  for (const std::string& name : scene_names()) {
    LiveWorld world(scene_subject(name));
    run_steps(world, 3);
    EXPECT_EQ(world.frame().track.poses.size(), 7 * world.model().bodies().size()) << name;
    EXPECT_EQ(world.show().motions.size(), 1u) << name;
  }
}

}  // namespace
}  // namespace lithe::test
