#pragma once

#include <random>

#include "lithe/step/step.h"
#include "tests/support/random_model.h"

namespace lithe::test {

// A random tree in trouble: spheres on its bodies that overlap one another and a plane, joints near and beyond their
// limits, springs, damping, dry friction, motors of every kind, mimic joints and loop closures, in a random state of
// motion with random forces. Whatever a step may meet is in one of them.
struct ConstrainedCase {
  Model model;
  State state;
  Control control;
  StepOptions options;
};

struct ConstrainedModelOptions {
  int min_dofs = 1;
  int max_dofs = 25;
  double new_root = 0.1;  // chance that a body starts a tree of its own
  bool contacts = true;
  bool loops = true;  // they, and mimic joints, can contradict one another
};

ConstrainedCase random_constrained_case(std::mt19937_64& random, const ConstrainedModelOptions& options = {});

}  // namespace lithe::test
