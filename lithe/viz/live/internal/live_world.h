#pragma once

#include <map>

#include "lithe/step/step_vjp.h"
#include "lithe/viz/document/show_document.h"
#include "lithe/viz/live/internal/live_sliders.h"
#include "lithe/viz/live/internal/pointer_drag.h"

namespace lithe::internal {

// How the constraints of a step were solved, the better ones first.
enum class LiveSolver : std::uint32_t { nothing, guessed, active_set, path, fallback, unsolved };

// What a viewer draws of one moment.
struct LiveFrame {
  double time = 0;                          // s
  std::uint32_t epoch = 0;                  // counts jumps of the state: what was drawn before does not lead here
  ShowTrack track = {};                     // one frame. Contact forces are those of the step that starts here
  double loss = 0;                          // of the state, if there is a LiveLoss
  LiveSolver solver = LiveSolver::nothing;  // the worst since the last frame
  bool diverged = false;                    // numbers grew too large; the state is held until a reset
  bool pushed = false;
};

// A simulation that people interfere with: it is stepped, reset, pushed, and its numbers are changed between steps.
//
// It knows nothing of clocks, threads and browsers. Wrong arguments are Errors, and change nothing.
//
// Contacts and their forces belong to the step that starts at the present state. So a frame looks ahead: it computes
// that step, and step() takes it from there unless something was changed in between.
class LiveWorld {
 public:
  explicit LiveWorld(LiveSubject subject);

  const LiveSubject& subject() const { return subject_; }  // as it was given
  const Model& model() const { return model_; }            // with the parameters of now
  const State& state() const { return state_; }
  double time() const { return time_; }
  bool diverged() const { return diverged_; }

  void step();
  void reset();
  // A state from elsewhere. If it comes later than the last one it goes on from there, else it is a jump.
  void set_state(const ConstVecRef& q, const ConstVecRef& v, double time);

  const std::vector<LiveSlider>& controls() const { return controls_.sliders(); }
  const std::vector<LiveSlider>& parameters() const { return parameters_.sliders(); }
  void set_control(int slider, double value);
  void set_parameter(int slider, double value);
  void restore_defaults();

  // One grab per hand, until it lets go.
  void push(int hand, const Grab& grab);
  void release(int hand);

  LiveFrame frame();

  // The document with all that does not move, and the present frame as its only one.
  ShowDocument show();

 private:
  void look_ahead();  // the step from here, not yet taken
  void forget_step() { looked_ahead_ = false; }
  ShowMotion present();
  void add_gradients(ShowMotion& motion, double& loss);

  LiveSubject subject_;
  Model model_;
  StepOptions options_;
  LiveControls controls_;
  LiveParameters parameters_;
  Control control_;  // of the sliders
  Control acting_;   // with pushes
  std::map<int, Grab> grabs_;
  DragForces grab_forces_;

  State state_;
  double time_ = 0;
  std::uint32_t epoch_ = 0;
  bool diverged_ = false;
  StepRecord record_;
  bool looked_ahead_ = false;  // record_ is the step from state_ with the present numbers
  LiveSolver worst_ = LiveSolver::nothing;
  StepVjp vjp_;
};

}  // namespace lithe::internal
