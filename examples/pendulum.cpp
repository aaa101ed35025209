// A pendulum: its acceleration, and how that changes with everything it depends on.
#include <cstdio>

#include "lithe/dynamics/forward_dynamics_derivatives.h"
#include "lithe/model/model_builder.h"

int main() {
  using namespace lithe;
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "bob", .inertia = SpatialInertia::point(1.0, {0, 0, -0.5})},
                                    revolute("hinge", Vec3::UnitY()))
                          .build();
  const VecX q = VecX::Constant(1, 0.3), v = VecX::Zero(1), tau = VecX::Zero(1);
  Kinematics kin;  // these three are workspaces: a second call allocates nothing
  ForwardDynamics fd;
  ForwardDynamicsDerivatives d;
  kinematics(model, q, v, kin);
  aba(model, kin, tau, fd);            // a = M⁻¹(τ − h)
  aba_derivatives(model, kin, fd, d);  // ∂a/∂q, ∂a/∂v, ∂a/∂τ
  std::printf("a = %.4f, da/dq = %.4f, da/dtau = %.4f\n", fd.a[0], d.da_dq(0, 0), d.da_dtau(0, 0));
}
