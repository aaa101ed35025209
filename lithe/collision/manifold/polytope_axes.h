#pragma once

#include <vector>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/edge_arcs.h"
#include "lithe/core/eigen.h"
#include "lithe/spatial/pose.h"

namespace lithe::internal {

// Directions that separate two convex polytopes best.
//
//   s(n) = min over a of n·x − max over b of n·x,    n unit, from b to a
//
// is largest at a face normal of one of them, or at the cross product of two edges whose arcs on the Gauss map meet
// (Gottschalk, Lin, Manocha 1996; the test of the arcs: Gregorius 2013). That largest value s_max is the signed distance
// of the two where they overlap, and a lower bound of it where they do not.
//
// Everything is in b's frame.

struct FaceAxis {
  bool on_a = false;      // whose face: n is −normal of a's face, or +normal of b's
  int face = 0;           // its number
  double separation = 0;  // s(n)
};

struct EdgeAxis {
  int edge_a = -1, edge_b = -1;  // −1: no two edges' arcs meet
  double separation = 0;         // s(n)
  Vec3 n = Vec3::Zero();         // ±e_a × e_b, unit
};

// What a manifold is chosen from: the faces that matter (in any order, repeated or not) and the best two edges.
struct SeparatingAxes {
  std::vector<FaceAxis> faces;
  EdgeAxis edge;

  void clear();
  void add(const FaceAxis& axis) { faces.push_back(axis); }
  // Keeps the better one; where they differ by no more than `tie`, the one with the lower numbers, a's first.
  void add(const EdgeAxis& axis, double tie);

  bool has_edge() const { return edge.edge_a >= 0; }
  double best_face() const;  // largest s(n); −∞ if there is none
  double best_edge() const;
};

// Edges whose directions differ by a smaller sine are parallel: their cross product is made of rounding errors, and
// the faces next to them lose no more than this (relative to the edges' lengths).
inline constexpr double kParallelEdges = 1e-8;
// Edge pairs this close to the best are equally good; relative to the pair's length scale (Bands::length).
inline constexpr double kEqualEdges = 1e-12;

// Memory of the searches below.
struct AxisScratch {
  std::vector<int> edges_a, edges_b;
  EdgeArcs arcs_b;  // of edges_b
};

// All faces and all pairs of edges: the definition itself. Replaces what is in `axes`.
void all_axes(const Hull& a, const Hull& b, const Pose& X_BA, double length, AxisScratch& scratch,
              SeparatingAxes& axes);

// The same in parts, for when it is known roughly where the best axis is. ----------------------------------------------

// Vertices this close to the support (times the pair's length scale) have their edges tried.
inline constexpr double kAroundSupport = 3e-4;

// Adds the pairs of edges around the two supports of the direction n.
void add_edges_around(const Vec3& n, const Hull& a, const Hull& b, const Pose& X_BA, double length,
                      AxisScratch& scratch, SeparatingAxes& axes);

// How far below the best axes a face matters: face_tie below the best face, edge_tie below the best edges.
struct FaceLimits {
  double below_face, below_edge;
};

// Adds the faces that matter, given the edges. Complete whatever the directions of the faces: no face separates by more
// than the height of a single point of the other shape above it, so most are known not to matter. The nearer the two
// points, vertices of a and b, are to the closest or deepest ones, the fewer are measured in full.
void add_best_faces(int vertex_a, int vertex_b, const Hull& a, const Hull& b, const Pose& X_BA,
                    const FaceLimits& limits, SeparatingAxes& axes);

// The direction of the best axis of all.
Vec3 best_direction(const SeparatingAxes& axes, const Hull& a, const Hull& b, const Pose& X_BA);

}  // namespace lithe::internal
