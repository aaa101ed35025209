#pragma once

namespace lithe::internal {

// Keeps a simulation in step with a clock: how many steps are due, and how well it keeps up.
//
// What cannot be done in time is dropped, not caught up with: after a pause of the machine the motion goes on from where
// it is.
class Pacer {
 public:
  explicit Pacer(double time_step) : time_step_(time_step) {}

  // Real seconds went by, at this speed. Returns the steps that are due, none or more.
  int due(double seconds, double speed);
  // That many of them were taken, in so many seconds; the others are given up.
  void took(int steps, double seconds);
  void stop();  // nothing is due any more

  double step_seconds() const { return step_seconds_; }  // mean of late
  double real_time_factor() const { return factor_; }    // simulated over real time, of late

 private:
  double time_step_;
  double owed_ = 0;     // s, simulated
  double elapsed_ = 0;  // s, real, since the last call of due()
  double step_seconds_ = 0, factor_ = 0;
};

}  // namespace lithe::internal
