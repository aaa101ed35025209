#include "lithe/contact/tangent_basis.h"

namespace lithe {

TangentBasis tangent_basis(const Vec3& n) {
  // −0.0 counts as 0.0: the normal of a vertical wall must not change sides with the sign of a zero.
  const double sign = n.z() < 0 ? -1.0 : 1.0;
  const double a = -1 / (sign + n.z());
  const double b = n.x() * n.y() * a;
  return {Vec3(1 + sign * n.x() * n.x() * a, sign * b, -sign * n.x()), Vec3(b, sign + n.y() * n.y() * a, -n.y())};
}

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

}  // namespace lithe
