#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/optimize/residuals.h"

namespace lithe {

namespace {

// Calls visit(row) for the normal row of every contact of a body.
template <class Visit>
void for_each_normal_row(const ResidualPoint& at, BodyIndex body, Visit visit) {
  const StepRecord& record = *at.record;
  const std::vector<Shape>& shapes = at.model.shapes();
  const std::vector<Contact>& contacts = record.contacts.contacts;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    if (shapes[contacts[k].a].body != body && shapes[contacts[k].b].body != body) continue;
    visit(contact_row(record, static_cast<int>(k)));
  }
}

// The mean normal force on a body during a step, in N: the sum of its contacts' normal impulses over Δt. They all push,
// so forces from opposite sides add up instead of cancelling.
class ContactForceResidual : public Residual {
 public:
  ContactForceResidual(const Model& model, std::string_view body, double target)
      : body_(model.body(body)), body_name_(body), target_(target) {
    LITHE_CHECK(has_shape(model), "body '{}' has no shape, so nothing can touch it; name a body with shapes", body);
    LITHE_CHECK(std::isfinite(target), "the target of the {} is {}; give a finite number", name(), target);
  }

  std::string name() const override { return "contact force of body '" + body_name_ + "'"; }
  int size(const Model& model) const override {
    const bool same = static_cast<std::size_t>(body_) < model.bodies().size() &&
                      model.bodies()[body_].name == body_name_ && has_shape(model);
    LITHE_CHECK(same, "the {} was made for another model: make it with the model of the problem", name());
    return 1;
  }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    LITHE_CHECK(at.record, "the {} is asked for at t = {}, where no step is taken; use Times::running()", name(), at.t);
    const std::vector<double>& f = at.record->f;
    const double h = at.record->options.time_step;
    double impulse = 0;
    for_each_normal_row(at, body_, [&](int row) { impulse += f[row]; });
    value[0] = impulse / h - target_;
    if (!jacobian) return;
    jacobian->by_f.setZero(1, static_cast<Eigen::Index>(f.size()));
    for_each_normal_row(at, body_, [&](int row) { jacobian->by_f(0, row) = 1 / h; });
  }

  // The model's numbers enter by the impulses alone, but Δt is here too.
  bool knows(const StepParameters::Entry& entry) const override {
    return entry.kind != StepParameters::Entry::Kind::time_step;
  }
  bool needs_impulses() const override { return true; }

 private:
  bool has_shape(const Model& model) const {
    return std::ranges::any_of(model.shapes(), [&](const Shape& shape) { return shape.body == body_; });
  }

  BodyIndex body_;
  std::string body_name_;
  double target_;
};

}  // namespace

namespace residuals {

ResidualPtr contact_force(const Model& model, std::string_view body, double target) {
  return std::make_shared<ContactForceResidual>(model, body, target);
}

}  // namespace residuals

}  // namespace lithe
