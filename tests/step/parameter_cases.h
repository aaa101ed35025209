#pragma once

#include "tests/support/constrained_model.h"

namespace lithe::test {

// Steps to differentiate by parameters: between them, everything that has a name matters in some of them.

// A random tree in trouble (random_constrained_case) whose loops, mimic joints, contacts and motors are close enough to where
// they want to be that no cap decides, with limits on effort and speed.
ConstrainedCase random_mechanism_case(std::mt19937_64& random);

// One or two solids (box, cylinder, capsule, sphere, mesh) on a flat ground (a plane, a fixed box, a slab that slides), lying
// flat to rounding or rolling: at rest, sliding, spinning, bouncing, landing. Frames of bodies and shapes are anywhere, and some
// shapes sit on a welded body.
ConstrainedCase random_solids_case(std::mt19937_64& random);

}  // namespace lithe::test
