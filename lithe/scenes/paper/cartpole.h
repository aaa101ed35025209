#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// Poles on a cart that slides along x, in the plane y = 0. Only the cart is driven, and nothing touches anything. Each
// angle is relative to what carries the pole, and 0 upright; a positive one leans towards −x.

// The paper's: 2 DoFs, "cart" (±10 N, within ±10 m) and "pole" (1 m long), 1 kg each with the unit matrix as inertia.
ModelBuilder cartpole();

// At x = 1 m, leaning by 1 rad towards the middle, at rest. The task is to be at x = 0, upright and at rest, after 500
// steps of 10 ms.
Scene leaning_cartpole();

// 3 DoFs, "cart" (0.75 kg), "pole_1" and "pole_2" (0.3 m and 0.025 kg each), with a weight of 0.3 kg on the end; the
// poles' joints have a damping of 0.1 N·m·s. Bodies are solid boxes of uniform density.
//
// The figures are those of inverted_double_pendulum.skel, as DART and Nimble run it.
ModelBuilder double_cartpole();

// Hanging straight down, at rest: the start of a swing-up. Time step 10 ms.
Scene hanging_double_cartpole();

}  // namespace lithe
