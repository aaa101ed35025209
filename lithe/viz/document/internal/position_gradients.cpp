#include "lithe/viz/document/internal/position_gradients.h"

#include <Eigen/Eigenvalues>

#include <cmath>

#include "lithe/dynamics/jacobians.h"
#include "lithe/model/configuration.h"

namespace lithe::internal {

namespace {

// W⁺ b for a symmetric positive semidefinite W, with the weights that the header states.
Vec3 solve_within_range(const Mat3& W, const Vec3& b) {
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(W);
  const Vec3& mobility = eigen.eigenvalues();  // ascending
  Vec3 x = Vec3::Zero();
  for (int k = 0; k < 3; ++k) {
    if (!(mobility[k] > 1e-12 * mobility[2])) continue;  // rounding
    const Vec3 axis = eigen.eigenvectors().col(k);
    const double heaviness = (mobility[2] / mobility[k] - 1) / PositionGradients::kHeavy;
    x += axis * (axis.dot(b) / mobility[k] / (1 + std::pow(heaviness, 4)));
  }
  return x;
}

}  // namespace

PositionGradients::PositionGradients(const Model& model)
    : model_(model), out_(3 * static_cast<Eigen::Index>(model.bodies().size())) {}

// M⁻¹ g is computed once for all bodies; each body then needs its J, its M⁻¹ Jᵀ and a 3×3 system to be solved.
const VecX& PositionGradients::at(const ConstVecRef& q, const ConstVecRef& by_q) {
  check_tangent(model_, by_q, "by_q");
  kinematics(model_, q, kin_);
  mass_matrix(model_, kin_, M_);
  factorize(model_, M_, factor_);
  response_ = by_q;
  solve_in_place(model_, factor_, response_);
  for (int body = 0; body < static_cast<int>(model_.bodies().size()); ++body) {
    point_jacobian(model_, kin_, BodyIndex(body), Vec3::Zero(), J_);
    inverse_ = J_.transpose();
    solve_in_place(model_, factor_, inverse_);
    out_.segment<3>(3 * body) = solve_within_range(J_ * inverse_, J_ * response_);
  }
  return out_;
}

}  // namespace lithe::internal
