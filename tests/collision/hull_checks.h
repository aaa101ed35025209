#pragma once

#include <random>
#include <vector>

#include "lithe/collision/hull/hull.h"

namespace lithe::test {

using namespace internal;

// Points to build hulls of, and what every hull must satisfy.

using Points = std::vector<Vec3>;

Points cube_corners();
// A cube of half size 1 with n × n points on each face, and so n on each edge.
Points cube_grid(int n);
Points on_sphere(int n, std::mt19937_64& random);
// A regular polygon with n corners and radius 1 at the height z.
Points polygon(int n, double z);
Points joined(Points a, const Points& b);
Hull hull_of(const Points& points);  // without a warning

double height_above(const Hull& hull, const Vec3& x);  // how far x is outside
// Closed and convex, with consistent neighbours, planes, bounds, packs and ranks; flatness: of its faces, relative.
void expect_valid(const Hull& hull, double flatness = 1e-13);

}  // namespace lithe::test
