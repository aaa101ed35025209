#pragma once

namespace lithe {

// How constraints are turned into velocities to reach by the end of a step of length Δt.
//
// Contacts and joint limits, with gap g (negative inside), approach velocity J v and knee k (1e-5 of the pair's length scale
// for a contact, kLimitKnee for a limit), ask for a velocity of at least d:
//
//   g ≤ k   d = min(−correction·g/Δt, max_correction_speed)    errors fade by the factor 1 − correction per step
//   g > k   d = −(g − (1 − correction)·k)/Δt                   it may close, and ends just touching
//
// and, where e > 0, if they approach faster than restitution_threshold and would touch within the step, of at least −e·J v.
// (With e = 0 they may close: a landing ends at touch, not above it.)
// Loop closures and mimic joints with error φ ask for d = −loop_correction·φ/Δt, within ±max_loop_speed.
struct ConstraintOptions {
  double time_step = 1e-3;  // Δt, s
  double correction = 0.2;  // share of a penetration that one step removes, 0 … 1; 0: none
  // m/s, rad/s. A body that lands faster than its margin per step is found inside, and is pushed out no faster than this:
  // it hops by at most half a millimetre. (Give its shape a margin of a step's travel and it does not hop at all.)
  double max_correction_speed = 0.1;
  double loop_correction = 1.0;        // the same share for loop closures and mimic joints
  double max_loop_speed = 10;          // m/s, rad/s
  double restitution_threshold = 0.1;  // m/s; slower contacts do not bounce
};

inline constexpr double kContactKnee = 1e-5;  // of the length scale of a pair of shapes (Bands)
inline constexpr double kLimitKnee = 1e-6;    // rad or m
inline constexpr double kLimitMargin = 1e-3;  // a limit closer than this has a row, rad or m

}  // namespace lithe
