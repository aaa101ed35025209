#pragma once

#include <cstdint>

#include "lithe/collision/distance/minkowski.h"
#include "lithe/core/eigen.h"
#include "lithe/spatial/pose.h"

namespace lithe::internal {

// Distance between convex cores by the algorithm of Gilbert, Johnson and Keerthi (1988), which walks over their Minkowski difference
//
//   D = A − B = { x_a − x_b },      distance = min over w in D of |w|,
//
// whose vertices are pairs of vertices, towards the point v of D that is nearest to the origin. Each step asks for the
// vertex w of D that is lowest along u = v/|v|; sep(u) = u·w is then a proven lower bound of the distance and |v| an
// upper bound. A polytope has finitely many vertices, so it ends at the exact features and not merely near them.
//
// Everything is in b's frame: X_BA is the pose of a's frame in b's. The same input gives the same bits.

enum class GjkStatus : std::uint8_t {
  far,        // the distance exceeds `far`; n and distance are a direction and bound that prove it
  separated,  // n, distance and simplex are those of the closest points
  overlapping,  // the cores meet, or lie closer than kTouching·size: simplex holds the origin; n and distance mean nothing
};

// Distances below this, relative to the size of the numbers they come from, count as touching.
inline constexpr double kTouching = 1e-12;

struct GjkResult {
  GjkStatus status = GjkStatus::overlapping;
  Vec3 n = Vec3::UnitX();  // unit, from b to a
  double distance = 0;     // far: a lower bound
  // The vertices of D whose combination Σ weight·w is the nearest point: x_a = Σ weight·a, x_b = Σ weight·b.
  // Separated: at most three, with positive weights that sum to 1. Empty when far.
  int count = 0;
  DifferenceVertex simplex[4] = {};
  double weight[4] = {};
  int iterations = 0;
};

// Closest points of two cores, or only the proof that they are farther apart than `far` (infinity: never). `guess` is a
// unit direction to begin with that may be near n; otherwise it is the one from b's middle to a's.
GjkResult gjk(const Core& a, const Core& b, const Pose& X_BA, double far, const Vec3* guess = nullptr);

}  // namespace lithe::internal
