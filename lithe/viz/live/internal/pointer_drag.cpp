#include "lithe/viz/live/internal/pointer_drag.h"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/jacobians.h"

namespace lithe::internal {

namespace {

constexpr double kApproach = 8;            // 1/s: the share of the distance that is asked for per second
constexpr double kMostWeights = 3;         // that a grab pulls with
constexpr double kStandardGravity = 9.81;  // also where there is none: the pull is the same in orbit
// Share of the largest mobility: directions in which the point moves less easily (a pendulum's bob along its rod) get
// little force or none, instead of all there is.
constexpr double kImmobile = 1e-2;

// The mass of all bodies that hang together with one another.
double mass_of_tree(const Model& model, int tree) {
  double mass = 0;
  for (std::size_t b = 0; b < model.bodies().size(); ++b) {
    if (model.tree().bodies[b].tree == tree) mass += model.bodies()[b].inertia.mass;
  }
  return mass;
}

// The force, of at most `most`, that accelerates a point as wanted, as far as it can move: `mobility` is its
// acceleration per force. With eigenvalues λ the factors are λ/(λ² + ε²) instead of 1/λ, and each direction has its own
// limit, so that one that leads nowhere takes nothing from the others.
Vec3 pull(const Mat3& mobility, const Vec3& acceleration, double most) {
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(mobility);
  const Vec3& values = eigen.eigenvalues();
  const double least = kImmobile * values[2];
  Vec3 force = Vec3::Zero();
  for (int i = 0; i < 3; ++i) {
    if (!(values[i] > 0)) continue;
    const Vec3 direction = eigen.eigenvectors().col(i);
    const double wanted = direction.dot(acceleration) * (values[i] / (values[i] * values[i] + least * least));
    force += direction * std::clamp(wanted, -most, most);
  }
  const double norm = force.norm();
  return norm > most ? Vec3(force * (most / norm)) : force;
}

}  // namespace

void check_grab(const Model& model, const Grab& grab) {
  LITHE_CHECK(grab.body > 0 && static_cast<std::size_t>(int{grab.body}) < model.bodies().size(),
              "there is no body {} to be drawn; they are 1 … {}", int{grab.body}, model.bodies().size() - 1);
  LITHE_CHECK(model.tree().bodies[static_cast<std::size_t>(int{grab.body})].tree >= 0,
              "body '{}' is fixed in the world and cannot be drawn", model.bodies()[grab.body].name);
  LITHE_CHECK(grab.point.allFinite() && grab.target.allFinite(), "a place of the push is not finite");
}

// Without contacts, a force F accelerates the point by J M⁻¹ (τ − h) + (J M⁻¹ Jᵀ) F, so J M⁻¹ Jᵀ is its mobility. F has
// to bring the acceleration that leads to the wanted velocity within this step, less what the other forces bring.
void DragForces::add(const Model& model, const State& state, double time_step, const Grab& grab, Control& control) {
  kinematics(model, state.q, state.v, kin_);
  bias_forces(model, kin_, bias_, control.wrenches);
  mass_matrix(model, kin_, M_);
  factorize(model, M_, factor_);
  point_jacobian(model, kin_, grab.body, grab.point, J_);
  M_inv_Jt_ = J_.transpose();
  solve_in_place(model, factor_, M_inv_Jt_);
  a_free_ = -bias_.tau;
  if (control.tau.size() > 0) a_free_ += control.tau;
  solve_in_place(model, factor_, a_free_);

  const Pose X_WB = body_pose(model, kin_, grab.body);
  const Vec3 point = X_WB.R * grab.point + X_WB.p;
  const Vec3 wanted = kApproach * (grab.target - point);
  const Vec3 acceleration = (wanted - J_ * state.v) / time_step - J_ * a_free_.col(0);
  const double most = kMostWeights * kStandardGravity *
                      mass_of_tree(model, model.tree().bodies[static_cast<std::size_t>(int{grab.body})].tree);
  const Vec3 force = pull(J_ * M_inv_Jt_, acceleration, most);
  Vec6 wrench;
  wrench << (point - X_WB.p).cross(force), force;
  if (wrench.allFinite()) control.wrenches.push_back({grab.body, wrench});
}

}  // namespace lithe::internal
