#include "lithe/step/gradients/displaced_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "lithe/core/check.h"
#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/step/internal/step_tape.h"
#include "lithe/step/step.h"

namespace lithe::internal {

namespace {

constexpr std::string_view kTimeStepName = "time_step";

// The motor whose target the name stands for.
std::optional<MotorIndex> motor_of_target(const Model& model, std::string_view name) {
  constexpr std::string_view kMotor = "motor/", kTarget = "/target";
  if (!name.starts_with(kMotor) || !name.ends_with(kTarget)) return {};
  name.remove_prefix(kMotor.size());
  name.remove_suffix(kTarget.size());
  return model.motor(name);
}

// What comes after the last slash of a parameter's name.
std::string_view attribute_of(std::string_view parameter) { return parameter.substr(parameter.rfind('/') + 1); }

// Numbers that measure how much there is of something are as large as they are; places, angles and speeds are compared
// with 1 m or 1 rad.
bool is_amount(std::string_view attribute) {
  constexpr std::array kAmounts = {
      std::string_view("stiffness"),    std::string_view("damping"),        std::string_view("armature"),
      std::string_view("dry_friction"), std::string_view("friction"),       std::string_view("effort_limit"),
      std::string_view("margin"),       std::string_view("velocity_limit"), std::string_view("radius"),
      std::string_view("half_length"),  std::string_view("half_x"),         std::string_view("half_y"),
      std::string_view("half_z"),       std::string_view("max_effort")};
  return std::find(kAmounts.begin(), kAmounts.end(), attribute) != kAmounts.end();
}

// The ten of a body are small compared with its mass m and the trace of its inertia I, and with √(m I) in between.
double size_of_inertial(const SpatialInertia& inertia, std::string_view attribute) {
  const double trace = inertia.rotational.trace();
  double size = trace;
  if (attribute == "mass") size = inertia.mass;
  if (attribute == "mx" || attribute == "my" || attribute == "mz") size = std::sqrt(inertia.mass * trace);
  return size > 0 ? size : 1;
}

// Whether it is one of the ten inertial numbers of a body; the others of a body say where it is.
bool is_inertial(std::string_view parameter) {
  const std::string_view attribute = attribute_of(parameter);
  return parameter.starts_with("body/") && attribute != "x" && attribute != "y" && attribute != "z";
}

// The body that a parameter "body/NAME/…" is of.
BodyIndex body_of(const Model& model, std::string_view parameter) {
  constexpr std::string_view kBody = "body/";
  return model.body(parameter.substr(kBody.size(), parameter.rfind('/') - kBody.size()));
}

// Whether both steps have the same constraints in the same order.
bool same_constraints(const StepRecord& a, const StepRecord& b) {
  const auto same = [](const Constraint& x, const Constraint& y) { return x.key == y.key && x.rows == y.rows; };
  return std::equal(a.tape().problem.constraints.begin(), a.tape().problem.constraints.end(),
                    b.tape().problem.constraints.begin(), b.tape().problem.constraints.end(), same);
}

// Whether a constraint may push, because its first row does not separate.
bool pushes(const StepRecord& record, const Constraint& constraint) {
  return record.modes[constraint.first_row] != RowMode::separating;
}

// Calls visit(a's, b's) for the constraints that push in either, matched by name; null where one has none of that name. The order
// is that of a, then of b.
template <class Visit>
void for_each_pushing(const StepRecord& a, const StepRecord& b, Visit visit) {
  const std::vector<Constraint>&in_a = a.tape().problem.constraints, &in_b = b.tape().problem.constraints;
  const auto named = [](const std::vector<Constraint>& all, const Constraint& like) -> const Constraint* {
    const auto same = [&](const Constraint& c) { return c.key == like.key && c.rows == like.rows; };
    const auto found = std::find_if(all.begin(), all.end(), same);
    return found == all.end() ? nullptr : &*found;
  };
  const bool aligned = same_constraints(a, b);  // as a rule
  for (std::size_t c = 0; c < in_a.size(); ++c) {
    const Constraint* other = aligned ? &in_b[c] : named(in_b, in_a[c]);
    if (pushes(a, in_a[c]) || (other && pushes(b, *other))) visit(&in_a[c], other);
  }
  if (aligned) return;
  for (const Constraint& constraint : in_b) {
    if (pushes(b, constraint) && !named(in_a, constraint)) visit(nullptr, &constraint);
  }
}

// Of a contact's two sets of tangents, one is for normals that point down.
bool across_seam(const StepRecord& a, const StepRecord& b, int contact_a, int contact_b) {
  return (a.contacts.contacts[contact_a].n.z() < 0) != (b.contacts.contacts[contact_b].n.z() < 0);
}

// Of a rigid servo that is not allowed to be as fast as its target asks for: the sign of its speed. Else 0.
int velocity_limit_side(const Model& model, const StepRecord& record, const Constraint& constraint) {
  if (constraint.kind != ConstraintKind::motor) return 0;
  const Motor& motor = model.motors()[constraint.index];
  const double speed = record.tape().problem.target[constraint.first_row];
  if (!std::isinf(motor.stiffness) || std::abs(speed) != model.joints()[motor.joint].velocity_limit) return 0;
  return speed > 0 ? 1 : -1;
}

// Each row of a loop or mimic joint has a cap of its own: the sign of its speed there, else 0.
int cap_side(const StepRecord& record, int row) {
  const double d = record.tape().problem.target[row];
  const double most = record.options.max_loop_speed;
  return d >= most ? 1 : d <= -most ? -1 : 0;
}

// One of the two steps.
struct Side {
  const Model& model;
  const StepRecord& record;
};

// What is not the same in two steps for one constraint that both have.
ModeSwitch switches_of(const Side& a, const Side& b, const Constraint& x, const Constraint& y) {
  ModeSwitch switches = ModeSwitch::none;
  const bool same_side = velocity_limit_side(a.model, a.record, x) == velocity_limit_side(b.model, b.record, y);
  if (x.rule != y.rule || !same_side) switches = ModeSwitch::targets;
  const bool contact = x.kind == ConstraintKind::contact;
  const bool closes = x.kind == ConstraintKind::mimic || acts_on_bodies(x.kind);
  for (int k = 0; k < x.rows; ++k) {
    if (closes && !contact && cap_side(a.record, x.first_row + k) != cap_side(b.record, y.first_row + k)) {
      switches = switches | ModeSwitch::targets;
    }
    if (a.record.modes[x.first_row + k] == b.record.modes[y.first_row + k]) continue;
    switches = switches | (!contact ? ModeSwitch::joints : k == 0 ? ModeSwitch::normals : ModeSwitch::friction);
  }
  if (contact && x.rows > 1 && across_seam(a.record, b.record, x.index, y.index)) {
    switches = switches | ModeSwitch::friction;
  }
  return switches;
}

// Whether rows that imply one another in one step do so in the other. Where the rank changes there is a jump however smooth all else is:
// the loop of a flat linkage, opened a little, also forbids to turn the linkage out of its plane. −1 is no rank: nobody needed it.
bool same_ranks(const std::vector<LcpReport>& a, const std::vector<LcpReport>& b) {
  const auto same = [](const LcpReport& x, const LcpReport& y) {
    return x.rank == y.rank || x.rank < 0 || y.rank < 0 || x.clamping_rows != y.clamping_rows;
  };
  return a.size() != b.size() || std::equal(a.begin(), a.end(), b.begin(), same);
}

}  // namespace

ModeSwitch mode_switch(const Model& model_a, const StepRecord& a, const Model& model_b, const StepRecord& b) {
  // Ties are where modes meet, and no mode of their own.
  const auto outcome = [](const StepRecord& r) {
    return std::array{has(r.status.flags, LcpFlag::unpolished), has(r.status.flags, LcpFlag::targets_dropped),
                      has(r.status.flags, LcpFlag::unsolved), r.status.diverged};
  };
  ModeSwitch switches =
      outcome(a) == outcome(b) && same_ranks(a.reports, b.reports) ? ModeSwitch::none : ModeSwitch::solver;
  for_each_pushing(a, b, [&](const Constraint* x, const Constraint* y) {
    switches = switches | (x && y ? switches_of({model_a, a}, {model_b, b}, *x, *y) : ModeSwitch::constraints);
  });
  return switches;
}

void DisplacedStep::start(const Model& model, const StepRecord& base) {
  LITHE_CHECK(base.state.q.size() == model.nq() && base.next.v.size() == model.nv(),
              "this record holds no step of this model");
  model_ = &model;
  base_ = &base;
  record_.tape().colliders = base.tape().colliders;
  record_.tape().collider_revision = base.tape().collider_revision;
  state_ = base.state;
  control_ = base.control;
  options_ = base.options;
  changed_parameter_.clear();
  delta_.setZero(model.nv());
  find_ranks();
}

// Steps from the answer, and again from what that one answers: its modes are then known to be right, and are factorised before all else.
void DisplacedStep::find_ranks() {
  base_reports_ = base_->reports;
  guess_ = base_->warm_start;
  unmoved_.setZero(output_size());
  for (int again = 0; again < 2; ++again) {
    step_with(*model_);
    if (switched() != ModeSwitch::none) return;  // among several solutions
    base_reports_ = record_.reports;
    guess_ = record_.warm_start;
    write_from_base(unmoved_);
  }
}

ModeSwitch DisplacedStep::switched() const {
  const ModeSwitch switches = mode_switch(*model_, *base_, *stepped_, record_);
  return same_ranks(base_reports_, record_.reports) ? switches : switches | ModeSwitch::solver;
}

double DisplacedStep::contradiction() const {
  double largest = 0;
  for (std::size_t row = 0; row < record_.w.size(); ++row) {
    if (record_.modes[row] == RowMode::clamping) largest = std::max(largest, std::abs(record_.w[row]));
  }
  return largest;
}

void DisplacedStep::move(StepInput input, int dof, double h) {
  switch (input) {
    case StepInput::q:
      delta_[dof] = h;
      retract(*model_, base_->state.q, delta_, state_.q);
      delta_[dof] = 0;
      break;
    case StepInput::v: state_.v[dof] += h; break;
    case StepInput::tau: control_.tau[dof] += h; break;
  }
  step_with(*model_);
  state_.q = base_->state.q;
  state_.v[dof] = base_->state.v[dof];
  control_.tau[dof] = base_->control.tau[dof];
}

bool DisplacedStep::move(const std::string& parameter, double h) {
  if (parameter == kTimeStepName) {
    options_.time_step += h;
    step_with(*model_);
    options_ = base_->options;
    return true;
  }
  if (const std::optional<MotorIndex> motor = motor_of_target(*model_, parameter)) {
    if (control_.motor_targets.size() > 0) control_.motor_targets[*motor] += h;
    step_with(*model_);
    control_.motor_targets = base_->control.motor_targets;
    return true;
  }
  if (!change(parameter, h)) return false;
  step_with(*changed_);
  return true;
}

// Sets a number of the changed model to `h` beside the model's. False: it is refused, and the changed model stays.
bool DisplacedStep::change(const std::string& parameter, double h) {
  if (changed_parameter_ != parameter) {
    changed_ = *model_;
    changed_parameter_ = parameter;
  }
  try {
    set_parameter(*changed_, parameter, lithe::parameter(*model_, parameter) + h);
  } catch (const Error&) {
    return false;
  }
  return true;
}

std::optional<Directions> DisplacedStep::directions_of(const std::string& parameter, double h) {
  if (parameter == kTimeStepName || motor_of_target(*model_, parameter)) return Directions::both;
  const bool up = change(parameter, h);
  const bool down = change(parameter, -h);
  if (!up && !down) return {};
  return up && down ? Directions::both : up ? Directions::up : Directions::down;
}

double DisplacedStep::size_of(const std::string& parameter) const {
  if (parameter == kTimeStepName) return base_->options.time_step;
  if (const std::optional<MotorIndex> motor = motor_of_target(*model_, parameter)) {
    const VecX& targets = base_->control.motor_targets;
    return targets.size() == 0 ? 0.0 : std::max(1.0, std::abs(targets[*motor]));
  }
  const double value = std::abs(lithe::parameter(*model_, parameter));
  if (!std::isfinite(value)) return 0;
  if (is_inertial(parameter)) {
    return size_of_inertial(model_->bodies()[body_of(*model_, parameter)].inertia, attribute_of(parameter));
  }
  if (is_amount(attribute_of(parameter)) && value > 0) return value;
  return std::max(1.0, value);
}

// Takes the step. A model with a parameter changed may have colliders of its own, all others share those of the base.
void DisplacedStep::step_with(const Model& model) {
  if (record_.tape().collider_revision != model.collision_revision() &&
      base_->tape().collider_revision == model.collision_revision()) {
    record_.tape().colliders = base_->tape().colliders;
    record_.tape().collider_revision = base_->tape().collider_revision;
  }
  stepped_ = &model;
  step(model, state_, control_, options_, record_, &guess_);
}

int DisplacedStep::output_size() const { return 2 * model_->nv() + static_cast<int>(base_->f.size()); }

void DisplacedStep::write_outputs(VecRef out) const {
  write_from_base(out);
  out -= unmoved_;
}

// Outputs relative to those of the base, impulses in the order of the base's rows.
void DisplacedStep::write_from_base(VecRef out) const {
  const int nv = model_->nv();
  const auto rows = static_cast<Eigen::Index>(base_->f.size());
  using Impulses = Eigen::Map<const VecX>;
  difference(*model_, record_.next.q, base_->next.q, out.head(nv));
  out.segment(nv, nv) = record_.next.v - base_->next.v;
  auto f = out.tail(rows);
  if (same_constraints(record_, *base_)) {
    f = Impulses(record_.f.data(), rows);
  } else {
    f.setZero();
    for (const Constraint& constraint : base_->tape().problem.constraints) {
      const auto named = [&](const Constraint& other) { return other.key == constraint.key; };
      const auto& all = record_.tape().problem.constraints;
      const auto found = std::find_if(all.begin(), all.end(), named);
      if (found == all.end()) continue;
      for (int k = 0; k < std::min(constraint.rows, found->rows); ++k) {
        f[constraint.first_row + k] = record_.f[found->first_row + k];
      }
    }
  }
  f -= Impulses(base_->f.data(), rows);
}

}  // namespace lithe::internal
