#include <Eigen/LU>

#include <cmath>

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/body_motion_derivatives.h"
#include "lithe/dynamics/jacobians.h"
#include "lithe/optimize/residuals.h"
#include "lithe/optimize/residuals/frame_on_model.h"
#include "lithe/spatial/rotation.h"

namespace lithe {

using namespace internal;

namespace {

// Memory for the Jacobians of frames, one set per thread, so that a warm evaluation allocates nothing.
struct FrameWorkspace {
  Mat6X a, b;
};
FrameWorkspace& frame_workspace() {
  thread_local FrameWorkspace memory;
  return memory;
}

// [ω; ṗ] of a frame by v, in world axes: 6 × nv, in the memory that is handed in.
const Mat6X& jacobian_of(const ResidualPoint& at, const FrameOnModel& frame, Mat6X& memory) {
  frame_jacobian(at.model, at.kin, frame.index(), memory);
  return memory;
}

// p_F (3 numbers), or direction·p_F (1): rows·p_F − target.
template <int Rows>
class PlaceResidual : public Residual {
 public:
  using Directions = Eigen::Matrix<double, Rows, 3>;
  using Target = Eigen::Matrix<double, Rows, 1>;

  PlaceResidual(const Model& model, std::string_view frame, const Directions& rows, const Target& target,
                const char* what)
      : frame_(model, frame), rows_(rows), target_(target), what_(what) {
    LITHE_CHECK(target.allFinite(), "the target of the {} is not finite", name());
  }

  std::string name() const override { return what_ + " of frame '" + frame_.name() + "'"; }
  int size(const Model& model) const override {
    frame_.check(model, *this);
    return Rows;
  }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    value.head<Rows>() = rows_ * frame_pose(at.model, at.kin, frame_.index()).p - target_;
    if (!jacobian) return;
    const Mat6X& J = jacobian_of(at, frame_, frame_workspace().a);
    jacobian->by_q.noalias() = rows_.lazyProduct(J.bottomRows<3>());
    jacobian->by_parameters.resize(Rows, at.parameters.size());
    for (int k = 0; k < at.parameters.size(); ++k) {
      jacobian->by_parameters.col(k) = rows_ * frame_.shift_by(at, at.parameters.entries()[k]);
    }
  }

 private:
  FrameOnModel frame_;
  Directions rows_;
  Target target_;
  std::string what_;
};

// r = log(R_WF R_Wtargetᵀ): a turn by r, in world axes, takes the target to the frame. A small further turn ω in world axes gives
// exp(ω)exp(r) = exp(r + J_l⁻¹(r) ω), and the left Jacobian is the right one of −r.
class OrientationResidual : public Residual {
 public:
  OrientationResidual(const Model& model, std::string_view frame, const Mat3& target)
      : frame_(model, frame), target_(target) {
    constexpr double kTolerance = 1e-6;
    const double error = (target.transpose() * target - Mat3::Identity()).cwiseAbs().maxCoeff();
    LITHE_CHECK(error < kTolerance && target.determinant() > 0,
                "the target of the {} is no rotation matrix: |RᵀR − 1| = {:.3g}, det R = {:.3g}", name(), error,
                target.determinant());
    // Through a quaternion and back: what was a rotation to six digits is one to rounding.
    target_ = rotation_from_quaternion(quaternion_from_rotation(target));
  }

  std::string name() const override { return "orientation of frame '" + frame_.name() + "'"; }
  int size(const Model& model) const override {
    frame_.check(model, *this);
    return 3;
  }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    const Mat3 turn = frame_pose(at.model, at.kin, frame_.index()).R * target_.transpose();
    const Vec3 r = quaternion_log(quaternion_from_rotation(turn));
    value.head<3>() = r;
    if (!jacobian) return;
    const Mat6X& J = jacobian_of(at, frame_, frame_workspace().a);
    jacobian->by_q.noalias() = right_jacobian_inverse(-r).lazyProduct(J.topRows<3>());
  }

 private:
  FrameOnModel frame_;
  Mat3 target_;
};

