#include "lithe/contact/tangent_basis.h"

namespace lithe::internal {

TangentBasisDerivatives tangent_basis_derivatives(const Vec3& n) {
  const double sign = n.z() < 0 ? -1.0 : 1.0;
  const double a = -1 / (sign + n.z());  // ∂a = a² ∂n_z
  const double x = n.x() * a, y = n.y() * a;
  TangentBasisDerivatives d;
  const Vec3 db(y, x, x * y);  // of b = n_x n_y a
  d.dt1 << Vec3(2 * sign * x, 0, sign * x * x).transpose(), sign * db.transpose(), -sign, 0, 0;
  d.dt2 << db.transpose(), Vec3(0, 2 * y, y * y).transpose(), 0, -1, 0;
  return d;
}

}  // namespace lithe::internal
