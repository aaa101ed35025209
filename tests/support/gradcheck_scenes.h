#pragma once

#include <random>
#include <string>
#include <vector>

#include "lithe/step/step.h"

namespace lithe::test {

// Random steps for derivatives to be checked on, small (1 … 20 DoFs) and full of everything. Each scene is made of parts,
// side by side:
//
//   touching   two shapes, of any pair of types, that touch, overlap or are about to touch; one hangs on a random chain of
//              joints, the other on another one or is fixed
//   flat       something lies flat, with more points than it needs: at rest, sliding, spinning; with doubled points, with
//              feet of unequal friction, on something that moves itself
//   mechanism  a chain of joints with limits, motors, dry friction, springs; or closed to a loop; or a joint that follows one
//              of another part, which makes the two one island
//
// Everything is in motion and out of line, so that no row is about to change its mode by construction: what rests is
// pressed down, what is at a limit has passed it or not, every number is drawn from an interval. Whether a step is near a
// change of mode is then a matter of chance, and seldom.
struct GradcheckScene {
  Model model;
  State state;
  Control control;
  StepOptions options;
  // A handful of what it can be differentiated by besides the state, of as many different kinds as possible.
  std::vector<std::string> parameters;
  std::vector<std::string> parts;  // "flat spinning box", one line each
};

GradcheckScene random_gradcheck_scene(std::mt19937_64& random);

// "shape/NAME/radius" → "shape/radius".
std::string parameter_kind(const std::string& name);

}  // namespace lithe::test
