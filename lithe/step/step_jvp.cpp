#include "lithe/step/step_jvp.h"

#include "lithe/step/gradients/bounce.h"
#include "lithe/step/gradients/gradient_input.h"
#include "lithe/step/gradients/mode_jvp.h"

namespace lithe {

using namespace internal;

StepJvp::StepJvp() : workspace_(std::make_unique<StepJvpWorkspace>()) {}

void StepJvp::renew_workspace() { workspace_ = std::make_unique<StepJvpWorkspace>(); }

StepJvp::~StepJvp() = default;
StepJvp::StepJvp(StepJvp&&) noexcept = default;
StepJvp& StepJvp::operator=(StepJvp&&) noexcept = default;
StepJvp::StepJvp(const StepJvp& other) : StepJvp() { *this = other; }
StepJvp& StepJvp::operator=(const StepJvp& other) {
  q = other.q;
  v = other.v;
  f = other.f;
  report = other.report;
  return *this;
}

void step_jvp(const Model& model, const StepRecord& record, const StepTangent& direction, StepJvp& out,
              const GradientOptions& options) {
  check_record(model, record, "step_jvp");
  check_parameters(model, options.parameters, "step_jvp");
  refuse_loss_options(options, "step_jvp");
  const StepParameters* parameters = options.parameters.size() > 0 ? &options.parameters : nullptr;
  check_part(direction.q, model.nv(), "step_jvp", "direction.q");
  check_part(direction.v, model.nv(), "step_jvp", "direction.v");
  check_part(direction.tau, model.nv(), "step_jvp", "direction.tau");
  check_part(direction.parameters, parameters ? parameters->size() : 0, "step_jvp", "direction.parameters");
  if (options.bounce != Bounce::off && bounces(record)) {
    bounce_jvp(model, record, direction, options, parameters, out);
  } else {
    mode_jvp(model, record, direction, parameters, {.impulses = options.impulses}, out);
  }
}

}  // namespace lithe
