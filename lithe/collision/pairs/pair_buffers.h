#pragma once

#include <vector>

#include "lithe/collision/curved/cylinder_hull_search.h"
#include "lithe/collision/distance/epa.h"
#include "lithe/collision/manifold/face_manifold.h"
#include "lithe/collision/manifold/near_vertices.h"

namespace lithe::internal {

// What is inside a PairScratch: one member per algorithm that needs memory. Nothing in it carries from one call to the
// next: results depend on the two poses alone.
struct PairBuffers {
  EpaScratch epa;
  PolytopeScratch polytope;
  std::vector<NearVertex> near_vertices;
  CylinderHullScratch cylinder_hull;
};

}  // namespace lithe::internal
