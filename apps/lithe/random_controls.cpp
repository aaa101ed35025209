#include "apps/lithe/random_controls.h"

#include <cmath>
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
  // Not std::uniform_real_distribution, whose numbers every library makes in its own way.
  constexpr double kScale = 0x1p-52;
  for (Eigen::Index i = 0; i < tau_.size(); ++i) {
    tau_[i] = limit_[i] * (kScale * static_cast<double>(random_() >> 11) - 1);
  }
  return tau_;
}

}  // namespace lithe::cli
