#include "apps/experiments/motion_gradients.h"

#include <gtest/gtest.h>

#include <random>

#include "apps/experiments/recorded_motion.h"
#include "lithe/model/configuration.h"
#include "lithe/optimize/scene_problem.h"
#include "lithe/rollout/rollout_gradient.h"
#include "lithe/scenes/catalogue.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"

namespace lithe::experiments {
namespace {

using test::central_difference;
using test::expect_error;
using test::relative_error;

// A scene with a task, driven by forces that change from step to step, and its recording.
struct Driven {
  Scene scene;
  Controls controls;
  std::vector<RecordedFrame> frames;

  Driven(const std::string& name, int steps, double effort) : scene(lithe::scene(name)), controls{.steps = steps} {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    controls.tau = MatX::Zero(scene.model.nv(), steps);
    for (const Joint& joint : scene.model.joints()) {
      if (!std::isfinite(joint.effort_limit) || joint.effort_limit == 0) continue;
      for (int t = 0; t < steps; ++t) controls.tau(joint.v_index, t) = effort * joint.effort_limit * uniform(random);
    }
    if (scene.motor_targets.size() > 0) controls.motor_targets = scene.motor_targets.replicate(1, steps);
    frames = record();
  }

  StepOptions step() const {
    StepOptions options;
    options.time_step = scene.time_step;
    return options;
  }

  std::vector<RecordedFrame> record() const {
    const RolloutOptions options = {.step = step(), .tape = Tape::records};
    Rollout motion;
    rollout(scene.model, {scene.q, scene.v}, controls, options, motion);
    std::vector<RecordedFrame> out(static_cast<std::size_t>(controls.steps) + 1);
    for (int t = 0; t < controls.steps; ++t) {
      record_step(t * scene.time_step, motion.records[static_cast<std::size_t>(t)], out[static_cast<std::size_t>(t)]);
    }
    out.back() = {.time = controls.steps * scene.time_step,
                  .q = motion.trajectory.q.col(controls.steps),
                  .v = motion.trajectory.v.col(controls.steps)};
    return out;
  }

