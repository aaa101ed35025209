#include "lithe/viz/live/internal/pointer_drag.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lithe/dynamics/body_motion.h"
#include "lithe/scenes/robots/pendulum.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/step/step.h"
#include "tests/support/error_text.h"
#include "tests/viz/live_subjects.h"

namespace lithe::test {

using namespace internal;
namespace {

// A simulation with one hand in it.
struct Held {
  LiveSubject subject;
  double time_step = subject.time_step;
  State state = subject.start;
  DragForces forces = {};
  StepRecord record = {};
  double most_force = 0;

  Vec3 point(const Grab& grab) const {
    Kinematics kin;
    kinematics(subject.model, state.q, kin);
    return point_position(subject.model, kin, grab.body, grab.point);
  }

  void run(const Grab& grab, double seconds) {
    StepOptions options;
    options.time_step = time_step;
    for (int i = 0; i < std::lround(seconds / time_step); ++i) {
      Control control = {.tau = VecX::Zero(subject.model.nv()), .motor_targets = subject.motor_targets};
      forces.add(subject.model, state, time_step, grab, control);
      for (const ExternalWrench& wrench : control.wrenches) {
        ASSERT_TRUE(wrench.wrench.allFinite());
        most_force = std::max(most_force, wrench.wrench.tail<3>().norm());
      }
      step(subject.model, state, control, options, record, &record.warm_start);
      ASSERT_FALSE(record.status.diverged) << "step " << i << " of " << time_step << " s";
      state = record.next;
      ASSERT_TRUE(state.q.allFinite() && state.v.allFinite());
    }
  }
};

ExternalWrench wrench_of(const Model& model, const State& state, const Grab& grab, double time_step = 1e-3) {
  Control control;
  DragForces().add(model, state, time_step, grab, control);
  EXPECT_EQ(control.wrenches.size(), 1u);
  return control.wrenches.at(0);
}

TEST(Grab, AFreeBoxFollowsTheTargetAndStaysThere) {
  for (const Vec3& point : {Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.1), Vec3(-0.1, 0, 0.05)}) {
    Held held{.subject = falling_box()};
    const Grab grab = {BodyIndex(1), point, Vec3(0.4, -0.3, 1.2)};
    held.run(grab, 3);
    EXPECT_NEAR((held.point(grab) - grab.target).norm(), 0, 1e-3);
    double farthest = 0;
    for (int i = 0; i < 20; ++i) {
      held.run(grab, 0.05);
      farthest = std::max(farthest, (held.point(grab) - grab.target).norm());
    }
    EXPECT_LT(farthest, 1e-3);
    EXPECT_LE(held.most_force, 3 * 2 * 9.81 * (1 + 1e-12));
  }
}

TEST(Grab, ComesCloserByTheSameShareEachSecond) {
  Held held{.subject = falling_box()};
  const Grab grab = {BodyIndex(1), Vec3::Zero(), Vec3(0, 0, 0.5 + 0.01)};
  held.run(grab, 0.25);  // two eighths of a second
  EXPECT_NEAR((held.point(grab) - grab.target).norm() / 0.01, std::exp(-2), 0.02);
}

TEST(Grab, PullsWithNoMoreThanThreeWeightsOfWhatHangsTogether) {
  for (const double distance : {1.0, 1e3, 1e12, 1e300}) {
    for (const double time_step : {1e-6, 1e-3, 0.1}) {
      const LiveSubject box = falling_box();
      const Vec6 wrench =
          wrench_of(box.model, box.start, {BodyIndex(1), Vec3(0.1, 0, 0), Vec3(distance, 0, 0.5)}, time_step).wrench;
      EXPECT_TRUE(wrench.allFinite());
      EXPECT_LE(wrench.tail<3>().norm(), 3 * 2 * 9.81 * (1 + 1e-12));
    }
  }
  const LiveSubject box = falling_box();
  EXPECT_NEAR(wrench_of(box.model, box.start, {BodyIndex(1), Vec3::Zero(), Vec3(9, 0, 0.5)}).wrench.tail<3>().norm(),
              3 * 2 * 9.81, 1e-9);
  // By the hand: the weight of all of the humanoid.
  const LiveSubject humanoid = scene_subject("humanoid");
  const Grab hand = {humanoid.model.body("left_hand"), Vec3::Zero(), Vec3(0, 0, 100)};
  EXPECT_NEAR(wrench_of(humanoid.model, humanoid.start, hand).wrench.tail<3>().norm(),
              3 * 9.81 * humanoid.model.total_mass(), 1e-6);
}

TEST(Grab, ActsAtThePointAlone) {
  const LiveSubject box = falling_box();
  const Grab grab = {BodyIndex(1), Vec3(0.1, -0.05, 0.02), Vec3(0.2, 0.3, 0.6)};
  const Vec6 wrench = wrench_of(box.model, box.start, grab).wrench;
  const Vec3 torque = wrench.head<3>(), force = wrench.tail<3>();
  // The box is not turned: its axes are the world's.
  EXPECT_NEAR((torque - Vec3(grab.point.y() * force.z() - grab.point.z() * force.y(),
                             grab.point.z() * force.x() - grab.point.x() * force.z(),
                             grab.point.x() * force.y() - grab.point.y() * force.x()))
                  .norm(),
              0, 1e-12);
}

TEST(Grab, LeavesOtherWrenchesAlone) {
  const LiveSubject box = falling_box();
  Control control;
  control.wrenches.push_back({BodyIndex(1), Vec6::Constant(0.5)});
  DragForces().add(box.model, box.start, 1e-3, {BodyIndex(1), Vec3::Zero(), Vec3(0, 0, 1)}, control);
  ASSERT_EQ(control.wrenches.size(), 2u);
  EXPECT_EQ(control.wrenches[0].wrench, Vec6::Constant(0.5));
}

TEST(Grab, DrawsAPendulumsBobOnlyWhereItCanGo) {
  const Model model = pendulum().build();
  const Vec3 bob(0, 0, -kPendulumLength);
  const State hanging = {VecX::Zero(1), VecX::Zero(1)};
  // Along the rod and along the hinge nothing moves, so nothing pulls.
  for (const Vec3& target : {Vec3(0, 0, -3), Vec3(0, 0, 5), Vec3(0, 2, -1), Vec3(0, -7, -4)}) {
    EXPECT_NEAR(wrench_of(model, hanging, {BodyIndex(1), bob, target}).wrench.norm(), 0, 1e-6) << target.transpose();
  }
  // Across, the force is that of the free direction alone, with or without a part that leads nowhere.
  const Vec3 across = wrench_of(model, hanging, {BodyIndex(1), bob, Vec3(1e-4, 0, -1)}).wrench.tail<3>();
  const Vec3 askew = wrench_of(model, hanging, {BodyIndex(1), bob, Vec3(1e-4, 0.5, -0.3)}).wrench.tail<3>();
  EXPECT_NEAR(across.x(), kPendulumMass * 8e-4 / 1e-3, 0.01);
  EXPECT_NEAR((across - askew).norm(), 0, 1e-6);
}

TEST(Grab, APendulumComesAsNearAsItCan) {
  for (const Vec3& target : {Vec3(1, 0, 0), Vec3(0.3, 0.8, -0.3), Vec3(5, 0, -5), Vec3(0.4, 0, 0.3)}) {
    Held held{.subject = scene_subject("pendulum")};
    held.state = {VecX::Zero(1), VecX::Zero(1)};
    const Grab grab = {BodyIndex(1), Vec3(0, 0, -kPendulumLength), target};
    held.run(grab, 6);
    const Vec3 nearest = kPendulumLength * Vec3(target.x(), 0, target.z()).normalized();
    EXPECT_NEAR((held.point(grab) - nearest).norm(), 0, 1e-2) << target.transpose();
  }
}

// Which directions a stretched double pendulum lacks changes all the time.
TEST(Grab, HoldsADoublePendulum) {
  Held held{.subject = scene_subject("double_pendulum")};
  const Grab grab = {BodyIndex(2), Vec3(0, 0, -kPendulumLength), Vec3(0.8, 0, -1.1)};
  held.run(grab, 8);
  EXPECT_NEAR((held.point(grab) - grab.target).norm(), 0, 1e-2);
  const Grab beyond = {grab.body, grab.point, Vec3(4, 0, -3)};
  held.run(beyond, 12);
  EXPECT_LT(held.state.v.norm(), 0.01);
  // Stretched towards it, but for what gravity draws it down: the hand has three times its weight.
  EXPECT_NEAR((held.point(beyond) - Vec3(1.6, 0, -1.2)).norm(), 0, 0.1);
}

TEST(Grab, IsStableOnTheHumanoidWhateverTheTimeStep) {
  for (const double time_step : {1e-4, 1e-3, 5e-3, 0.01, 0.02}) {
    for (const char* body : {"left_hand", "pelvis", "torso"}) {
      SCOPED_TRACE(std::string(body) + " with steps of " + std::to_string(time_step) + " s");
      Held held{.subject = scene_subject("humanoid"), .time_step = time_step};
      const BodyIndex index = held.subject.model.body(body);
      Grab grab = {index, Vec3(0.02, 0.03, 0.01), held.point({index, Vec3::Zero(), Vec3::Zero()})};
      const double seconds = time_step < 1e-3 ? 0.05 : 0.5;
      grab.target += Vec3(0.3, 0.2, 0.4);
      held.run(grab, seconds);
      grab.target += Vec3(-0.5, 0, -1);
      held.run(grab, seconds);
      EXPECT_LT(held.state.v.cwiseAbs().maxCoeff(), 100);
    }
  }
}

TEST(Grab, LiftsTheHumanoidByItsPelvis) {
  Held held{.subject = scene_subject("humanoid"), .time_step = 2e-3};
  Grab grab = {held.subject.model.body("pelvis"), Vec3::Zero(), Vec3::Zero()};
  grab.target = held.point(grab) + Vec3(0, 0, 0.5);
  held.run(grab, 2);
  EXPECT_NEAR((held.point(grab) - grab.target).norm(), 0, 0.02);
  EXPECT_EQ(held.record.status.contacts, 0);
}

TEST(Grab, IsTheSameWithoutGravity) {
  LiveSubject box = falling_box();
  box.model.set_gravity(Vec3::Zero());
  Held held{.subject = box};
  const Grab grab = {BodyIndex(1), Vec3(0.1, 0, 0), Vec3(-1, 0, 2)};
  held.run(grab, 3);
  EXPECT_NEAR((held.point(grab) - grab.target).norm(), 0, 1e-3);
}

TEST(CheckGrab, RefusesWhatCannotBeDrawn) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "rock"});
  add_free_solid(builder, "box", 1, Box{Vec3::Constant(0.1)}, {});
  const Model model = builder.build();
  const auto refused = [&](int body, const Vec3& point, const Vec3& target, const auto&... parts) {
    expect_error([&] { check_grab(model, {BodyIndex(body), point, target}); }, parts...);
  };
  const Vec3 zero = Vec3::Zero();
  check_grab(model, {model.body("box"), zero, zero});
  refused(0, zero, zero, "there is no body 0 to be drawn; they are 1 … 2");
  refused(-1, zero, zero, "there is no body -1");
  refused(3, zero, zero, "there is no body 3");
  refused(std::numeric_limits<int>::max(), zero, zero, "there is no body 2147483647");
  refused(model.body("rock"), zero, zero, "'rock' is fixed in the world");
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  refused(model.body("box"), Vec3(0, nan, 0), zero, "not finite");
  refused(model.body("box"), zero, Vec3(infinity, 0, 0), "not finite");
}

// Numbers that overflow on the way give no force, or a finite one.
TEST(Grab, IsFiniteForTheLargestNumbers) {
  for (const double huge : {1e100, 1e200, 1e308}) {
    for (const auto& [point, target] : {std::pair{Vec3(huge, 0, 0), Vec3(0, 0, 0)},
                                        {Vec3(0, 0, 0), Vec3(-huge, huge, huge)},
                                        {Vec3(huge, huge, -huge), Vec3(huge, huge, huge)}}) {
      const LiveSubject box = falling_box();
      Control control;
      DragForces().add(box.model, box.start, 1e-3, {BodyIndex(1), point, target}, control);
      for (const ExternalWrench& wrench : control.wrenches) EXPECT_TRUE(wrench.wrench.allFinite());
    }
  }
}

}  // namespace
}  // namespace lithe::test
