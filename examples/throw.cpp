// A hand learns to throw a block onto a mark: gradient descent on the forces of the hand, through contact.
#include <cstdio>
#include <string>

#include "lithe/model/model_builder.h"
#include "lithe/rollout/rollout_gradient.h"

using namespace lithe;

// A flat hand of 1 kg and a block of 0.2 kg on it. Both move along x and z without turning.
Model hand_and_block() {
  ModelBuilder builder;
  const auto add = [&](const char* name, double mass, const Vec3& half_size, double height) {
    builder.add_body("world", {.name = name, .inertia = SpatialInertia::box(mass, 2 * half_size)},
                     {prismatic(std::string(name) + ".x", Vec3::UnitX(), Pose::translation(0, 0, height)),
                      prismatic(std::string(name) + ".z", Vec3::UnitZ())});
    builder.add_shape(name, {.name = name, .geometry = Box{half_size}, .material = {.friction = 1}});
  };
  add("hand", 1.0, {0.10, 0.10, 0.02}, -0.02);
  add("block", 0.2, {0.03, 0.03, 0.03}, 0.03);
  return builder.build();
}

int main() {
  const Model model = hand_and_block();
  const State start = {VecX::Zero(4), VecX::Zero(4)};  // x and z of the hand, x and z of the block
  const Vec3 mark(1.0, 0, 0.5);

  // For 0.3 s the hand moves as it likes, at first it just carries both weights; then it is pulled away, and the block flies
  // for another 0.3 s.
  RolloutOptions options;
  options.step.time_step = 0.004;
  Controls controls = {.steps = 150, .tau = MatX::Zero(4, 150)};
  controls.tau.row(1).head(75).setConstant(1.2 * 9.81);
  controls.tau.row(1).tail(75).setConstant(-20);

  // Half the squared distance between the block and the mark at the end, and its derivatives.
  RolloutLoss loss;
  loss.terminal = [&](const LossPoint& at, LossGradient& by) {
    by.q[2] = at.q[2] - mark.x();
    by.q[3] = at.q[3] - mark.z();
    return 0.5 * (by.q[2] * by.q[2] + by.q[3] * by.q[3]);
  };

  RolloutWorkspace workspace;
  RolloutGradient gradient;
  for (int i = 0; i <= 100; ++i) {
    rollout_gradient(model, start, controls, loss, options, workspace, gradient);
    if (i % 10 == 0) {
      const VecX end = workspace.rollout.trajectory.q.col(150);
      std::printf("%3d  loss %.6f  block at (%5.2f, %5.2f)   %s\n", i, gradient.value, end[2], end[3],
                  to_string(gradient.report).c_str());
    }
    controls.tau.topLeftCorner(2, 75) -= 500 * gradient.tau.topLeftCorner(2, 75);
  }
}
