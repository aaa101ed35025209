#include <cmath>

#include "lithe/core/check.h"
#include "lithe/model/configuration.h"
#include "lithe/optimize/residuals.h"
#include "lithe/spatial/rotation.h"

namespace lithe {

namespace {

// q ⊖ target. Its derivative is the identity, but for balls: there it is J_r⁻¹ of the difference.
class ConfigurationResidual : public Residual {
 public:
  explicit ConfigurationResidual(const VecX& target) : target_(target) {}

  std::string name() const override { return "configuration"; }
  int size(const Model& model) const override {
    LITHE_CHECK(target_.size() == model.nq(),
                "the target configuration has {} numbers, but the model has nq = {} (a ball has four)", target_.size(),
                model.nq());
    check_configuration(model, target_);
    return model.nv();
  }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    difference(at.model, at.q, target_, value);
    if (!jacobian) return;
    jacobian->by_q.setIdentity(value.size(), value.size());
    for (const int dof : at.model.tree().balls) {
      jacobian->by_q.block<3, 3>(dof, dof) = right_jacobian_inverse(value.segment<3>(dof));
    }
  }

 private:
  VecX target_;
};

// The velocity, compared with a target: v − target.
class VelocityResidual : public Residual {
 public:
  explicit VelocityResidual(const VecX& target) : target_(target) {}

  std::string name() const override { return "velocity"; }
  int size(const Model& model) const override {
    check_size(model);
    return model.nv();
  }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    check_size(at.model);
    value = at.v - target_;
    if (jacobian) jacobian->by_v.setIdentity(value.size(), value.size());
  }

 private:
  void check_size(const Model& model) const {
    LITHE_CHECK(target_.size() == model.nv(), "the target velocity has {} numbers, but the model has nv = {}",
                target_.size(), model.nv());
  }

  VecX target_;
};

// sign·(x − target), where x is the position or the velocity of a 1-DoF joint.
class JointResidual : public Residual {
 public:
  enum class Of { position, velocity };

  JointResidual(const Model& model, std::string_view joint, Of of, double sign, double target, std::string what)
      : joint_(model.joint(joint)), joint_name_(joint), of_(of), sign_(sign), target_(target), what_(std::move(what)) {
    LITHE_CHECK(model.joints()[joint_].type != JointType::ball,
                "joint '{}' is a ball, which has no single {}; use configuration(), velocity() or a frame on its body",
                joint, of == Of::position ? "position" : "velocity");
    LITHE_CHECK(std::isfinite(target), "the {} is to be compared with {}; give a finite number", name(), target);
  }

  std::string name() const override { return what_ + " of joint '" + joint_name_ + "'"; }
  int size(const Model& model) const override {
    const bool same = static_cast<std::size_t>(joint_) < model.joints().size() &&
                      model.joints()[joint_].name == joint_name_ && model.joints()[joint_].nv() == 1;
    LITHE_CHECK(same, "the {} was made for another model: make it with the model of the problem", name());
    return 1;
  }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    const Joint& joint = at.model.joints()[joint_];
    const double x = of_ == Of::position ? at.q[joint.q_index] : at.v[joint.v_index];
    value[0] = sign_ * (x - target_);
    if (!jacobian) return;
    MatX& by_x = of_ == Of::position ? jacobian->by_q : jacobian->by_v;
    by_x.setZero(1, at.model.nv());
    by_x(0, joint.v_index) = sign_;
  }

 private:
  JointIndex joint_;
  std::string joint_name_;
  Of of_;
  double sign_, target_;
  std::string what_;
};

// x − bound for an upper bound and bound − x for a lower one, so that numbers up to 0 are within it.
ResidualPtr joint_bound(const Model& model, std::string_view joint, JointResidual::Of of, residuals::BoundSide side,
                        double bound) {
  const bool upper = side == residuals::BoundSide::upper;
  std::string what = upper ? "upper bound on the " : "lower bound on the ";
  what += of == JointResidual::Of::position ? "position" : "velocity";
  return std::make_shared<JointResidual>(model, joint, of, upper ? 1 : -1, bound, std::move(what));
}

// Names the first number of a target that is not finite.
void check_finite(const VecX& target, const char* name) {
  for (Eigen::Index i = 0; i < target.size(); ++i) {
    LITHE_CHECK(std::isfinite(target[i]), "number {} of the target of residual '{}' is {}; give finite numbers", i,
                name, target[i]);
  }
}

}  // namespace

namespace residuals {

ResidualPtr configuration(const VecX& target) {
  check_finite(target, "configuration");
  return std::make_shared<ConfigurationResidual>(target);
}

ResidualPtr velocity(const VecX& target) {
  check_finite(target, "velocity");
  return std::make_shared<VelocityResidual>(target);
}

ResidualPtr joint_position(const Model& model, std::string_view joint, double target) {
  return std::make_shared<JointResidual>(model, joint, JointResidual::Of::position, 1, target, "position");
}

ResidualPtr joint_velocity(const Model& model, std::string_view joint, double target) {
  return std::make_shared<JointResidual>(model, joint, JointResidual::Of::velocity, 1, target, "velocity");
}

ResidualPtr position_bound(const Model& model, std::string_view joint, BoundSide side, double bound) {
  return joint_bound(model, joint, JointResidual::Of::position, side, bound);
}

ResidualPtr velocity_bound(const Model& model, std::string_view joint, BoundSide side, double bound) {
  return joint_bound(model, joint, JointResidual::Of::velocity, side, bound);
}

}  // namespace residuals

}  // namespace lithe
