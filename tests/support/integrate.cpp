#include "tests/support/integrate.h"

#include "lithe/model/configuration.h"

namespace lithe::test {

Motion semi_implicit_euler_step(const Model& model, const Motion& start, double h, const Acceleration& acceleration) {
  const VecX v = start.v + h * acceleration(start.q, start.v);
  return {retract(model, start.q, h * v), v};
}

Motion rk4_step(const Model& model, const Motion& start, double h, const Acceleration& acceleration) {
  struct Slope {
    VecX u, v;
  };
  const auto slope = [&](const VecX& u, const VecX& v) -> Slope {
    return {difference_derivative_q1(model, u) * v, acceleration(retract(model, start.q, u), v)};
  };
  const Slope k1 = slope(VecX::Zero(model.nv()), start.v);
  const Slope k2 = slope(h / 2 * k1.u, start.v + h / 2 * k1.v);
  const Slope k3 = slope(h / 2 * k2.u, start.v + h / 2 * k2.v);
  const Slope k4 = slope(h * k3.u, start.v + h * k3.v);
  const VecX u = h / 6 * (k1.u + 2 * k2.u + 2 * k3.u + k4.u);
  return {retract(model, start.q, u), start.v + h / 6 * (k1.v + 2 * k2.v + 2 * k3.v + k4.v)};
}

}  // namespace lithe::test
