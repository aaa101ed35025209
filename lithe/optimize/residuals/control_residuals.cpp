#include <cmath>

#include "lithe/core/check.h"
#include "lithe/optimize/residuals.h"

namespace lithe {

namespace {

// The controls of a step, compared with a target: u − target.
class ControlResidual : public Residual {
 public:
  explicit ControlResidual(const VecX& target) : target_(target) {}

  std::string name() const override { return "controls"; }
  int size(const Model&) const override { return static_cast<int>(target_.size()); }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    LITHE_CHECK(at.u.size() == target_.size(),
                "the target controls are {} numbers, but there are {} controls at t = {}", target_.size(), at.u.size(),
                at.t);
    value = at.u - target_;
    if (jacobian) jacobian->by_u.setIdentity(value.size(), value.size());
  }
  bool needs_controls() const override { return true; }

 private:
  VecX target_;
};

// u_t − u_{t−1}, which keeps forces smooth. At t = 0 the controls before are Problem::u_before.
class ControlChangeResidual : public Residual {
 public:
  explicit ControlChangeResidual(int controls) : controls_(controls) {}

  std::string name() const override { return "change of the controls"; }
  int size(const Model&) const override { return controls_; }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    LITHE_CHECK(at.u.size() == controls_ && at.u_before.size() == controls_,
                "the {} was made for {} controls, but at t = {} there are {}, and {} before", name(), controls_, at.t,
                at.u.size(), at.u_before.size());
    value = at.u - at.u_before;
    if (!jacobian) return;
    jacobian->by_u.setIdentity(controls_, controls_);
    jacobian->by_u_before.setZero(controls_, controls_);
    jacobian->by_u_before.diagonal().setConstant(-1);
  }
  bool needs_controls() const override { return true; }
  bool needs_previous_controls() const override { return true; }

 private:
  int controls_;
};

}  // namespace

namespace residuals {

ResidualPtr controls(const VecX& target) {
  LITHE_CHECK(target.size() > 0, "the target controls are empty; give one number per control, zeros for none");
  for (Eigen::Index i = 0; i < target.size(); ++i) {
    LITHE_CHECK(std::isfinite(target[i]), "number {} of the target controls is {}; give finite numbers", i, target[i]);
  }
  return std::make_shared<ControlResidual>(target);
}

ResidualPtr control_change(int controls) {
  LITHE_CHECK(controls > 0, "the change of {} controls has no numbers; give how many there are", controls);
  return std::make_shared<ControlChangeResidual>(controls);
}

}  // namespace residuals

}  // namespace lithe
