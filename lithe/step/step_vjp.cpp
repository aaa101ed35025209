#include "lithe/step/step_vjp.h"

#include "lithe/core/check.h"
#include "lithe/step/gradients/bounce.h"
#include "lithe/step/gradients/class_vjp.h"
#include "lithe/step/gradients/complementarity.h"
#include "lithe/step/gradients/gradient_input.h"

namespace lithe {

using namespace internal;

StepVjp::StepVjp() : workspace_(std::make_unique<StepVjpWorkspace>()) {}
StepVjp::~StepVjp() = default;
StepVjp::StepVjp(StepVjp&&) noexcept = default;
StepVjp& StepVjp::operator=(StepVjp&&) noexcept = default;
StepVjp::StepVjp(const StepVjp& other) : StepVjp() { *this = other; }
StepVjp& StepVjp::operator=(const StepVjp& other) {
  q = other.q;
  v = other.v;
  tau = other.tau;
  parameters = other.parameters;
  report = other.report;
  return *this;
}

void step_vjp(const Model& model, const StepRecord& record, const StepCotangent& by_next, StepVjp& out,
              const GradientOptions& options, const StepParameters* parameters) {
  check_record(model, record, "step_vjp");
  if (parameters) check_parameters(model, *parameters, "step_vjp");
  check_part(by_next.q, model.nv(), "step_vjp", "by_next.q");
  check_part(by_next.v, model.nv(), "step_vjp", "by_next.v");
  check_part(by_next.f, static_cast<Eigen::Index>(record.f.size()), "step_vjp", "by_next.f");
  if (options.complementarity_aware) {
    complementarity_aware_vjp(model, record, by_next, options, parameters, out);
  } else if (options.bounce != Bounce::off && bounces(record)) {
    bounce_vjp(model, record, by_next, options.bounce, parameters, out);
  } else {
    class_vjp(model, record, record.classes, by_next, parameters, out);
  }
}

}  // namespace lithe
