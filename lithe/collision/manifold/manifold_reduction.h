#pragma once

#include "lithe/collision/manifold/face_manifold.h"

namespace lithe::internal {

// Keeps at most `max_points` of a manifold's points (max_points ≥ 1), in their order.
//
// Which ones is fixed to the bodies, not to the depths of the moment, so that a shape at rest keeps the same points
// from step to step. Points are dropped from the end of this list:
//
//   X and R   by the rank of their side, or vertex, in the reference face; equal ranks: by their order
//   V         of the incident face, by their rank in it
//   V         of other faces, by their order
//
// (Hull::rank: the vertex whose triangle with its neighbours is smallest goes first, so that what stays spans most of
// the face.) The deepest point is never lost: if no point that stays is within `tie` of the smallest gap, the last of
// them gives its place to the first of the list that is.
void reduce_manifold(const FacePair& pair, int max_points, double tie, FaceManifoldScratch& scratch,
                     FaceManifold& manifold);

}  // namespace lithe::internal
