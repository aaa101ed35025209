#include "lithe/step/step_vjp.h"

#include "lithe/core/check.h"
#include "lithe/dynamics/internal/body_point.h"
#include "lithe/dynamics/internal/link_velocities.h"
#include "lithe/step/gradients/bounce.h"
#include "lithe/step/gradients/complementarity.h"
#include "lithe/step/gradients/gradient_input.h"
#include "lithe/step/gradients/mode_vjp.h"
#include "lithe/step/internal/recorded_stages.h"

namespace lithe {

using namespace internal;

StepVjp::StepVjp() : workspace_(std::make_unique<StepVjpWorkspace>()) {}

void StepVjp::renew_workspace() { workspace_ = std::make_unique<StepVjpWorkspace>(); }

StepVjp::~StepVjp() = default;
StepVjp::StepVjp(StepVjp&&) noexcept = default;
StepVjp& StepVjp::operator=(StepVjp&&) noexcept = default;
StepVjp::StepVjp(const StepVjp& other) : StepVjp() { *this = other; }
StepVjp& StepVjp::operator=(const StepVjp& other) {
  q = other.q;
  v = other.v;
  tau = other.tau;
  parameters = other.parameters;
  motor_targets = other.motor_targets;
  wrenches = other.wrenches;
  report = other.report;
  return *this;
}

namespace {

// What mode_vjp() differentiates by: parameters, and behind them the motors' targets.
const StepParameters* chosen_parameters(const Model& model, const GradientOptions& options, StepVjpWorkspace& work) {
  if (!options.motor_targets) return options.parameters.size() > 0 ? &options.parameters : nullptr;
  if (!work.with_targets.is_of(model, options.parameters)) work.with_targets.choose(model, options.parameters);
  return &work.with_targets.all;
}

// A wrench F on a body acts on the DoFs as Jᵀ F, J the body's Jacobian: by it, the gradient is J times that by the forces, which is how
// the body would move at the velocities ∂ℓ/∂τ.
void through_wrenches(const Model& model, const StepRecord& record, StepVjp& out) {
  const Kinematics& kin = stages_of(model, record).kin;
  StepVjpWorkspace& work = out.workspace();
  link_velocities(model.tree(), kin, out.tau, work.z, work.velocities_before, work.velocities);
  out.wrenches.resize(6, static_cast<Eigen::Index>(model.bodies().size()));
  for (int body = 0; body < static_cast<int>(model.bodies().size()); ++body) {
    const BodyPoint point = body_point(model, kin, BodyIndex(body));
    const Motion<double> motion =
        point.slot < 0 ? Motion<double>{} : moved_to(motion_at(work.velocities, point.slot), point.p);
    out.wrenches.col(body) = to_eigen(motion);
  }
}

}  // namespace

void step_vjp(const Model& model, const StepRecord& record, const StepCotangent& by_next, StepVjp& out,
              const GradientOptions& options) {
  check_record(model, record, "step_vjp");
  check_parameters(model, options.parameters, "step_vjp");
  const StepParameters* parameters = chosen_parameters(model, options, out.workspace());
  check_part(by_next.q, model.nv(), "step_vjp", "by_next.q");
  check_part(by_next.v, model.nv(), "step_vjp", "by_next.v");
  check_part(by_next.f, static_cast<Eigen::Index>(record.f.size()), "step_vjp", "by_next.f");
  // Both vectors keep their sizes, and so their memory, from call to call.
  if (options.motor_targets) out.parameters.swap(out.workspace().parameters_and_targets);
  if (options.complementarity_aware) {
    complementarity_aware_vjp(model, record, by_next, options, parameters, out);
  } else if (options.bounce != Bounce::off && bounces(record)) {
    bounce_vjp(model, record, by_next, options.bounce, parameters, out);
  } else {
    mode_vjp(model, record, record.modes, by_next, parameters, out);
  }
  if (options.motor_targets) {
    VecX& all = out.workspace().parameters_and_targets;
    all.swap(out.parameters);
    out.parameters = all.head(options.parameters.size());
    out.motor_targets = all.tail(static_cast<Eigen::Index>(model.motors().size()));
  } else {
    out.motor_targets.resize(0);
  }
  if (options.wrenches) {
    through_wrenches(model, record, out);
  } else {
    out.wrenches.resize(6, 0);
  }
}

}  // namespace lithe
