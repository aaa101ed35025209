#include "lithe/core/check.h"
#include "lithe/optimize/residuals.h"

namespace lithe {

namespace {

// Hands everything on to the user's function. It counts as knowing its derivatives by every number of the model
// (Residual::knows()): a function that depends on one of them directly has to fill in by_parameters.
class WrittenByUser : public Residual {
 public:
  explicit WrittenByUser(residuals::CustomResidual residual) : residual_(std::move(residual)) {}

  std::string name() const override { return residual_.name; }
  int size(const Model&) const override { return residual_.size; }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    residual_.evaluate(at, value, jacobian);
  }
  bool needs_controls() const override { return residual_.needs_controls; }
  bool needs_previous_controls() const override { return residual_.needs_previous_controls; }
  bool needs_impulses() const override { return residual_.needs_impulses; }

 private:
  residuals::CustomResidual residual_;
};

}  // namespace

namespace residuals {

ResidualPtr custom(CustomResidual residual) {
  if (residual.name.empty()) residual.name = "custom residual";
  LITHE_CHECK(residual.evaluate, "'{}' has no function: set CustomResidual::evaluate", residual.name);
  LITHE_CHECK(residual.size > 0, "'{}' has the size {}; a residual has at least one number", residual.name,
              residual.size);
  return std::make_shared<WrittenByUser>(std::move(residual));
}

}  // namespace residuals

}  // namespace lithe
