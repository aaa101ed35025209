#pragma once

#include <string>
#include <vector>

#include "lithe/core/check.h"
#include "lithe/dynamics/inverse_dynamics.h"
#include "lithe/model/model_builder.h"
#include "tests/support/error_text.h"
#include "tests/support/random_model.h"

namespace lithe::test {

// The same model with all of it, fixed bodies too, somewhere else.
Model moved(const Model& model, const Vec3& by);

// A random model in motion: a random state, the kinematics and the inverse dynamics at it. Every body, the world
// too, carries a frame named after it.
struct MovingModel {
  Model model;
  RandomState state;
  ExternalWrenches wrenches;
  Kinematics kin;
  InverseDynamics id;

  explicit MovingModel(std::mt19937_64& random, const RandomModelOptions& options = {});
  MovingModel(Model model, RandomState state, ExternalWrenches wrenches = {});

  Kinematics kinematics_at(const VecX& q, const VecX& v) const;
  Kinematics kinematics_at(const VecX& q) const { return kinematics_at(q, state.v); }

  // Neither the world nor its frame.
  BodyIndex random_body(std::mt19937_64& random) const;
  FrameIndex random_frame(std::mt19937_64& random) const;
  JointIndex random_joint(std::mt19937_64& random) const;
};

// Relative errors of many comparisons. A derivative is right if the worst is small and the usual one tiny.
class ErrorSummary {
 public:
  explicit ErrorSummary(std::string name) : name_(std::move(name)) {}
  // Fails the running case if the error is above 1e-6.
  void add(double error);
  // Fails if the median is above 1e-9; keeps both numbers in the test's record.
  ~ErrorSummary();

 private:
  std::string name_;
  std::vector<double> errors_;
};

}  // namespace lithe::test
