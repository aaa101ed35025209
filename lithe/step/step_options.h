#pragma once

#include <cstdint>

#include "lithe/collision/detect_contacts.h"
#include "lithe/contact/constraint_options.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe {

enum class Integrator : std::uint8_t {
  semi_implicit,      // q⁺ = q ⊕ Δt v⁺: a pendulum keeps its energy (what tumbles gains some, in proportion to Δt)
  explicit_position,  // q⁺ = q ⊕ Δt v, the paper's: a pendulum gains energy
};

struct StepOptions {
  ConstraintOptions constraints = {};  // the time step, and how errors are corrected
  Integrator integrator = Integrator::semi_implicit;
  bool contacts = true;  // false: shapes pass through one another
  DetectionOptions detection = {};
  LcpOptions lcp = {};
  int threads = 1;  // that share the islands, where these are many; 0: one per core. They change no bit of the result

  double time_step() const { return constraints.time_step; }
};

// Throws an Error that names the option.
void check_options(const StepOptions& options);

}  // namespace lithe
