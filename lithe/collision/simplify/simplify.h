#pragma once

#include <span>
#include <vector>

#include "lithe/collision/hull/facets.h"
#include "lithe/core/eigen.h"

namespace lithe::internal {

// Some vertices of a convex polytope P, so that none of its vertices is farther than a tolerance from their hull Q.
//
// Q lies in P, so its support function h_Q is not above h_P; and with v a vertex of P that is highest along the unit
// vector d, and y the point of Q nearest to v, h_P(d) = d·y + d·(v − y) ≤ h_Q(d) + |v − y|. So
//
//   0 ≤ h_P(d) − h_Q(d) ≤ error      for every d,
//
// which bounds the distance between the surfaces, and says that Q never reaches out of P: no shapes meet that did not,
// and the gap between two of them grows by no more than both errors.
struct KeptVertices {
  std::vector<int> kept;  // ascending
  double error = 0;       // no vertex is farther from the hull of those kept
};

// Farthest-point insertion: the six extremes along the axes, the outlines of large flat parts such as soles, and then,
// again and again, the vertex that is farthest from the hull of those kept; at most `most` of them.
//
// The set that is kept depends on the vertices' positions alone, not on their order; and where the bodies are symmetric
// about planes through the middle of their bounds along the axes, vertices are kept with their mirror images.
//
// `facets` are those of P, or none; they say where it may be flat.
KeptVertices simplify_vertices(std::span<const Vec3> vertices, std::span<const HullFacet> facets, double tolerance,
                               int most);

// The same for points in a plane (up to rounding) with this unit normal.
KeptVertices simplify_outline(std::span<const Vec3> points, const Vec3& normal, double tolerance, int most);

// The corners of the convex hull of points seen along a unit normal, anticlockwise, and its area.
struct Outline {
  std::vector<int> corners;
  double area = 0;
};
Outline outline_along(std::span<const Vec3> points, const Vec3& normal);

}  // namespace lithe::internal
