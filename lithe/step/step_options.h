#pragma once

#include <cstdint>

#include "lithe/collision/detect_contacts.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe {

enum class Integrator : std::uint8_t {
  semi_implicit,      // q⁺ = q ⊕ Δt v⁺: a pendulum keeps its energy (what tumbles gains some, in proportion to Δt)
  explicit_position,  // q⁺ = q ⊕ Δt v, the paper's: a pendulum gains energy
};

// How long a step is, and how it turns constraints into velocities to reach by its end.
//
// Contacts and joint limits, with gap g (negative inside), approach velocity J v and knee k (1e-5 of the pair's length scale
// for a contact, 1e-6 rad or m for a limit), ask for a velocity of at least d:
//
//   g ≤ k   d = min(−correction·g/Δt, max_correction_speed)    errors fade by the factor 1 − correction per step
//   g > k   d = −(g − (1 − correction)·k)/Δt                   it may close, and ends just touching
//
// and, where e > 0, if they approach faster than restitution_threshold and would touch within the step, of at least −e·J v.
// (With e = 0 they may close: a landing ends at touch, not above it.)
// Loop closures and mimic joints with error φ ask for d = −loop_correction·φ/Δt, within ±max_loop_speed.
struct StepOptions {
  double time_step = 1e-3;  // Δt, s
  double correction = 0.2;  // share of a penetration that one step removes, 0 … 1; 0: none
  // m/s, rad/s. A body that lands faster than its margin per step is found inside, and is pushed out no faster than this:
  // it hops by at most half a millimetre. (Give its shape a margin of a step's travel and it does not hop at all.)
  double max_correction_speed = 0.1;
  double loop_correction = 1.0;        // the same share for loop closures and mimic joints
  double max_loop_speed = 10;          // m/s, rad/s
  double restitution_threshold = 0.1;  // m/s; slower contacts do not bounce

  Integrator integrator = Integrator::semi_implicit;
  bool contacts = true;  // false: shapes pass through one another
  DetectionOptions detection = {};
  LcpOptions lcp = {};
  int threads = 1;  // that share the islands, where these are many; 0: one per core. They change no bit of the result
};

// Throws an Error that names the option.
void check_options(const StepOptions& options);

}  // namespace lithe
