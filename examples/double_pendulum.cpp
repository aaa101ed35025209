// A double pendulum swings for ten seconds and keeps its energy.
#include <cstdio>

#include "lithe/dynamics/energy.h"
#include "lithe/dynamics/forward_dynamics.h"
#include "lithe/scenes/pendulum.h"

int main() {
  const lithe::Model model = lithe::double_pendulum().build();
  const double h = 1e-4;  // time step, s

  lithe::VecX q(2), v(2);
  q << 2.0, 0.5;  // rad, from hanging straight down
  v.setZero();
  const lithe::VecX tau = lithe::VecX::Zero(2);  // nothing drives the joints

  // Workspaces: made once, so that the loop below does not allocate.
  lithe::Kinematics kin;
  lithe::ForwardDynamics fd;

  for (int i = 0; i <= 100000; ++i) {
    lithe::kinematics(model, q, v, kin);
    if (i % 10000 == 0) {
      const double kinetic = lithe::kinetic_energy(model, kin);
      const double potential = lithe::potential_energy(model, kin);
      std::printf("t = %4.1f s   q = (%6.2f, %6.2f)   energy %7.3f %+8.3f = %.4f J\n", i * h, q[0], q[1], kinetic,
                  potential, kinetic + potential);
    }
    // Semi-implicit Euler: the new velocity moves the position.
    lithe::aba(model, kin, tau, fd);
    v += h * fd.a;
    q += h * v;
  }
}