// [ω; ṗ] − target, in world axes. How a velocity depends on lengths of the model is not known here, so knows() says no
// to numbers that move the frame.
class FrameVelocityResidual : public Residual {
 public:
  FrameVelocityResidual(const Model& model, std::string_view frame, const Vec6& target)
      : frame_(model, frame), target_(target) {
    LITHE_CHECK(target.allFinite(), "the target of the {} is not finite", name());
  }

  std::string name() const override { return "velocity of frame '" + frame_.name() + "'"; }
  int size(const Model& model) const override {
    frame_.check(model, *this);
    return 6;
  }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    value.head<6>() = frame_velocity(at.model, at.kin, frame_.index()) - target_;
    if (!jacobian) return;
    FrameWorkspace& memory = frame_workspace();
    frame_velocity_derivatives(at.model, at.kin, frame_.index(), memory.a, memory.b);
    jacobian->by_q = memory.a;
    jacobian->by_v = memory.b;
  }
  bool knows(const StepParameters::Entry& entry) const override { return !frame_.is_moved_by(entry); }

 private:
  FrameOnModel frame_;
  Vec6 target_;
};

// |p_a − p_b| − target. Its gradient is the unit vector from b to a times the difference of the Jacobians; where the
// origins meet there is none, and zero stands for it.
class DistanceResidual : public Residual {
 public:
  DistanceResidual(const Model& model, std::string_view a, std::string_view b, double target)
      : a_(model, a), b_(model, b), target_(target) {
    LITHE_CHECK(a_.index() != b_.index(), "the distance of frame '{}' to itself is always zero; name two frames", a);
    LITHE_CHECK(std::isfinite(target), "the target of the {} is {}; give a finite number", name(), target);
  }

  std::string name() const override { return "distance of frames '" + a_.name() + "' and '" + b_.name() + "'"; }
  int size(const Model& model) const override {
    a_.check(model, *this);
    b_.check(model, *this);
    return 1;
  }
  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    const Vec3 apart = frame_pose(at.model, at.kin, a_.index()).p - frame_pose(at.model, at.kin, b_.index()).p;
    const double distance = apart.norm();
    value[0] = distance - target_;
    if (!jacobian) return;
    const Vec3 direction = distance > 0 ? Vec3(apart / distance) : Vec3(Vec3::Zero());
    FrameWorkspace& memory = frame_workspace();
    const Mat6X& J_a = jacobian_of(at, a_, memory.a);
    const Mat6X& J_b = jacobian_of(at, b_, memory.b);
    jacobian->by_q.noalias() = direction.transpose().lazyProduct(J_a.bottomRows<3>() - J_b.bottomRows<3>());
    jacobian->by_parameters.resize(1, at.parameters.size());
    for (int k = 0; k < at.parameters.size(); ++k) {
      const StepParameters::Entry& entry = at.parameters.entries()[k];
      jacobian->by_parameters(0, k) = direction.dot(a_.shift_by(at, entry) - b_.shift_by(at, entry));
    }
  }

 private:
  FrameOnModel a_, b_;
  double target_;
};

}  // namespace

namespace residuals {

ResidualPtr frame_position(const Model& model, std::string_view frame, const Vec3& target) {
  return std::make_shared<PlaceResidual<3>>(model, frame, Mat3::Identity(), target, "position");
}

ResidualPtr frame_height(const Model& model, std::string_view frame, double target, const Vec3& up) {
  const double length = up.norm();
  LITHE_CHECK(std::isfinite(length) && length > 0,
              "the direction ({}, {}, {}) of the height of frame '{}' is not one; give a vector that is not zero",
              up.x(), up.y(), up.z(), frame);
  return std::make_shared<PlaceResidual<1>>(model, frame, up.transpose() / length, Eigen::Matrix<double, 1, 1>(target),
                                            "height");
}

ResidualPtr frame_orientation(const Model& model, std::string_view frame, const Mat3& target) {
  return std::make_shared<OrientationResidual>(model, frame, target);
}

ResidualPtr frame_velocity(const Model& model, std::string_view frame, const Vec6& target) {
  return std::make_shared<FrameVelocityResidual>(model, frame, target);
}

ResidualPtr frame_distance(const Model& model, std::string_view frame_a, std::string_view frame_b, double target) {
  return std::make_shared<DistanceResidual>(model, frame_a, frame_b, target);
}

}  // namespace residuals

}  // namespace lithe
