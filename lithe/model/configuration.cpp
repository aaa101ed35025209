#include "lithe/model/configuration.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lithe/core/check.h"

namespace lithe {

namespace {

// Zero if every entry is finite, else NaN: one pass without branches.
double non_finite_mark(const ConstVecRef& x) { return (x.array() * 0.0).sum(); }

// One pass tells whether all entries are finite; only if not, they are looked at one by one, to name the first that is
// not.
void check_finite(const ConstVecRef& x, const char* name) {
  if (non_finite_mark(x) == 0) [[likely]]
    return;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    LITHE_CHECK(std::isfinite(x[i]), "{}[{}] is {}; every entry must be finite", name, i, x[i]);
  }
}

// Squared lengths between which a quaternion has a direction that rounding leaves alone.
constexpr double kShortestQuaternion = 1e-24;
constexpr double kLongestQuaternion = 1e24;

// Calls one(place in q, DoF) for each joint with one DoF and ball(place in q, first DoF) for each ball.
template <class Visit1, class VisitBall>
void for_each_joint(const Model& model, Visit1 one, VisitBall ball) {
  for (const DofTree::TreeJoint& joint : model.tree().joints) {
    if (joint.type == JointType::ball) {
      ball(joint.q_index, joint.dof);
    } else {
      one(joint.q_index, joint.dof);
    }
  }
}

// A block-diagonal nv × nv matrix: `one_dof` for each joint with one DoF, and the 3×3 block(first DoF) for each ball.
template <class BallBlock>
MatX block_diagonal(const Model& model, double one_dof, BallBlock block) {
  MatX J = MatX::Zero(model.nv(), model.nv());
  for_each_joint(model, [&](int, int v) { J(v, v) = one_dof; }, [&](int, int v) { J.block<3, 3>(v, v) = block(v); });
  return J;
}

// The quaternion at this place of q, scaled to length one.
Vec4 unit(const ConstVecRef& q, int at) { return q.segment<4>(at).normalized(); }

}  // namespace

void check_configuration(const Model& model, const ConstVecRef& q) {
  LITHE_CHECK(q.size() == model.nq(), "q has {} entries, the model needs nq = {}", q.size(), model.nq());
  check_finite(q, "q");
  const DofTree& tree = model.tree();
  for (const int dof : tree.balls) {
    const DofTree::TreeJoint& joint = tree.joints[tree.joint_of[dof]];
    const double length2 = q.segment<4>(joint.q_index).squaredNorm();
    LITHE_CHECK(length2 > kShortestQuaternion && length2 < kLongestQuaternion,
                "q[{}…{}], the quaternion of joint '{}', has length {:.3g}; it must be neither zero nor huge",
                joint.q_index, joint.q_index + 3, model.joints()[tree.joint_of[dof]].name, std::sqrt(length2));
  }
}

void check_tangent(const Model& model, const ConstVecRef& v, const char* name) {
  LITHE_CHECK(v.size() == model.nv(), "{} has {} entries, the model needs nv = {}", name, v.size(), model.nv());
  check_finite(v, name);
}

VecX neutral_configuration(const Model& model) {
  VecX q = VecX::Zero(model.nq());
  for_each_joint(model, [](int, int) {}, [&](int at, int) { q.segment<4>(at) = quaternion_identity(); });
  return q;
}

VecX random_configuration(const Model& model, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  VecX q(model.nq());
  for (const Joint& joint : model.joints()) {
    if (joint.type == JointType::ball) {
      // A Gaussian in ℝ⁴ has no preferred direction.
      Vec4 x;
      do {
        for (int k = 0; k < 4; ++k) x[k] = normal(random);
      } while (x.squaredNorm() < 1e-6);
      q.segment<4>(joint.q_index) = x.normalized();
      continue;
    }
    const double reach = joint.type == JointType::prismatic ? 1.0 : std::numbers::pi;
    double low = joint.lower;
    double high = joint.upper;
    if (!std::isfinite(low)) low = std::isfinite(high) ? high - reach : -reach;
    if (!std::isfinite(high)) high = std::isfinite(joint.lower) ? low + reach : reach;
    q[joint.q_index] = std::clamp(std::uniform_real_distribution<double>(low, high)(random), low, high);
  }
  return q;
}

void retract(const Model& model, const ConstVecRef& q, const ConstVecRef& delta, VecRef out) {
  check_configuration(model, q);
  check_tangent(model, delta, "delta");
  LITHE_CHECK(out.size() == model.nq(), "the result of retract has {} entries, the model needs nq = {}", out.size(),
              model.nq());
  for_each_joint(
      model, [&](int at, int v) { out[at] = q[at] + delta[v]; },
      [&](int at, int v) {
        out.segment<4>(at) = quaternion_product(q.segment<4>(at), quaternion_exp(delta.segment<3>(v))).normalized();
      });
}

VecX retract(const Model& model, const ConstVecRef& q, const ConstVecRef& delta) {
  VecX out(model.nq());
  retract(model, q, delta, out);
  return out;
}

void difference(const Model& model, const ConstVecRef& q1, const ConstVecRef& q0, VecRef out) {
  check_configuration(model, q1);
  check_configuration(model, q0);
  LITHE_CHECK(out.size() == model.nv(), "the result of difference has {} entries, the model needs nv = {}", out.size(),
              model.nv());
  for_each_joint(
      model, [&](int at, int v) { out[v] = q1[at] - q0[at]; },
      [&](int at, int v) {
        out.segment<3>(v) = quaternion_log(quaternion_product(quaternion_conjugate(unit(q0, at)), unit(q1, at)));
      });
}

VecX difference(const Model& model, const ConstVecRef& q1, const ConstVecRef& q0) {
  VecX out(model.nv());
  difference(model, q1, q0, out);
  return out;
}

VecX interpolate(const Model& model, const ConstVecRef& q0, const ConstVecRef& q1, double t) {
  LITHE_CHECK(std::isfinite(t), "interpolation parameter t is {}; it must be finite", t);
  return retract(model, q0, t * difference(model, q1, q0));
}

VecX normalized(const Model& model, const ConstVecRef& q) {
  check_configuration(model, q);
  VecX out = q;
  for_each_joint(model, [](int, int) {}, [&](int at, int) { out.segment<4>(at).normalize(); });
  return out;
}

MatX retract_derivative_q(const Model& model, const ConstVecRef& delta) {
  check_tangent(model, delta, "delta");
  return block_diagonal(model, 1, [&](int v) -> Mat3 { return rotation_exp(delta.segment<3>(v)).transpose(); });
}

MatX retract_derivative_delta(const Model& model, const ConstVecRef& delta) {
  check_tangent(model, delta, "delta");
  return block_diagonal(model, 1, [&](int v) -> Mat3 { return right_jacobian(delta.segment<3>(v)); });
}

MatX difference_derivative_q1(const Model& model, const ConstVecRef& xi) {
  check_tangent(model, xi, "difference");
  return block_diagonal(model, 1, [&](int v) -> Mat3 { return right_jacobian_inverse(xi.segment<3>(v)); });
}

MatX difference_derivative_q0(const Model& model, const ConstVecRef& xi) {
  check_tangent(model, xi, "difference");
  return block_diagonal(model, -1, [&](int v) -> Mat3 { return -right_jacobian_inverse(-xi.segment<3>(v)); });
}

}  // namespace lithe
