#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "lithe/model/model_builder.h"
#include "lithe/step/gradients/bounce.h"
#include "lithe/step/step.h"
#include "tests/support/integrate.h"

// Mechanisms that are about to hit the ground, and their motion in continuous time: the judge of derivatives through impacts.
namespace lithe::test {

using namespace internal;

inline constexpr double kTip = 0.05;  // radius of the sphere that hits the ground

// A model whose body "tool" carries a sphere at `tip` that is about to hit the ground.
struct Striker {
  ModelBuilder builder;
  VecX q, v, tau;
  Vec3 tip;
  Material material;
};

// A rod that flies, with spin; it hits the ground off its middle.
Striker flying_rod(const Material& material);
// A two-link arm that swings its hand to the ground.
Striker swinging_arm(const Material& material);

// The same with the ground at the height that the sphere will reach after a share of the step.
Model above_ground(Striker s, double time_step, double share);

// The motion through one impact of sphere "tip" with the ground, in continuous time: smooth motion up to the very moment of
// the impact, Newton's law with friction there, smooth motion after it.
class ContinuousImpact {
 public:
  // `record`: which rows stick and which slide.
  ContinuousImpact(const Model& model, const StepRecord& record);

  Motion after(double duration, const Motion& start) const;

 private:
  Motion fly(const Motion& start, double duration) const;
  Vec3 centre(const VecX& q) const;
  double gap(const VecX& q) const { return centre(q).z() - radius_ - ground_; }
  VecX row(const VecX& q, const Vec3& direction) const;
  VecX impact(const VecX& q, const VecX& v) const;

  const Model& model_;
  const StepRecord& record_;
  Shape tip_;
  double radius_ = 0, ground_ = 0;
};

StepRecord one_step(const Model& model, const VecX& q, const VecX& v, const VecX& tau, double h,
                    Integrator integrator = Integrator::semi_implicit);

StepJacobians jacobians_of(const Model& model, const StepRecord& record, const GradientOptions& options);
StepParameterJacobian by_parameters(const Model& model, const StepRecord& record,
                                    const std::vector<std::string>& parameters, const GradientOptions& options);

// A matrix, and products with it from either side.
struct Derivative {
  MatX J;
  VecX left, right;  // λᵀJ, J x
};

// A random mechanism in trouble with bouncy shapes, tried until something bounces.
struct BouncingCase {
  Model model;
  StepRecord record;
};
std::optional<BouncingCase> random_bounce(std::mt19937_64& random);

// The error of some derivatives, for a striker, a time step and the share of it after which the impact comes, is of first order in the
// time step: without friction, sliding, sticking; with the impact at the beginning, in the middle and at the end of the step.
template <class Error>
void expect_first_order(Error error_at) {
  for (const double friction : {0.0, 0.15, 3.0}) {
    for (const auto make : {flying_rod, swinging_arm}) {
      for (const double share : {0.0, 0.4, 0.9}) {
        const Striker s = make({.friction = friction, .restitution = 0.7});
        SCOPED_TRACE("friction " + std::to_string(friction) + ", " + std::to_string(s.v.size()) + " DoFs, after " +
                     std::to_string(share) + " of the step");
        const double error = error_at(s, 1e-4, share);
        EXPECT_LT(error, 5e-3);
        EXPECT_LT(error_at(s, 1e-5, share), 0.11 * error);
      }
    }
  }
}

}  // namespace lithe::test
