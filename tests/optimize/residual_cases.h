#pragma once

#include <random>
#include <string>
#include <vector>

#include "lithe/optimize/residuals.h"
#include "lithe/step/step.h"

namespace lithe::test {

// A model in motion with all that residuals look at: random controls, and a step with its impulses.
struct ResidualCase {
  Model model;
  VecX q, v, u, u_before;
  StepParameters parameters = {};
  Kinematics kin = {};
  StepRecord record = {};

  ResidualCase(Model model, const VecX& q, const VecX& v, const VecX& u = {}, const VecX& u_before = {});

  ResidualPoint at() const { return {model, 3, q, v, u, u_before, kin, &record, parameters}; }
  VecX value(const Residual& residual, ResidualJacobian* jacobian = nullptr) const;

  // The value where one of these is another; the others stay.
  VecX value_at_q(const Residual& residual, const VecX& other) const;
  VecX value_at_v(const Residual& residual, const VecX& other) const;
  VecX value_at_parameter(const Residual& residual, const std::string& name, double change) const;
};

// A random model whose bodies, the world too, carry a frame each that is named after them, and spheres that touch one another and a
// plane; in a random state, with three controls.
ResidualCase random_residual_case(std::mt19937_64& random, int max_dofs);

// One of each in the library, with random targets: balls and orientations well away from half turns of them, where they jump.
std::vector<ResidualPtr> all_residuals(const ResidualCase& c, std::mt19937_64& random);

// Two links of length 1 that turn about z, at right angles: the elbow is at (0, 1, 0), the hand at (1, 1, 0). A kilogram in each. The
// straight arm would reach "goal".
ResidualCase bent_arm();

}  // namespace lithe::test
