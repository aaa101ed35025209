#include "lithe/core/check.h"
#include "lithe/dynamics/centroidal.h"
#include "lithe/model/parameters.h"
#include "lithe/optimize/residuals.h"

namespace lithe {

namespace {

// Memory of one thread, so that a warm evaluation allocates nothing.
struct MassWorkspace {
  Centroidal centroidal;
  CentroidalDerivatives derivatives;
};
MassWorkspace& mass_workspace() {
  thread_local MassWorkspace memory;
  return memory;
}

// Whether a number of the model moves masses, or shares them out differently, while the state stays.
bool moves_masses(const StepParameters::Entry& entry) {
  if (entry.kind == StepParameters::Entry::Kind::joint) return entry.attribute <= joint_parameter::pitch;
  if (entry.kind != StepParameters::Entry::Kind::body) return false;
  return entry.attribute <= body_parameter::mz || entry.attribute >= body_parameter::x;
}

// Position or velocity of the centre of mass of all that moves, minus a target, in the world. Where only the value is
// wanted, functions are called that compute no Jacobian.
class CentreOfMassResidual : public Residual {
 public:
  CentreOfMassResidual(const Vec3& target, bool velocity) : target_(target), velocity_(velocity) {
    LITHE_CHECK(target.allFinite(), "the target ({}, {}, {}) of the {} is not finite", target.x(), target.y(),
                target.z(), name());
  }

  std::string name() const override {
    return velocity_ ? "velocity of the centre of mass" : "position of the centre of mass";
  }
  int size(const Model& model) const override {
    LITHE_CHECK(model.total_mass() > 0, "the model's moving bodies have no mass, so there is no {}", name());
    return 3;
  }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    if (!jacobian) {
      value.head<3>() =
          (velocity_ ? centre_of_mass_velocity(at.model, at.kin) : centre_of_mass(at.model, at.kin)) - target_;
      return;
    }
    MassWorkspace& memory = mass_workspace();
    const Centroidal& c = memory.centroidal;
    centroidal(at.model, at.kin, memory.centroidal);
    value.head<3>() = (velocity_ ? c.com_velocity : c.com) - target_;
    if (!velocity_) {
      jacobian->by_q = c.com_jacobian;
      return;
    }
    centroidal_derivatives(at.model, at.kin, c, memory.derivatives);
    jacobian->by_q = memory.derivatives.dcom_velocity_dq;
    jacobian->by_v = c.com_jacobian;
  }
  bool knows(const StepParameters::Entry& entry) const override { return !moves_masses(entry); }

 private:
  Vec3 target_;
  bool velocity_;
};

}  // namespace

namespace residuals {

ResidualPtr centre_of_mass_position(const Vec3& target) {
  return std::make_shared<CentreOfMassResidual>(target, false);
}

ResidualPtr centre_of_mass_velocity(const Vec3& target) { return std::make_shared<CentreOfMassResidual>(target, true); }

}  // namespace residuals

}  // namespace lithe
