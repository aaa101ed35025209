#pragma once

#include <optional>

#include "lithe/collision/contact.h"
#include "lithe/collision/distance/gjk.h"
#include "lithe/collision/hull/hull.h"

namespace lithe::internal {

// The closest features of two separated cores, exactly.
//
// gjk() ends at the right features, but its numbers carry the history of its iterations. Here the features alone give
// normal, points and distance, in closed form: point–point, point–line, point–plane, line–line. They are accepted only
// if they prove themselves: sep(n) must reach the distance of the points.
//
// Ties go to the face: where an edge or a face lies parallel to a face, n is the face's normal and the points are the
// middle of what lies over it. Parallel edges: the middle of their overlap.
struct CoreFeature {
  // vertex, edge, face or segment (two vertices of a face that is not quite flat) of the Hull; a point is vertex 0, a
  // segment has vertices 0 and 1 and edge 0.
  FeatureCode code = {};
  // What the derivative may let slide, settled for the pair: a face takes the freedom of whatever lies over it, and of
  // two parallel edges only b's slides.
  SupportJet::Freedom freedom = SupportJet::Freedom::none;
  Vec3 e = Vec3::Zero();  // Freedom::line: its unit direction, in b's frame

  // The jet of the surface at distance `radius` from this feature, with the contact's normal n.
  SupportJet jet(double radius = 0) const;
};

struct CoreDistance {
  Vec3 n;           // unit, from b to a
  double distance;  // > 0
  Vec3 x_a, x_b;    // x_a − x_b = distance·n
  CoreFeature a, b;
};

// `closest` is gjk()'s result for the same cores, with status separated. Everything in b's frame.
CoreDistance core_distance(const Core& a, const Core& b, const Pose& X_BA, const GjkResult& closest);

// What of a core is nearest to (or deepest below) the plane of a hull's face, in that hull's frame H.
struct OverFace {
  double height;     // along the face's normal, < 0 below
  Vec3 x;            // the point of the core; where an edge or face is parallel, the middle of its part over the face
  FeatureCode code;  // vertex, or the parallel edge or face
};

// Nothing if that part of the core lies beside the face's prism by more than `tolerance`. Vertices within `tolerance`
// of the lowest are level with it. X_HC: pose of the core in the hull's frame; `start` for the climb.
std::optional<OverFace> lowest_over_face(const Hull& hull, int face, const Core& core, const Pose& X_HC, int start,
                                         double tolerance);

}  // namespace lithe::internal
