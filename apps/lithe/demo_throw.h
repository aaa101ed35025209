#pragma once

#include <functional>

#include "lithe/optimize/solve.h"
#include "lithe/scenes/scene.h"

namespace lithe::cli {

// The catapult throws its box at the target: the forces are found by L-BFGS, whose gradients go back through every step and contact.
struct DemoThrow {
  static constexpr double kHit = 0.01;  // m from the target

  Scene scene;
  Problem problem;
  Plan start;                              // no forces at all
  Solution solution;                       // of the last attempt
  int attempts = 0;                        // with forces that are held for longer or shorter; one is enough as a rule
  double miss_before = 0, miss_after = 0;  // how far the box is from the target at the end, m

  bool hits() const { return miss_after < kHit; }
};

// `progress` is told of each iteration; false stops.
DemoThrow find_throw(int iterations, int threads, const std::function<bool(const lithe::Progress&)>& progress);

}  // namespace lithe::cli
