#pragma once

#include <random>
#include <vector>

#include "lithe/viz/document/show_document.h"

namespace lithe::test {

// A ground, a free box, a pendulum of two links (a capsule on a hinge, a cylinder and a sphere on a ball) and a convex mesh fixed in the
// world: every kind of shape, and joints of three types.
Model shown_model();

// A mirrored mesh and a red box on the pendulum.
std::vector<Visual> shown_visuals();

inline constexpr double kStep = 1e-2;  // s

// Random states at times 0, h, 2h, …; frame t has t mod 3 contacts. The seed is fixed: any motion will do.
std::vector<RecordedFrame> shown_frames(const Model& model, int count, double h = kStep);

}  // namespace lithe::test
