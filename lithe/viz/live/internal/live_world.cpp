#include "lithe/viz/live/internal/live_world.h"

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/model/configuration.h"
#include "lithe/recording/recorded_contacts.h"
#include "lithe/step/step.h"
#include "lithe/viz/document/show_motion.h"

namespace lithe::internal {

namespace {

// Beyond, floats (what is drawn) and energies overflow.
constexpr double kMostShown = 1e30;

bool can_be_shown(const ConstVecRef& x) { return (x.array().abs() < kMostShown).all(); }

// The worst stage that any island of a step's constraints needed.
LiveSolver solver_of(const StepStatus& status) {
  if (status.unsolved > 0) return LiveSolver::unsolved;
  if (status.other > 0) return LiveSolver::fallback;
  if (status.path > 0) return LiveSolver::path;
  if (status.active_set > 0) return LiveSolver::active_set;
  return status.guessed > 0 ? LiveSolver::guessed : LiveSolver::nothing;
}

// Refuses a state that does not fit the model or cannot be drawn.
void check_state(const Model& model, const ConstVecRef& q, const ConstVecRef& v) {
  check_configuration(model, q);
  check_tangent(model, v, "v");
  LITHE_CHECK(can_be_shown(q) && can_be_shown(v), "a number of the state is larger than {:g}: that cannot be shown",
              kMostShown);
}

// A subject whose start and targets fit its model; else an Error.
const LiveSubject& checked(const LiveSubject& subject) {
  check_state(subject.model, subject.start.q, subject.start.v);
  const auto motors = static_cast<Eigen::Index>(subject.model.motors().size());
  LITHE_CHECK(subject.motor_targets.size() == 0 || subject.motor_targets.size() == motors,
              "'{}' has {} motors, but {} targets", subject.name, motors, subject.motor_targets.size());
  return subject;
}

}  // namespace

LiveWorld::LiveWorld(LiveSubject subject)
    : subject_(std::move(subject)), model_(checked(subject_).model), controls_(subject_), parameters_(model_) {
  options_ = subject_.step;
  options_.time_step = subject_.time_step;
  check_options(options_);
  control_ = controls_.initial_control();
  reset();
}

void LiveWorld::step() {
  if (diverged_) return;
  look_ahead();
  diverged_ = record_.status.diverged || !can_be_shown(record_.next.q) || !can_be_shown(record_.next.v);
  if (!diverged_) {
    state_ = record_.next;
    time_ += subject_.time_step;
  }
  forget_step();
}

// Computes the step from here, with the pushes of all hands, and leaves it in record_. The worst solver counts here, as
// steps that are looked at and never taken were solved as well.
void LiveWorld::look_ahead() {
  if (looked_ahead_) return;
  acting_ = control_;
  for (const auto& [hand, grab] : grabs_) grab_forces_.add(model_, state_, subject_.time_step, grab, acting_);
  lithe::step(model_, state_, acting_, options_, record_, &record_.warm_start);
  worst_ = std::max(worst_, solver_of(record_.status));
  looked_ahead_ = true;
}

// Back to the start, with a solver that knows no earlier steps: the same run again gives the same bits.
void LiveWorld::reset() {
  state_ = {normalized(model_, subject_.start.q), subject_.start.v};
  time_ = 0;
  ++epoch_;
  diverged_ = false;
  worst_ = LiveSolver::nothing;
  record_.warm_start.clear();
  forget_step();
}

void LiveWorld::set_state(const ConstVecRef& q, const ConstVecRef& v, double time) {
  check_state(model_, q, v);
  LITHE_CHECK(std::isfinite(time), "a time of {} s", time);
  // To go back in time, or on from a state that diverged, is a jump: viewers must not join the two states.
  if (time <= time_ || diverged_) ++epoch_;
  state_ = {normalized(model_, q), v};
  time_ = time;
  diverged_ = false;
  forget_step();
}

void LiveWorld::set_control(int slider, double value) {
  controls_.set(slider, value, control_);
  forget_step();
}

void LiveWorld::set_parameter(int slider, double value) {
  parameters_.set(slider, value, model_);
  forget_step();
}

void LiveWorld::restore_defaults() {
  controls_.restore(control_);
  parameters_.restore(model_);
  forget_step();
}

void LiveWorld::push(int hand, const Grab& grab) {
  check_grab(model_, grab);
  grabs_[hand] = grab;
  forget_step();
}

void LiveWorld::release(int hand) {
  if (grabs_.erase(hand) > 0) forget_step();
}

// The present state as a motion of one frame. record_ must be of the step from here.
ShowMotion LiveWorld::present() {
  return {.name = subject_.name,
          .time_step = subject_.time_step,
          .times = {time_},
          .q = state_.q,
          .v = state_.v,
          .contacts = {record_.status.diverged ? std::vector<RecordedContact>() : recorded_contacts(record_)}};
}

// Exact, through contact: how the loss after the coming step depends on where the bodies are and what the joints do.
void LiveWorld::add_gradients(ShowMotion& motion, double& loss) {
  if (!subject_.loss || record_.status.diverged) return;
  loss = subject_.loss->evaluate(state_.q, state_.v).value;
  const LiveLoss::Value after = subject_.loss->evaluate(record_.next.q, record_.next.v);
  step_vjp(model_, record_, {.q = after.by_q, .v = after.by_v}, vjp_);
  motion.series.push_back({"loss", "", {loss}});
  motion.gradients = show_gradients(model_, subject_.loss->name, state_.q, vjp_.q, vjp_.tau);
}

LiveFrame LiveWorld::frame() {
  look_ahead();
  LiveFrame frame = {
      .time = time_, .epoch = epoch_, .solver = worst_, .diverged = diverged_, .pushed = !grabs_.empty()};
  ShowMotion motion = present();
  add_gradients(motion, frame.loss);
  frame.track = make_track(model_, motion);
  worst_ = LiveSolver::nothing;
  return frame;
}

ShowDocument LiveWorld::show() {
  look_ahead();
  ShowMotion motion = present();
  double loss = 0;
  add_gradients(motion, loss);
  ShowDocument show = make_show(model_, subject_.visuals, subject_.name, subject_.time_step, {motion});
  show.excepted_pairs = show_excepted_pairs(subject_.excepted_pairs);
  return show;
}

}  // namespace lithe::internal
