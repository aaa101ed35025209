#include "tests/support/rigid_scene.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <cmath>
#include <numbers>

namespace lithe::test {

int RigidScene::add_box(double mass, const Vec3& half_size, const Vec3& p, const Mat3& R) {
  const Vec3 square = half_size.cwiseAbs2();
  const Vec3 inertia = (mass / 3) * Vec3(square.y() + square.z(), square.x() + square.z(), square.x() + square.y());
  bodies_.push_back({.p = p,
                     .turn_root = R * inertia.cwiseSqrt().cwiseInverse().asDiagonal() * R.transpose(),
                     .shift_root = 1 / std::sqrt(mass),
                     .omega = Vec3::Zero(),
                     .v = Vec3(0, 0, -kGravity * kTimeStep)});
  return static_cast<int>(bodies_.size()) - 1;
}

void RigidScene::push(int body, const Vec3& angular, const Vec3& linear) {
  bodies_[body].omega += angular;
  bodies_[body].v += linear;
}

int RigidScene::add_row(int a, int b, const Vec3& p, const Vec3& direction, const LcpRow& row) {
  const Vec3 p_a = bodies_[a].p, p_b = b == kWorld ? p : bodies_[b].p;
  sides_.push_back({Side{a, (p - p_a).cross(direction), direction}, {b, -(p - p_b).cross(direction), -direction}});
  rows_.push_back(row);
  return static_cast<int>(rows_.size()) - 1;
}

void RigidScene::add_turn_row(int a, int b, const Vec3& axis, const LcpRow& row) {
  sides_.push_back({Side{a, axis, Vec3::Zero()}, {b, -axis, Vec3::Zero()}});
  rows_.push_back(row);
}

void RigidScene::add_contact(int a, int b, const Vec3& p, const Vec3& n, double mu) {
  const Vec3 t1 = n.unitOrthogonal(), t2 = n.cross(t1);
  const int normal = add_row(a, b, p, n, LcpRow::make_one_sided(next_key()));
  add_row(a, b, p, t1, LcpRow::make_friction(normal, mu, next_key()));
  add_row(a, b, p, t2, LcpRow::make_friction(normal, mu, next_key()));
}

void RigidScene::add_patch(int a, int b, const Vec3& p, const Vec3& n, double radius, double phase, int points,
                           double mu) {
  const Vec3 e1 = n.unitOrthogonal(), e2 = n.cross(e1);
  for (int k = 0; k < points; ++k) {
    const double angle = phase + 2 * std::numbers::pi * k / points;
    add_contact(a, b, p + radius * (std::cos(angle) * e1 + std::sin(angle) * e2), n, mu);
  }
}

void RigidScene::add_hinge(int a, int b, const Vec3& p, const Vec3& axis) {
  for (int k = 0; k < 3; ++k) add_row(a, b, p, Vec3::Unit(k), LcpRow::make_two_sided(next_key()));
  const Vec3 e1 = axis.unitOrthogonal();
  add_turn_row(a, b, e1, LcpRow::make_two_sided(next_key()));
  add_turn_row(a, b, axis.cross(e1), LcpRow::make_two_sided(next_key()));
}

void RigidScene::add_motor(int a, int b, const Vec3& axis, double lower, double upper) {
  add_turn_row(a, b, axis, LcpRow::make_bounded(lower, upper, next_key()));
}

SampledLcp RigidScene::finish() const {
  SampledLcp result;
  const auto n = static_cast<Eigen::Index>(rows_.size()), k = static_cast<Eigen::Index>(6 * bodies_.size());
  result.rows = rows_;
  result.W = MatX::Zero(n, k);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (const Side& side : sides_[i]) {
      if (side.body == kWorld) continue;
      const Box& box = bodies_[side.body];
      result.W.block<1, 3>(i, 6 * side.body) += (box.turn_root * side.angular).transpose();
      result.W.block<1, 3>(i, 6 * side.body + 3) += box.shift_root * side.linear.transpose();
    }
  }
  result.u.resize(k);
  for (std::size_t body = 0; body < bodies_.size(); ++body) {
    const auto at = static_cast<Eigen::Index>(6 * body);
    result.u.segment<3>(at) = bodies_[body].turn_root.inverse() * bodies_[body].omega;
    result.u.segment<3>(at + 3) = bodies_[body].v / bodies_[body].shift_root;
  }
  result.d = VecX::Zero(n);
  return result;
}

}  // namespace lithe::test
