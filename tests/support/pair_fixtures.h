#pragma once

#include <gtest/gtest.h>

#include <iosfwd>
#include <random>
#include <string>
#include <vector>

#include "lithe/collision/collider.h"
#include "lithe/model/shape.h"
#include "lithe/spatial/pose.h"

namespace lithe::test {

// Shapes and poses for tests that hold for every pair of shapes.

struct ShapePair {
  ShapeType a, b;
};

// All twenty: every two types, a ≤ b, except two planes. As test parameters:
//
//   INSTANTIATE_TEST_SUITE_P(AllPairs, MyTest, testing::ValuesIn(all_pairs()), name_of_pair);
const std::vector<ShapePair>& all_pairs();
std::string to_string(const ShapePair& pair);  // "sphere_box"
void PrintTo(const ShapePair& pair, std::ostream* out);
std::string name_of_pair(const testing::TestParamInfo<ShapePair>& info);

// A shape as the author gave it (for the oracle) and as collision sees it.
struct TestShape {
  Geometry geometry;
  Collider collider;
  double size;  // the largest distance of its points from the origin; 1 for a plane
};
TestShape make_test_shape(const Geometry& geometry, int index);

// Sizes 0.1 … 1, log-uniform; meshes are clouds of 6 … 60 points, one in four a foot.
Geometry random_geometry(ShapeType type, std::mt19937_64& random);

// The sole of a foot, pulled up: a flat polygon of 16 vertices, and above it a smaller one, `height` higher. Its lowest
// points have z = 0.
ConvexMesh foot(double length = 0.25, double width = 0.1, double height = 0.08);

// One of some shapes of that type that were made beforehand (hulls take time). No two of them share an index.
const TestShape& pooled_shape(ShapeType type, std::mt19937_64& random);

struct PairCase {
  TestShape a, b;
  Pose X_WA, X_WB;

  // The smaller size: what tolerances of lengths are measured in.
  double size() const;
  // The size of everything, distance included: what rounding errors are measured in.
  double extent() const;
};

// Two pooled shapes of the pair's types, never twice the same, anywhere and turned anyhow, at a signed distance that is
//   a third: far, their middles 0.5 … 1.5 times the sum of the sizes from each other
//   a third: near_case()
//   a third: inside each other, from a little to centre upon centre
PairCase random_case(const ShapePair& pair, std::mt19937_64& random);

// Turned anyhow, approaching from anywhere to a signed distance between −`depth` and `margins` times the pair's margin.
PairCase near_case(const ShapePair& pair, std::mt19937_64& random, double depth = 2, double margins = 2);

// A flat or straight part of a (face, cap, side, pipe) lies on one of b up to a tilt, which is 0, 1e-9, 1e-6, 1e-4,
// 1e-2 or 0.1 rad, overlapping at least partly, a gap of −2 … 2 margins between the two parts.
PairCase resting_case(const ShapePair& pair, std::mt19937_64& random);

// Sizes are multiples of 1/4, turns of 45°, shifts multiples of 1/8 and often 0: parallel edges, coplanar faces,
// coincident centres and every other tie.
PairCase lattice_case(const ShapePair& pair, std::mt19937_64& random);

// Both shapes moved by X.
PairCase moved(const PairCase& c, const Pose& X);
// a and b exchanged.
PairCase swapped(const PairCase& c);
// Geometry and poses in numbers, to build the case again.
std::string describe(const PairCase& c);

}  // namespace lithe::test
