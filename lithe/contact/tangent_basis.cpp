#include "lithe/contact/tangent_basis.h"

namespace lithe {

TangentBasis tangent_basis(const Vec3& n) {
  // −0.0 counts as 0.0: the normal of a vertical wall must not change sides with the sign of a zero.
  const double sign = n.z() < 0 ? -1.0 : 1.0;
  const double a = -1 / (sign + n.z());
  const double b = n.x() * n.y() * a;
  return {Vec3(1 + sign * n.x() * n.x() * a, sign * b, -sign * n.x()), Vec3(b, sign + n.y() * n.y() * a, -n.y())};
}

}  // namespace lithe
