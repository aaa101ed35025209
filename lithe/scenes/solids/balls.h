#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// Balls whose ends are in the textbook.
inline constexpr double kBallRadius = 0.1;  // m, of each

// Two balls on the x axis, one DoF each (joints "left" and "right"), that meet head-on at 1 m/s each, frictionless,
// without gravity or loss. With masses m and M their velocities become
//
//   (v, w) → ((m − M)·v + 2M·w,  2m·v + (M − m)·w) / (m + M)
Scene two_balls(double left_mass = 1, double right_mass = 3);

// A free ball of 1 kg that falls until its lowest point has fallen by `height`, and bounces: each bounce is as high as
// the last one times restitution².
Scene bouncing_ball(double restitution = 0.8, double height = 1);

// A ball of 1 kg without spin (joints "ball.x", "ball.y", "ball.z") and without gravity that flies down at 45° and is
// reflected by the ground as light is by a mirror. It starts 1 m behind the origin, with its centre 1 m up, at 2 m/s along
// both x and −z, and 480 steps make one second. The higher it starts, the lower it ends: ∂z(1 s)/∂z(0) = −1.
Scene reflected_ball();

// A ball of 1 kg without spin (joints "ball.x", "ball.y", "ball.z", all 0 at the start) and without gravity between the ground and a
// wall at x = 1 m, with e = 0.92. It starts at (−0.5, 0, 1) m with (5, 0, −5) m/s and meets both. The task is to be at
// (−2, 0, 1.5) m after 0.6 s, by another velocity at the start.
Scene ball_and_wall();

// A free solid ball of 1 kg that slides over the ground (friction 0.5) at 1 m/s along x without turning. Friction brings
// it to rolling, at 5/7 of that speed, after 2 v/(7 μ g) = 0.058 s.
Scene rolling_sphere();

}  // namespace lithe
