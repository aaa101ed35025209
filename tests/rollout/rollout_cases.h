#pragma once

#include <string>
#include <vector>

#include "lithe/rollout/rollout_gradient.h"
#include "lithe/scenes/scene.h"

namespace lithe::test {

// Motions to differentiate, and a loss that looks at everything in them.
struct RolloutCase {
  std::string name;
  Model model;
  State start;
  Controls controls;
  RolloutOptions options;

  RolloutGradient gradient(const RolloutLoss& loss) const {
    return rollout_gradient(model, start, controls, loss, options);
  }
};

// A scene that is pushed about: forces of about `push` on every DoF, different ones in each step.
RolloutCase pushed_case(const std::string& scene, int steps, double push);

// Contact-free, sliding, sticking, with motors and in a loop. In none of them a row changes its mode, so that finite
// differences are derivatives.
RolloutCase driven_pendulum(int steps);
RolloutCase sliding_box(int steps);
RolloutCase sticking_box(int steps);
std::vector<RolloutCase> smooth_cases();

// With contacts that come and go.
std::vector<RolloutCase> eventful_cases();

// ℓ_t = a_t·ξ + |ξ|²/2 + b_t·v + |v|²/8 + τᵀτ/6 with ξ = q ⊖ q₀ and vectors a_t, b_t that look random; the end counts
// ten times. `model` and `q0` must stay.
RolloutLoss loss_of_everything(const Model& model, const VecX& q0);

// How far differences reach: little in q and v, where a µm may open a contact or delay a bounce, and far in forces, whose effect
// is small.
struct DifferenceSteps {
  double q = 1e-7, v = 1e-6, tau = 1e-2, parameters = 1e-5;
};

// The same gradient by sixth-order differences of whole rollouts. Of tau, the columns in `steps` only: the others are zero.
RolloutGradient difference_gradient(const RolloutCase& c, const RolloutLoss& loss, const std::vector<int>& steps,
                                    const DifferenceSteps& reach = {});
std::vector<int> all_steps(const RolloutCase& c);

// Every number the same, bit for bit.
void expect_same_bits(const RolloutGradient& a, const RolloutGradient& b);
void expect_same_bits(const Trajectory& a, const Trajectory& b);

}  // namespace lithe::test
