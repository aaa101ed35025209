#include "lithe/step/gradients/gradient_input.h"

#include <cmath>

#include "lithe/core/check.h"
#include "lithe/step/internal/step_tape.h"

namespace lithe::internal {

void check_record(const Model& model, const StepRecord& record, const char* function) {
  LITHE_CHECK(record.tape().inverse.layout.matches(model.tree()) && record.next.v.size() == model.nv(),
              "{}: the record does not hold a step of this model; call step() with it first", function);
}

void check_parameters(const Model& model, const StepParameters& parameters, const char* function) {
  LITHE_CHECK(parameters.match(model), "{}: the parameters were chosen for another model; choose them by name again",
              function);
}

void refuse_loss_options(const GradientOptions& options, const char* function) {
  LITHE_CHECK(!options.complementarity_aware,
              "{}: complementarity-aware gradients depend on the loss, which is not known here; step_vjp() and "
              "rollout_vjp() have them",
              function);
  LITHE_CHECK(
      !options.motor_targets,
      "{}: GradientOptions::motor_targets is of VJPs; here, choose StepParameters::motor_targets(model) as parameters",
      function);
  LITHE_CHECK(!options.wrenches,
              "{}: GradientOptions::wrenches is of VJPs; by_wrench() turns a Jacobian by forces into one by a wrench",
              function);
}

void check_part(const VecX& part, Eigen::Index size, const char* function, const char* name) {
  if (part.size() == 0) return;
  LITHE_CHECK(part.size() == size, "{}: {} has {} entries, expected {} (or none, for zero)", function, name,
              part.size(), size);
  for (Eigen::Index i = 0; i < size; ++i) {
    LITHE_CHECK(std::isfinite(part[i]), "{}: {}[{}] is {}; it must be finite", function, name, i, part[i]);
  }
}

}  // namespace lithe::internal
