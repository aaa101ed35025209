#pragma once

#include <vector>

#include "lithe/collision/manifold/face_manifold.h"

namespace lithe::internal {

// A vertex of the incident shape close to the reference face: a point of kind V.
struct NearVertex {
  int vertex;
  double gap;
};

// The manifold on a face so wide that the whole incident hull is inside its prism: vertices alone, the same ones, in the
// same order and reduced to `max_points` in the same way, that face_manifold() and reduce_manifold() give.
//
// The plane under a robot and the ground under its foot are such faces, and a flat sole is what this is made for: where
// the whole incident face is near, its vertices of lowest rank are the manifold, with no search among the others.
void near_vertices(const FacePair& pair, const Bands& bands, int max_points, FaceManifoldScratch& scratch,
                   std::vector<NearVertex>& near);

}  // namespace lithe::internal
