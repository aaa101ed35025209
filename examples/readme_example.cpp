// A cube slides over the ground until friction stops it: where, and how that depends on its speed and on friction.
#include <cstdio>

#include "lithe/rollout/rollout_gradient.h"
#include "lithe/scenes/catalogue.h"

int main() {
  using namespace lithe;
  const Scene cube = scene("sliding_cube");
  const RolloutOptions options = {.gradient = {.parameters = StepParameters(cube.model, {"shape/cube/friction"})}};
  RolloutLoss loss;
  loss.terminal = [](const LossPoint& at, LossGradient& by) {
    by.q[0] = 1;
    return at.q[0];
  };
  const auto gradient = rollout_gradient(cube.model, {cube.q, VecX::Unit(6, 0)}, {.steps = 300}, loss, options);
  std::printf("x = %.4f, by speed %.4f, by friction %.4f\n", gradient.value, gradient.v[0], gradient.parameters[0]);
}
