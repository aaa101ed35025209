#include "lithe/dynamics/regressor.h"

#include <Eigen/Geometry>

#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/internal/body_point.h"
#include "lithe/dynamics/internal/stage_check.h"
#include "lithe/spatial/rotation.h"

namespace lithe {

using namespace internal;

namespace {

using Mat3x6 = Eigen::Matrix<double, 3, 6>;
using Mat6x10 = Eigen::Matrix<double, 6, 10>;

// I x as a matrix times (Ixx, Ixy, Ixz, Iyy, Iyz, Izz).
Mat3x6 times_rotational(const Vec3& x) {
  Mat3x6 L;
  L << x.x(), x.y(), x.z(), 0, 0, 0,  //
      0, x.x(), 0, x.y(), x.z(), 0,   //
      0, 0, x.x(), 0, x.y(), x.z();
  return L;
}

// I A + V ×* I V = Φ π, all in the body's frame about its origin. With d = a + ω × v, the acceleration of the origin,
// Newton and Euler read f = m d + (α× + ω×ω×) m c and n = m c × d + I α + ω × I ω.
Mat6x10 body_regressor(const Vec6& V, const Vec6& A) {
  const Vec3 w = V.head<3>();
  const Vec3 alpha = A.head<3>();
  const Vec3 d = A.tail<3>() + w.cross(V.tail<3>());
  const Mat3 w_cross = skew(w);
  Mat6x10 Phi;
  Phi.topLeftCorner<3, 1>().setZero();
  Phi.block<3, 3>(0, 1) = -skew(d);
  Phi.topRightCorner<3, 6>() = times_rotational(alpha) + w_cross * times_rotational(w);
  Phi.bottomLeftCorner<3, 1>() = d;
  Phi.block<3, 3>(3, 1) = skew(alpha) + w_cross * w_cross;
  Phi.bottomRightCorner<3, 6>().setZero();
  return Phi;
}

// A motion about the tree's origin in world axes, seen from a body: at its origin, in its axes.
Vec6 in_body(const Motion<double>& m, const Vector3<double>& p, const Mat3& R_WB) {
  const Motion<double> at = moved_to(m, p);
  Vec6 out;
  out << R_WB.transpose() * to_eigen(at.w), R_WB.transpose() * to_eigen(at.v);
  return out;
}

}  // namespace

void inertial_regressor(const Model& model, const Kinematics& kin, const InverseDynamics& id, MatX& Y) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  check_stage(model, id.layout, "InverseDynamics", "rnea()");
  const DofTree& tree = model.tree();
  const int bodies = static_cast<int>(model.bodies().size());
  Y.setZero(tree.nv, 10 * bodies);
  for (int b = 0; b < bodies; ++b) {
    const BodyPoint origin = body_point(model, kin, BodyIndex(b));
    if (origin.slot < 0) continue;
    const Mat3 R_WB = body_pose(model, kin, BodyIndex(b)).R;
    const Mat6x10 Phi = body_regressor(in_body(motion_at(kin.V, origin.slot), origin.p, R_WB),
                                       in_body(motion_at(id.A, origin.slot), origin.p, R_WB));
    for (int dof = origin.dof; dof >= 0; dof = tree.parent[dof]) {
      const Vec6 S = in_body(motion_at(kin.S, tree.slot[dof]), origin.p, R_WB);
      Y.block<1, 10>(dof, 10 * b).noalias() = S.transpose() * Phi;
    }
  }
}

}  // namespace lithe
