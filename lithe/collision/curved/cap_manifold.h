#pragma once

#include <vector>

#include "lithe/collision/collider.h"
#include "lithe/collision/contact.h"
#include "lithe/collision/curved/cylinder_support.h"
#include "lithe/collision/curved/rim_support.h"
#include "lithe/collision/hull/hull.h"

namespace lithe::internal {

// Where a cylinder (a) rests on something flat (b): standing, lying, partly beyond its edge, or with the flat thing
// standing on a cap. Every function appends, in b's frame, the points whose own gap is at most the margin.
//
// Which points they are changes with the pose, and every change is as quiet as it can be:
//
//   σ = 0.05   The cylinder stops standing, σ = |n × axis|. The four rim points go, the deepest one stays. They are
//              higher than it by ρσ(1 − cos φ), φ the angle between them on the rim: most have left through the margin
//              long before, and none is the deepest.
//   σ = 1e-3   Below, the deepest point is left out: a turn by ε moves it by ερ/σ. The four others are at most
//              (1 − cos 45°)ρσ = 2.9e-4 ρ higher, and that is by how much the depth jumps.
//   sides      Where a rim reaches beyond a face's side by δ (or 1e-5 ρ), its two crossings with the side appear, and take
//              the place of a rim point that was between them.

inline constexpr double kStandingSine = 0.05;
inline constexpr double kFlatSine = 1e-3;
// A normal this close to a face's (cosine) belongs to the face's manifold.
inline constexpr double kSameNormal = 0.995;

// A flat face of b: n·x = offset, n outward.
struct FacePlane {
  Vec3 n;
  double offset;
  FeatureCode code;
};

// The lowest point of rim k over the plane: closest features rim and face. lowest: of the plane's normal.
Contact rim_over_plane(const SolidCylinder& cylinder, const RimSupport& lowest, int k, const FacePlane& plane);

// The same point, if its gap is at most the margin.
void append_rim_over_plane(const SolidCylinder& cylinder, const RimSupport& lowest, int k, const FacePlane& plane,
                           double margin, std::vector<Contact>& out);

// The points of rim k in the directions d₀, d₁, −d₀, −d₁ (quarters 0 … 3), unit vectors of the plane.
void append_rim_points(const SolidCylinder& cylinder, int k, const Vec3& d0, const Vec3& d1, const FacePlane& plane,
                       double margin, std::vector<Contact>& out);

// Standing on a face (σ < kStandingSine). The reference is the face, n its normal:
//
//   rim points      in the four directions ± d₀, ± d₁, d₀ = normal of the face's first side, d₁ = n × d₀, where they are
//                   over the face: a cylinder that spins on its cap keeps its points
//   deepest point   of the rim, where σ ≥ kFlatSine and it is over the face: closest features rim and face
//   crossings       of the rim with the face's sides
//   corners         of the face under the cap (kind R; as vertices over the cap they would have the cap's normal, and
//                   one manifold has one normal), unless a crossing is within 3δ
void cap_on_face(const SolidCylinder& cylinder, const Hull& hull, int face, const Bands& bands,
                 std::vector<Contact>& out);

// Lying on a face. The line in which the cylinder comes closest to the face's plane is clipped to the face; each of its
// two ends is a point:
//
//   a rim's lowest point over the face, where the line ends over it
//   side and edge, two crossing lines with their own normal, where it leaves the face; unless they cross beyond the end of
//   either, or that normal is another than the face's, as with an edge almost along the axis
void side_on_face(const SolidCylinder& cylinder, const Hull& hull, int face, const Bands& bands,
                  std::vector<Contact>& out);

// A polytope that touches a cap with vertices and edges. The reference is the cap, n = −its normal:
//
//   vertices    of the polytope under the cap
//   crossings   of its edges with the cap's rim, unless they are within 3δ of the end of the edge that is under the cap
//
// heights: of all vertices along the axis, axis·(v − o).
void hull_on_cap(const SolidCylinder& cylinder, int cap, const Hull& hull, const double* heights, const Bands& bands,
                 std::vector<Contact>& out);

// Keeps at most max_points of the contacts from `first` on: the deepest (ties: the first), then the first ones.
void keep_points(std::vector<Contact>& contacts, std::size_t first, int max_points);

}  // namespace lithe::internal
