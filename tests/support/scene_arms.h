#pragma once

#include <random>
#include <string>

#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"

namespace lithe::test {

// What the scenes of gradcheck_scenes.h are put together from: mechanisms in a configuration, and shapes that touch.

// Some joints and bodies in a configuration, not yet anywhere.
struct Arm {
  Model model;
  VecX q;

  int dofs() const { return model.nv(); }
  const std::string& last_body() const { return model.bodies().back().name; }
  Pose pose_of(const std::string& body) const;
};

// A chain whose last body moves with all of the DoFs.
Arm random_arm(std::mt19937_64& random, int dofs);

// How something that lies on the ground can move: freely, in an upright plane, without turning, up and down.
enum class Mobility { free, planar, translational, vertical };

// One body, "body", in the ground's axes, with z up; the body's own axes are R in these.
Arm lying_body(Mobility mobility, const Mat3& R, const SpatialInertia& inertia);
// Velocities of its DoFs for this motion in the ground's axes, as far as it can make it.
VecX lying_velocity(Mobility mobility, const Mat3& R, const Vec3& slide, const Vec3& spin);

// Something to lie flat, and the way it lies: turns what is to be below to −z.
Geometry flat_geometry(ShapeType type, std::mt19937_64& random);
Mat3 lying_down(ShapeType type, std::mt19937_64& random);

// Pairs that touch in several points, or in flat parts already, are drawn less often.
ShapePair random_pair(std::mt19937_64& random);

// Moves a along the pair's normal to that gap. Returns that normal.
Vec3 move_to_gap(const TestShape& a, Pose& X_WA, const TestShape& b, const Pose& X_WB, double gap);
// Where b must be to touch a, turned anyhow; `normal` points from b to a.
Pose place_beside(const TestShape& a, const Pose& X_WA, const TestShape& b, double gap, std::mt19937_64& random,
                  Vec3* normal = nullptr);

// Parts.
double random_sign(std::mt19937_64& random);

}  // namespace lithe::test
