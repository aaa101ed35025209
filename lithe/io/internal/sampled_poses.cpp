#include "lithe/io/internal/sampled_poses.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace lithe::internal {

namespace {

// Scrambles the bits of a number (the finaliser of SplitMix64; Steele, Lea and Flood 2014).
std::uint64_t scrambled(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A number in [0, 1) that looks random and depends on the three arguments only. `part` tells the numbers of one joint
// apart; there are at most four. The 53 upper bits of the hash fill a double.
double uniform_number(int joint, int part, int pose) {
  const auto row = static_cast<std::uint64_t>(4 * joint + part);
  return static_cast<double>(scrambled(scrambled(row) + static_cast<std::uint64_t>(pose)) >> 11) * 0x1p-53;
}

// A rotation that is uniform over all of them, from three numbers (Shoemake 1992).
Vec4 uniform_quaternion(double u, double v, double w) {
  const double a = std::sqrt(1 - u), b = std::sqrt(u);
  const double phi = 2 * std::numbers::pi * v, psi = 2 * std::numbers::pi * w;
  return {a * std::sin(phi), a * std::cos(phi), b * std::sin(psi), b * std::cos(psi)};
}

// Whether the body can move in all ways, which makes it the base of a robot.
bool is_free(const Model& model, const Body& body) {
  int dofs = 0;
  for (const JointIndex j : body.joints) dofs += model.joints()[j].nv();
  return dofs >= 6;
}

}  // namespace

// The list may be in any order, so each pass settles one more link of a chain: after as many passes as there are
// mimics, or as soon as nothing changes, all are settled.
void follow_mimics(const Model& model, VecX& q) {
  for (std::size_t pass = 0; pass < model.mimics().size(); ++pass) {
    bool changed = false;
    for (const Mimic& mimic : model.mimics()) {
      const double source = q[model.joints()[mimic.source].q_index];
      double& follower = q[model.joints()[mimic.joint].q_index];
      const double value = mimic.multiplier * source + mimic.offset;
      // Multipliers of a made-up chain may overflow; no pose holds that.
      if (!std::isfinite(value)) continue;
      changed = changed || value != follower;
      follower = value;
    }
    if (!changed) return;
  }
}

VecX within_limits(const Model& model, VecX q) {
  for (const Joint& joint : model.joints()) {
    // A ball has no limits.
    if (joint.type == JointType::ball) continue;
    q[joint.q_index] = std::clamp(q[joint.q_index], joint.lower, joint.upper);
  }
  follow_mimics(model, q);
  return q;
}

SampledPoses::SampledPoses(const Model& model, VecX base)
    : model_(model), q_(std::move(base)), held_(model.joints().size(), 0) {
  for (const Body& body : model.bodies()) {
    if (!is_free(model, body)) continue;
    for (const JointIndex j : body.joints) held_[j] = 1;
  }
}

const VecX& SampledPoses::pose(int number) {
  for (std::size_t i = 0; i < model_.joints().size(); ++i) {
    if (held_[i]) continue;
    const Joint& joint = model_.joints()[i];
    const auto draw = [&](int part) { return uniform_number(static_cast<int>(i), part, number); };
    if (joint.type == JointType::ball) {
      q_.segment<4>(joint.q_index) = uniform_quaternion(draw(0), draw(1), draw(2));
      continue;
    }
    // A joint with a limit on one side only gets its range from there.
    const double reach = joint.type == JointType::prismatic ? 1.0 : std::numbers::pi;
    const bool below = std::isfinite(joint.lower), above = std::isfinite(joint.upper);
    const double low = below ? joint.lower : above ? joint.upper - reach : -reach;
    const double high = above ? joint.upper : below ? joint.lower + reach : reach;
    q_[joint.q_index] = low + draw(0) * (high - low);
  }
  follow_mimics(model_, q_);
  return q_;
}

}  // namespace lithe::internal
