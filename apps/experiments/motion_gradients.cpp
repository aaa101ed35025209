#include "apps/experiments/motion_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/model/configuration.h"
#include "lithe/optimize/scene_problem.h"
#include "lithe/step/step.h"
#include "lithe/step/step_vjp.h"
#include "lithe/viz/document/show_motion.h"

namespace lithe::experiments {

namespace {

// How far a step that is taken again may end from the recorded one, in m, rad, m/s or rad/s, or as a share of larger numbers. The same
// program gives the same bits; another machine's differs by rounding, and a push or another mass by more than this.
constexpr double kFollows = 1e-7;

std::string dof_name(const Model& model, Eigen::Index dof) {
  for (const Joint& joint : model.joints()) {
    if (dof >= joint.v_index && dof < joint.v_index + joint.nv()) return joint.name;
  }
  return fmt::format("{}", dof);
}

// Takes the steps of a recording again, one by one and in any order.
class RecordedSteps {
 public:
  RecordedSteps(const Scene& scene, double time_step, const std::vector<RecordedFrame>& frames)
      : model_(scene.model), frames_(frames), guesses_(frames.size() - 1) {
    options_.time_step = time_step;
    check_frames();
    for (std::size_t t = 0; t + 1 < frames.size(); ++t) {
      if (t > 0) guesses_[t] = record_.warm_start;
      take(t);
      check_follows(t);
    }
  }

  // Step t with the guess that it had the first time, so with the same bits.
  const StepRecord& take(std::size_t t) {
    const RecordedFrame& frame = frames_[t];
    state_.q = frame.q;
    state_.v = frame.v;
    control_.tau = frame.tau;
    control_.motor_targets = frame.motor_targets;
    try {
      step(model_, state_, control_, options_, record_, &guesses_[t]);
    } catch (const Error& error) {
      throw Error(fmt::format("frame {} (t = {:.6g} s): {}", t, frame.time, error.what()));
    }
    return record_;
  }

 private:
  void check_frames() const {
    for (std::size_t t = 0; t < frames_.size(); ++t) {
      try {
        check_configuration(model_, frames_[t].q);
        check_tangent(model_, frames_[t].v, "v");
      } catch (const Error& error) {
        throw Error(fmt::format("frame {} (t = {:.6g} s): {}", t, frames_[t].time, error.what()));
      }
    }
    const double h = options_.time_step;
    for (std::size_t t = 0; t + 1 < frames_.size(); ++t) {
      LITHE_CHECK(frames_[t].has_controls(),
                  "frame {} (t = {:.6g} s) does not say what drove the motion, so its steps cannot be taken again: "
                  "recordings of version 1 do not, nor do states without controls",
                  t, frames_[t].time);
      const double apart = frames_[t + 1].time - frames_[t].time;
      LITHE_CHECK(
          std::abs(apart - h) < 1e-3 * h,
          "frame {} (t = {:.9g} s) comes {:.6g} s after the one before, not a time step of {:.6g} s: frames are "
          "missing",
          t + 1, frames_[t + 1].time, apart, h);
    }
  }

  void check_follows(std::size_t t) const {
    const RecordedFrame& next = frames_[t + 1];
    LITHE_CHECK(!record_.status.diverged, "the step from frame {} (t = {:.6g} s) diverges", t, frames_[t].time);
    const VecX q_off = difference(model_, record_.next.q, next.q), v_off = record_.next.v - next.v;
    for (Eigen::Index i = 0; i < v_off.size(); ++i) {
      const double most = kFollows * std::max(1.0, std::abs(next.v[i]));
      LITHE_CHECK(
          std::abs(q_off[i]) <= most && std::abs(v_off[i]) <= most,
          "frame {} (t = {:.6g} s) does not follow from the one before: a step from there gives joint '{}' another "
          "place by {:.3g} and another speed by {:.3g}; the model is not the one that was recorded, or it was pushed",
          t + 1, next.time, dof_name(model_, i), q_off[i], v_off[i]);
    }
  }

  const Model& model_;
  const std::vector<RecordedFrame>& frames_;
  StepOptions options_;
  std::vector<WarmStart> guesses_;  // of each step
  State state_;
  Control control_;
  StepRecord record_;
};

}  // namespace

MotionGradients motion_gradients(const Scene& scene, double time_step, const std::vector<RecordedFrame>& frames,
                                 const GradientOptions& options) {
  LITHE_CHECK(scene.task, "the scene has no task, so there is no loss to differentiate; these have one: {}",
              fmt::join(scenes_with_tasks(), ", "));
  LITHE_CHECK(frames.size() > 1, "a motion of {} frames has no step to differentiate", frames.size());
  RecordedSteps steps(scene, time_step, frames);
  const TaskLoss loss = task_loss(*scene.task, scene.model, frames.back().q, frames.back().v);
  const auto count = static_cast<Eigen::Index>(frames.size());
  MotionGradients out = {
      .loss = loss.value, .by_q = MatX::Zero(scene.model.nv(), count), .by_tau = MatX::Zero(scene.model.nv(), count)};
  StepCotangent lambda = {.q = loss.by_q, .v = loss.by_v};
  out.by_q.col(count - 1) = lambda.q;
  StepVjp vjp;
  for (Eigen::Index t = count - 2; t >= 0; --t) {
    step_vjp(scene.model, steps.take(static_cast<std::size_t>(t)), lambda, vjp, options);
    if (vjp.report.overflowed || !vjp.q.allFinite() || !vjp.v.allFinite() || !vjp.tau.allFinite()) {
      out.cut_at = static_cast<int>(t) + 1;
      break;
    }
    lambda.q = out.by_q.col(t) = vjp.q;
    lambda.v = vjp.v;
    out.by_tau.col(t) = vjp.tau;
  }
  return out;
}

ShowGradients show_task_gradients(const Scene& scene, const std::vector<RecordedFrame>& frames,
                                  const MotionGradients& gradients) {
  MatX q(scene.model.nq(), static_cast<Eigen::Index>(frames.size()));
  for (std::size_t t = 0; t < frames.size(); ++t) q.col(static_cast<Eigen::Index>(t)) = frames[t].q;
  return show_gradients(scene.model, "loss", q, gradients.by_q, gradients.by_tau);
}

}  // namespace lithe::experiments
