#include "apps/lithe/random_controls.h"

#include <cmath>
#include <utility>
#include <vector>

namespace lithe::cli {

namespace {

constexpr double kShareOfWeight = 0.1;

// The mass of each body and of all that hangs on it. Parents have smaller numbers than their children.
std::vector<double> carried_masses(const Model& model) {
  std::vector<double> mass;
  for (const Body& body : model.bodies()) mass.push_back(body.inertia.mass);
  for (std::size_t b = mass.size(); b-- > 1;) mass[model.bodies()[b].parent] += mass[b];
  return mass;
}

// Not std::uniform_real_distribution, whose numbers every library makes in its own way.
double from_minus_one_to_one(std::mt19937_64& random) {
  constexpr double kScale = 0x1p-52;
  return kScale * static_cast<double>(random() >> 11) - 1;
}

}  // namespace

RandomControls::RandomControls(const Model& model, std::uint64_t seed)
    : limit_(model.nv()), tau_(model.nv()), random_(seed) {
  const std::vector<double> mass = carried_masses(model);
  for (const Joint& joint : model.joints()) {
    const double weight = 9.81 * mass[joint.body];
    const double limit = std::isfinite(joint.effort_limit) ? joint.effort_limit : kShareOfWeight * weight;
    limit_.segment(joint.v_index, joint.nv()).setConstant(limit);
  }
}

const VecX& RandomControls::next() {
  for (Eigen::Index i = 0; i < tau_.size(); ++i) tau_[i] = limit_[i] * from_minus_one_to_one(random_);
  return tau_;
}

RandomTargets::RandomTargets(const Model& model, VecX targets, std::uint64_t seed)
    : lower_(targets), upper_(targets), targets_(std::move(targets)), random_(seed) {
  for (std::size_t m = 0; m < model.motors().size(); ++m) {
    const Motor& motor = model.motors()[m];
    const Joint& joint = model.joints()[motor.joint];
    const bool position = motor.target == Motor::Target::position;
    const double lower = position ? joint.lower : -joint.velocity_limit;
    const double upper = position ? joint.upper : joint.velocity_limit;
    if (!std::isfinite(lower) || !std::isfinite(upper)) continue;
    lower_[static_cast<Eigen::Index>(m)] = lower;
    upper_[static_cast<Eigen::Index>(m)] = upper;
  }
}

const VecX& RandomTargets::next() {
  for (Eigen::Index i = 0; i < targets_.size(); ++i) {
    const double share = 0.5 * (1 + from_minus_one_to_one(random_));
    if (lower_[i] < upper_[i]) targets_[i] = lower_[i] + share * (upper_[i] - lower_[i]);
  }
  return targets_;
}

}  // namespace lithe::cli
