#pragma once

#include <cstdint>
#include <string>

#include "lithe/optimize/solve.h"
#include "lithe/scenes/scene.h"

namespace lithe::cli {

// How an optimisation went, and how to say so.
struct OptimizeReport {
  std::string scene_name, method;
  const Scene& scene;  // with a task
  const Problem& problem;
  const Solution& solution;
  double cost_before;
  int threads;
  std::uint64_t seed;
  bool aware;  // of complementarity

  bool interrupted() const { return solution.reason == StopReason::interrupted; }
  std::string text() const;
  std::string json() const;
};

}  // namespace lithe::cli
