#pragma once

#include <span>
#include <string>
#include <vector>

#include "lithe/core/eigen.h"

namespace lithe::internal {

// A flat piece of a convex surface: its corners counter-clockwise seen from outside, and normal·x = offset on it.
struct HullFacet {
  std::vector<int> ring;
  Vec3 normal;
  double offset;
};

// The facets of the convex hull of some points, by qhull (Barber, Dobkin and Huhdanpaa 1996). They form a closed
// surface: every edge of a facet is an edge of one other, in the opposite direction. Where rounding decides whether
// points are in one plane, qhull gives one facet that holds all of them up to rounding. The points must not be (nearly)
// in a plane. `name` is for the message of an Error.
std::vector<HullFacet> hull_facets(std::span<const Vec3> points, const std::string& name);

// As qhull names itself: another one may choose other facets where points are nearly in a plane.
const char* qhull_version();

// Per facet and entry of its ring: the facet on the other side of the edge to the next corner. Empty if some edge does
// not have exactly one facet on each side.
std::vector<std::vector<int>> facets_across(std::span<const std::vector<int>> rings);

}  // namespace lithe::internal
