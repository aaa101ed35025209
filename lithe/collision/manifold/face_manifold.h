#pragma once

#include <cstdint>
#include <vector>

#include "lithe/collision/collider.h"
#include "lithe/collision/contact.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/polytope_axes.h"
#include "lithe/spatial/pose.h"

namespace lithe::internal {

struct PairQuery;

// The manifold of two polytopes on one face of one of them, the reference face; the other one is the incident shape.
//
// All points share the face's normal n_r. With m, δ the pair's margin and side band (Bands), the gap of a point its
// height above the face's plane, s the smallest gap of an incident vertex, and the face's prism what lies between its
// side planes moved outward by δ:
//
//   incident face   of those at the deepest vertices (equal up to rounding) the most antiparallel to n_r; within
//                   kEqualNormals the lowest number
//   lower vertex    one on a face that faces the reference: n_f·n_r < facing_limit(). The upper side of a plate that is
//                   thinner than the margin has none.
//   patch           the incident face's vertices, and all lower vertices with gap ≤ s + m
//   V  (vertex)     a lower vertex with gap ≤ m inside the prism
//   X  (crossing)   where the patch's outline, seen along n_r, crosses one of the prism's sides. The outline is the
//                   incident face's own if it is the patch, else the convex hull of the patch.
//   R  (corner)     a vertex of the reference face under the patch, unless a V or X lies within 3δ beside it. Its gap
//                   is measured along n_r up to the incident shape.
//
// and of all these the ones with gap ≤ m. If the whole patch is inside the prism, there are V alone. The bands keep
// rounding errors from deciding anything: two equal cubes, one on the other, share their four vertices under every
// disturbance smaller than δ.

// Normals that differ by less (in their cosine with n_r) are equally antiparallel.
inline constexpr double kEqualNormals = 1e-9;
// A face that faces the reference has n_f·n_r below −kFacing or, if the incident face is as steep (the tip of a needle),
// below half of the incident face's.
inline constexpr double kFacing = 0.05;
constexpr double facing_limit(double incident_cosine) {
  return 0.5 * incident_cosine > -kFacing ? 0.5 * incident_cosine : -kFacing;
}

struct FacePair {
  const Hull& reference;
  int face;  // of the reference
  const Hull& incident;
  Pose X_RI;  // the incident hull's frame in the reference's
};

// A point of the manifold, in the reference hull's frame.
struct FacePoint {
  enum class Kind : std::uint8_t { vertex, crossing, corner };  // V, X, R
  Kind kind = Kind::vertex;
  int i = 0;     // V: incident vertex.  X: the segment's lower incident vertex.  R: reference vertex
  int j = 0;     // V: 0.                X: its higher incident vertex.           R: incident face
  int side = 0;  // V: 0.                X, R: place of the side, or vertex, in the ring of the reference face
  double gap = 0;
  Vec3 p = Vec3::Zero();
};

// By kind, then i, j, side: the order of a manifold's points.
bool operator<(const FacePoint& x, const FacePoint& y);

struct FaceManifold {
  int incident_face = 0;
  std::vector<FacePoint> points;  // ordered
};

// Memory of the functions below.
struct FaceManifoldScratch {
  struct Corner {  // a vertex of the patch
    int vertex;
    double u, w;  // along two axes of the reference face
    Vec3 p;       // in the reference's frame
  };
  AlignedBuffer gaps;           // of all incident vertices
  std::vector<Corner> patch;    // sorted by (u, w) where a convex hull is needed
  std::vector<Corner> outline;  // of the patch, counter-clockwise seen from above the reference face
  std::vector<FaceAxis> tied;   // reference faces to be tried
  struct Place {                // of a point in the list that reduce_manifold() cuts off
    int group, rank, point;
  };
  std::vector<Place> places;
  FaceManifold manifold;
};

// Memory of a pair of polytopes.
struct PolytopeScratch {
  AxisScratch search;
  SeparatingAxes axes;
  FaceManifoldScratch manifold;
};

// The manifold on pair.face, with as many points as there are; it may be empty.
void face_manifold(const FacePair& pair, const Bands& bands, FaceManifoldScratch& scratch, FaceManifold& manifold);

// Appends the points as contacts in b's frame. face_on_a: a is the reference shape.
void append_face_contacts(const FacePair& pair, const FaceManifold& manifold, bool face_on_a, const Pose& X_BA,
                          std::vector<Contact>& out);

// The one point of two crossing edges, halfway between the two lines, in b's frame.
Contact edge_edge_contact(const Hull& a, const Hull& b, const Pose& X_BA, const EdgeAxis& axis);

// Whether a manifold can stand for the pair: it has points and, where the shapes overlap (best_face, the best separation
// of a face, is negative), one about as deep. On a face that is only nearly the best the deepest place may be elsewhere.
bool reaches_depth(const FaceManifold& manifold, double best_face, const Bands& bands);

// Chooses the reference from the axes and appends the manifold, reduced to query.max_points:
//
//   nothing          if the best axis separates by more than the margin
//   the two edges    if they separate by more than edge_tie more than the best face
//   a face           otherwise: of those within face_tie of the best the largest (areas within 1e-6 are equal), a's
//                    before b's, then the lowest number. If its manifold does not reach the depth, the next one.
//   at last          the two edges, if no face is better by more than edge_tie; else, where the shapes overlap, a face
//                    whose manifold misses the depth by at most the margin; else the deepest vertex behind the best
//                    face (one of merged facets is not quite flat, and may miss it)
//
// So shapes that overlap always have a contact about as deep, and shapes that do not never one deeper than the ties.
// Where the shapes do not overlap, two edges count only if their lines meet within both, or at most δ beyond an end.
// axes.faces must hold every face within face_tie of the best one (not if the edges win); more do no harm.
void append_manifold(const PairQuery& query, const SeparatingAxes& axes, FaceManifoldScratch& scratch,
                     std::vector<Contact>& out);

}  // namespace lithe::internal
