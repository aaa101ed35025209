#pragma once

#include <span>
#include <vector>

#include "lithe/collision/hull/facets.h"

namespace lithe::internal {

struct MergeTolerance {
  double distance;      // below this, lengths are noise
  double largest_bend;  // corners may never be dropped from farther off a straight line; at least `distance`
};

// The faces of a hull, as rings of point numbers, from its facets. A closed surface again, and always simpler:
//
//  1. Facets are merged around the largest ones. A facet joins if its normal is within kMergeAngle of the largest
//     one's, or if it is a sliver, whose normal means nothing: small, with all corners within `distance` of the largest
//     one's plane. The reference is that one facet, so that long chains of small bends do not add up to a large one.
//  2. Corners inside a merged face are gone; corners between two faces only, which lie on a straight line between their
//     neighbours, are dropped, and so are faces that have nothing but two corners left.
//
// Each ring starts at its lowest number; rings are in lexicographic order. There may be fewer than four faces when the
// points are nearly in a plane, and there is none if the facets are no closed surface.
std::vector<std::vector<int>> merge_facets(std::span<const Vec3> points, std::span<const HullFacet> facets,
                                           const MergeTolerance& tolerance);

}  // namespace lithe::internal