  // The loss at the end, from frame `first` on, started there a bit elsewhere and pushed a bit otherwise in that step.
  double loss(int first, const VecX& dq, const VecX& dtau) const {
    const RecordedFrame& from = frames[static_cast<std::size_t>(first)];
    Controls rest = {.steps = controls.steps - first, .tau = controls.tau.rightCols(controls.steps - first)};
    if (controls.motor_targets.size() > 0) rest.motor_targets = controls.motor_targets.rightCols(rest.steps);
    rest.tau.col(0) += dtau;
    const Trajectory motion = rollout(scene.model, {retract(scene.model, from.q, dq), from.v}, rest, step());
    return task_loss(*scene.task, scene.model, motion.q.col(rest.steps), motion.v.col(rest.steps)).value;
  }
};

void expect_gradients_of_differences(const Driven& driven, const std::vector<int>& times, double q_step,
                                     double tau_step, double tolerance) {
  const MotionGradients found =
      motion_gradients(driven.scene, driven.scene.time_step, driven.frames, GradientOptions::exact());
  const int nv = driven.scene.model.nv();
  const VecX zero = VecX::Zero(nv);
  EXPECT_NEAR(found.loss, driven.loss(0, zero, zero), 1e-12 * (1 + std::abs(found.loss)));
  EXPECT_EQ(found.cut_at, -1);
  for (const int t : times) {
    SCOPED_TRACE(t);
    const MatX by_q =
        central_difference([&](const VecX& d) { return VecX::Constant(1, driven.loss(t, d, zero)); }, nv, q_step);
    EXPECT_LT(relative_error(found.by_q.col(t).transpose(), by_q, 1e-6), tolerance);
    const MatX by_tau =
        central_difference([&](const VecX& d) { return VecX::Constant(1, driven.loss(t, zero, d)); }, nv, tau_step);
    EXPECT_LT(relative_error(found.by_tau.col(t).transpose(), by_tau, 1e-6), tolerance);
  }
  EXPECT_EQ(found.by_tau.col(driven.controls.steps), zero);
}

TEST(MotionGradients, AgreeWithDifferencesWhereNothingTouches) {
  expect_gradients_of_differences(Driven("double_cartpole", 60, 1), {0, 17, 59}, 1e-4, 1e-2, 1e-6);
}

// The box lands on the arm after 170 steps, and lies on it in the end. It is then as deep in the arm as contacts may be, to within
// micrometres, and a little less deep there is no push out any more: hence the short steps.
TEST(MotionGradients, AgreeWithDifferencesThroughContact) {
  const Driven driven("catapult", 230, 0.01);
  ASSERT_FALSE(driven.frames[220].contacts.empty());
  expect_gradients_of_differences(driven, {0, 100, 180, 200, 220, 229}, 1e-9, 1e-2, 1e-4);
}

TEST(MotionGradients, AreThoseOfARollout) {
  for (const char* name : {"catapult", "jump_worm", "cartpole"}) {
    SCOPED_TRACE(name);
    const Driven driven(name, 200, 0.05);
    const MotionGradients found = motion_gradients(driven.scene, driven.scene.time_step, driven.frames);
    const RolloutLoss loss = {.terminal = [&](const LossPoint& at, LossGradient& by) {
      const TaskLoss value = task_loss(*driven.scene.task, driven.scene.model, at.q, at.v);
      by.q = value.by_q;
      by.v = value.by_v;
      return value.value;
    }};
    const RolloutGradient expected = rollout_gradient(driven.scene.model, {driven.scene.q, driven.scene.v},
                                                      driven.controls, loss, {.step = driven.step()});
    EXPECT_EQ(found.loss, expected.value);
    EXPECT_EQ(found.by_q.col(0), expected.q);
    EXPECT_EQ(found.by_tau.leftCols(200), expected.tau);
    EXPECT_GT(found.by_tau.cwiseAbs().maxCoeff(), 0);
  }
}

TEST(MotionGradients, BecomeWhatAViewerTakes) {
  const Driven driven("catapult", 250, 0.02);
  const MotionGradients found = motion_gradients(driven.scene, driven.scene.time_step, driven.frames);
  const ShowGradients shown = show_task_gradients(driven.scene, driven.frames, found);
  EXPECT_EQ(shown.bodies.cols(), 251);
  EXPECT_EQ(shown.joints, found.by_tau);  // every joint has one DoF
  const Model& model = driven.scene.model;
  const int projectile = 3 * static_cast<int>(model.body("projectile"));
  // At the end: where it is, less where it should be, twice.
  const double x = driven.frames.back().q[0] - 2.2, z = driven.frames.back().q[1] - 2.2;
  EXPECT_LT((shown.bodies.col(250).segment<3>(projectile) - Vec3(2 * x, 0, 2 * z)).norm(), 1e-12);
  EXPECT_EQ(shown.bodies.topRows(3).cwiseAbs().maxCoeff(), 0);
}

TEST(MotionGradients, RefuseWhatCannotBeTakenAgain) {
  const Driven driven("catapult", 30, 0.02);
  const auto refuses = [&](const std::vector<RecordedFrame>& frames, auto... parts) {
    expect_error([&] { motion_gradients(driven.scene, driven.scene.time_step, frames); }, parts...);
  };
  Scene idle = driven.scene;
  idle.task.reset();
  expect_error([&] { motion_gradients(idle, 1e-3, driven.frames); }, "no task", "catapult");
  refuses({}, "a motion of 0 frames");
  refuses({driven.frames[0]}, "a motion of 1 frames");
  std::vector<RecordedFrame> frames = driven.frames;
  frames[7].tau.resize(0);
  refuses(frames, "frame 7 (t = 0.007 s) does not say what drove");
  frames = driven.frames;
  frames.erase(frames.begin() + 3);
  refuses(frames, "frame 3 (t = 0.004 s) comes 0.002 s after", "not a time step of 0.001 s");
  frames = driven.frames;
  frames[9].tau[3] += 1;
  refuses(frames, "frame 10 (t = 0.01 s) does not follow", "another speed by", "pushed");
  frames = driven.frames;
  frames[12].q[0] = std::nan("");
  refuses(frames, "frame 12 (t = 0.012 s): q[0] is nan");
  expect_error([&] { motion_gradients(driven.scene, 2e-3, driven.frames); }, "comes 0.001 s after");
}

}  // namespace
}  // namespace lithe::experiments
