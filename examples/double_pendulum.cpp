// A double pendulum swings for ten seconds and keeps its energy.
#include <cstdio>

#include "lithe/dynamics/energy.h"
#include "lithe/dynamics/forward_dynamics.h"
#include "lithe/scenes/robots/pendulum.h"

int main() {
  const lithe::Model model = lithe::double_pendulum().build();
  const double h = 1e-3;  // time step, s

  lithe::VecX q(2), v(2);
  q << 2.0, 0.5;  // rad, from hanging straight down
  v.setZero();
  const lithe::VecX tau = lithe::VecX::Zero(2);  // nothing drives the joints

  // Workspaces: made once and used again in every call.
  lithe::Kinematics kin;
  lithe::ForwardDynamics fd;
  const auto acceleration = [&](const lithe::VecX& at_q, const lithe::VecX& at_v) -> const lithe::VecX& {
    lithe::kinematics(model, at_q, at_v, kin);
    lithe::aba(model, kin, tau, fd);
    return fd.a;
  };

  for (int i = 0; i <= 10000; ++i) {
    const lithe::VecX a = acceleration(q, v);
    if (i % 1000 == 0) {
      const double energy = lithe::kinetic_energy(model, kin) + lithe::potential_energy(model, kin);
      std::printf("t = %4.1f s   q = (%6.2f, %6.2f) rad   energy = %.4f J\n", i * h, q[0], q[1], energy);
    }
    // The midpoint method: half a step to look ahead, then a whole one.
    const lithe::VecX v_mid = v + h / 2 * a;
    v += h * acceleration(q + h / 2 * v, v_mid);
    q += h * v_mid;
  }
}
