#pragma once

#include <limits>

#include "lithe/collision/contact.h"
#include "lithe/collision/curved/cylinder_hull_measures.h"
#include "lithe/collision/curved/cylinder_support.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/core/eigen.h"

namespace lithe::internal {

// The normal that separates a cylinder (a) from a polytope (b) best, and the features it is a normal of.
//
//   sep(n) = n·o − h|n·a| − ρ|n×a| − max over the hull's vertices of n·v,      gap = max over unit n of sep(n)
//
// A maximum touches each shape with one feature, and each pair of features has few normals to offer:
//
//   face            its normal; on the cylinder then a rim or, where parallel, the side or a cap
//   cap             ±a; on the hull then a vertex or, where parallel, an edge
//   side – vertex   the way from the vertex to the axis. Only the vertex nearest to the axis can be meant, for
//                   l = n·(o − v) ≤ n·(o − w) ≤ |w's way to the axis| for every other vertex w
//   rim – vertex    the way from the vertex to the rim, where they are apart. Only the vertex nearest to the cylinder.
//   edge            with a rim or the side: the maxima over the edge's arc of normals, from one of its faces' to the
//                   other's (rim_arc.h)
//
// Nothing else can be a maximum, and a normal that is none still separates by what it says, so the best of these is gap.
// Arcs are by far the dearest, but sep is concave along them up to its scale (n need not be unit), so it lies below its
// tangents at the two ends, and most arcs are seen at once to hold nothing better than the best face.

// A normal, by how much it separates, and what it touches.
struct HullSeparation {
  Vec3 n = Vec3::UnitZ();      // from the hull to the cylinder
  double gap = 0;              // sep(n)
  FeatureCode a = {}, b = {};  // a: rim, side or cap.  b: vertex, edge or face
  Vec3 x_a = Vec3::Zero();
  // The features meet at n: x_a is on a, x_a − gap n on b. A maximum of sep; the best one always is, up to rounding.
  bool attained = false;
  // Beyond the gap, the distance within which n turns by a radian: 0 for a rim's point against a vertex, little against an
  // edge along the rim's tangent.
  double bend = std::numeric_limits<double>::infinity();
};

struct HullSearchOptions {
  // Give up once something separates by more: then no one wants to know by how much.
  double enough = 1e300;
  // Leave out what bends less than this. What is then found need not be attained.
  double least_bend = 0;
};

struct HullSearchResult {
  HullSeparation best;
  int face = 0;         // the best one of the hull's
  double face_gap = 0;  // sep(its normal)
};

HullSearchResult search_hull(const SolidCylinder& cylinder, const Hull& hull, const HullSearchOptions& options,
                             CylinderHullScratch& scratch);

}  // namespace lithe::internal
