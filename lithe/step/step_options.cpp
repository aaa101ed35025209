#include "lithe/step/step_options.h"

#include <cmath>

#include "lithe/core/check.h"

namespace lithe {

void check_options(const StepOptions& options) {
  LITHE_CHECK(options.time_step > 0 && std::isfinite(options.time_step), "the time step is {} s; it must be positive",
              options.time_step);
  LITHE_CHECK(options.correction >= 0 && options.correction <= 1, "the correction is {}; it must be between 0 and 1",
              options.correction);
  LITHE_CHECK(options.loop_correction >= 0 && options.loop_correction <= 1,
              "the loop correction is {}; it must be between 0 and 1", options.loop_correction);
  LITHE_CHECK(options.max_correction_speed >= 0, "the largest correction speed is {}; it must not be negative",
              options.max_correction_speed);
  LITHE_CHECK(options.max_loop_speed >= 0, "the largest loop speed is {}; it must not be negative",
              options.max_loop_speed);
  LITHE_CHECK(options.restitution_threshold >= 0, "the restitution threshold is {}; it must not be negative",
              options.restitution_threshold);
  LITHE_CHECK(options.lcp.direct_rows >= 0 && options.lcp.sweeps >= 1,
              "the LCP options direct_rows = {} and sweeps = {} must not be negative, and there must be a sweep",
              options.lcp.direct_rows, options.lcp.sweeps);
  LITHE_CHECK(options.threads >= 0, "a step on {} threads was asked for; give 1 or more, or 0 for one per core",
              options.threads);
}

}  // namespace lithe
