#pragma once

#include <span>
#include <vector>

#include "lithe/collision/hull/cloud.h"

namespace lithe::internal {

// The points that may be vertices of the hull, by number, ascending: all but those that lie well inside the hull of the
// extremes along some directions. Most points of a mesh are seen to be inside so, at a fraction of what qhull costs.
std::vector<int> outer_points(std::span<const Vec3> points, const Cloud& cloud);

// A few thousand of `among` that stand for all of them: the bounds are cut into cells, and of the points in a cell those
// are taken that are outermost in the directions away from the middle. What that misses is the caller's to find out.
std::vector<int> thinned_points(std::span<const Vec3> points, std::span<const int> among, const Cloud& cloud);

}  // namespace lithe::internal
