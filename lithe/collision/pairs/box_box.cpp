#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/box_face_manifold.h"
#include "lithe/collision/manifold/box_features.h"
#include "lithe/collision/manifold/face_manifold.h"
#include "lithe/collision/manifold/manifold_reduction.h"
#include "lithe/collision/manifold/polytope_axes.h"
#include "lithe/collision/pairs/pairs.h"
#include "lithe/simd/internal/lane_bits.h"

// Two boxes: the axes of polytope_axes.h in closed form.
//
// A box's support is Σ |n·a_k| h_k (a_k its axes, h its half sizes), so each of the fifteen axes costs a few products
// (Gottschalk, Lin, Manocha 1996) and no vertex is visited. With R = R_BA and t from b's centre to a's, in b's frame:
//
//   face ±k of b      s = ±t_k − h_bk − Σ_i |R_ki| h_ai
//   face ±k of a      s = ∓(Rᵀt)_k − h_ak − Σ_j |R_jk| h_bj
//   a_i × b_j         s = (|n·t| − Σ_k |n·a_k| h_ak − Σ_k |n·b_k| h_bk) / |n|,    n = a_i × b_j
//
// Any n ⟂ a_i lies in the normal cone of the edge along a_i that supports it, so every crossing of two edges counts, with
// no test on the Gauss map. What is chosen from these axes is said in face_manifold.h, and is the same here.
namespace lithe::internal {
namespace {

// Areas that differ by less, relatively, are equal.
constexpr double kEqualAreas = 1e-6;

struct BoxPair {
  explicit BoxPair(const PairQuery& query)
      : half_a(query.a.half_size), half_b(query.b.half_size), R(query.X_BA.R), t(query.X_BA.p), abs_R(R.cwiseAbs()) {}

  const Vec3 &half_a, &half_b;
  const Mat3& R;  // R_BA
  const Vec3& t;  // from b's centre to a's, in b's frame
  Mat3 abs_R;
};

// Separations along one box's face normals: centre[k] − reach[k] for its face +k, −centre[k] − reach[k] for −k.
struct FaceSeparations {
  Vec3 centre, reach;

  double best() const { return (centre.cwiseAbs() - reach).maxCoeff(); }
  double of(int face) const {
    const int axis = face / 2;
    return (face % 2 == 0 ? centre[axis] : -centre[axis]) - reach[axis];
  }
};

FaceSeparations along_faces_of_b(const BoxPair& pair) { return {pair.t, pair.half_b + pair.abs_R * pair.half_a}; }

// Seen from a, b's centre lies at −Rᵀt.
FaceSeparations along_faces_of_a(const BoxPair& pair) {
  return {-(pair.R.transpose() * pair.t), pair.half_a + pair.abs_R.transpose() * pair.half_b};
}

LITHE_INLINE Pack to_pack(const Vec3& x) { return Pack{x.x(), x.y(), x.z(), 0}; }
LITHE_INLINE Pack yzx(Pack x) { return __builtin_shufflevector(x, x, 1, 2, 0, 3); }
LITHE_INLINE Pack zxy(Pack x) { return __builtin_shufflevector(x, x, 2, 0, 1, 3); }

// Whether some a_i × b_j separates by more than `threshold`: for each i the three j at once, one per lane. Both sides of
// s > threshold are multiplied by |n| and squared with their signs, so that nothing is divided.
bool some_edges_exceed(const BoxPair& pair, double threshold) {
  const Pack t = to_pack(pair.t), half_b = to_pack(pair.half_b);
  const Pack column[3] = {to_pack(pair.R.col(0)), to_pack(pair.R.col(1)), to_pack(pair.R.col(2))};
  unsigned exceed = 0;
  for (int i = 0; i < 3; ++i) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    const Pack a1 = yzx(column[i]), a2 = zxy(column[i]);  // n_j1 = a2, n_j2 = −a1
    const Pack between = absolute(yzx(t) * a2 - zxy(t) * a1);
    const Pack reach_b = yzx(half_b) * absolute(a2) + zxy(half_b) * absolute(a1);
    const Pack reach_a = absolute(column[i2]) * pair.half_a[i1] + absolute(column[i1]) * pair.half_a[i2];
    const Pack s = between - reach_a - reach_b;
    const Pack sine2 = a1 * a1 + a2 * a2;
    exceed |= lane_bits((s * absolute(s) > sine2 * (threshold * std::abs(threshold))) &
                        (sine2 > broadcast(kParallelEdges * kParallelEdges)));
  }
  return exceed != 0;
}

// n = a_i × b_j, its components along the boxes' axes: along the two that are not the edge itself.
struct EdgeCross {
  EdgeCross(const Mat3& R, int i, int j)
      : i1((i + 1) % 3),
        i2((i + 2) % 3),
        j1((j + 1) % 3),
        j2((j + 2) % 3),
        a1(-R(j, i2)),
        a2(R(j, i1)),
        b1(R(j2, i)),
        b2(-R(j1, i)),
        sine(std::sqrt(b1 * b1 + b2 * b2)) {}

  int i1, i2, j1, j2;
  double a1, a2, b1, b2;  // n·a_i1, n·a_i2, n·b_j1, n·b_j2
  double sine;            // |n|

  // Neither parallel nor a face's normal: there it is the face that counts.
  bool lies_between_faces() const { return sine >= kParallelEdges && a1 * a2 != 0 && b1 * b2 != 0; }
  double centres(const Vec3& t) const { return b1 * t[j1] + b2 * t[j2]; }
  double reach(const BoxPair& pair) const {
    return std::abs(a1) * pair.half_a[i1] + std::abs(a2) * pair.half_a[i2] + std::abs(b1) * pair.half_b[j1] +
           std::abs(b2) * pair.half_b[j2];
  }
};

// The axis along ±n, with the edges that support it: a's on the side of −n, b's on the side of n.
EdgeAxis named_axis(const EdgeCross& cross, int i, int j, double sign, double separation) {
  const int vertex_a = (sign * cross.a1 < 0 ? 1 << cross.i1 : 0) | (sign * cross.a2 < 0 ? 1 << cross.i2 : 0);
  const int vertex_b = (sign * cross.b1 > 0 ? 1 << cross.j1 : 0) | (sign * cross.b2 > 0 ? 1 << cross.j2 : 0);
  EdgeAxis axis{box_edge(i, vertex_a), box_edge(j, vertex_b), separation, Vec3::Zero()};
  axis.n[cross.j1] = sign * cross.b1 / cross.sine;
  axis.n[cross.j2] = sign * cross.b2 / cross.sine;
  return axis;
}

// Of equally good pairs of edges the one with the lowest numbers.
EdgeAxis best_edges(const PairQuery& query, const BoxPair& pair) {
  const double tie = kEqualEdges * query.bands.length;
  EdgeAxis best;
  best.separation = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const EdgeCross cross(pair.R, i, j);
      if (!cross.lies_between_faces()) continue;
      const double centres = cross.centres(pair.t), reach = cross.reach(pair);
      for (const double sign : {1.0, -1.0}) {
        const double separation = (sign * centres - reach) / cross.sine;
        if (separation < best.separation - tie) continue;
        const EdgeAxis axis = named_axis(cross, i, j, sign, separation);
        const bool lower = std::pair(axis.edge_a, axis.edge_b) < std::pair(best.edge_a, best.edge_b);
        if (separation > best.separation + tie || lower) best = axis;
      }
    }
  }
  return best;
}

// The twelve faces: a's, then b's.
struct BoxFaces {
  const Collider &a, &b;
  FaceSeparations of_a, of_b;

  double best() const { return std::max(of_a.best(), of_b.best()); }

  // Of the faces that separate by at least `limit`: the largest, a's before b's, then the lowest number.
  FaceAxis preferred(double limit) const {
    FaceAxis best;
    double area = -1;
    const auto consider = [&](const Collider& box, const FaceSeparations& separations, bool on_a) {
      for (int face = 0; face < 6; ++face) {
        const double separation = separations.of(face);
        if (separation < limit || box.hull->faces[face].area * (1 - kEqualAreas) <= area) continue;
        area = box.hull->faces[face].area;
        best = {on_a, face, separation};
      }
    };
    consider(a, of_a, true);
    consider(b, of_b, false);
    return best;
  }
};

// The choice where edges matter, or the preferred face has no manifold that is worth it.
void append_from_all_axes(const PairQuery& query, const BoxPair& pair, const BoxFaces& faces,
                          std::vector<Contact>& out) {
  SeparatingAxes& axes = query.scratch.polytope.axes;
  axes.clear();
  for (int face = 0; face < 6; ++face) {
    axes.add({true, face, faces.of_a.of(face)});
    axes.add({false, face, faces.of_b.of(face)});
  }
  axes.edge = best_edges(query, pair);
  append_manifold(query, axes, query.scratch.polytope.manifold, out);
}

// Whether that face has a manifold that is worth it.
bool append_on_face(const PairQuery& query, const FaceAxis& axis, double best_face, std::vector<Contact>& out) {
  const Hull &a = *query.a.hull, &b = *query.b.hull;
  const FacePair pair =
      axis.on_a ? FacePair{a, axis.face, b, query.X_BA.inverse()} : FacePair{b, axis.face, a, query.X_BA};
  FaceManifoldScratch& scratch = query.scratch.polytope.manifold;
  FaceManifold& manifold = scratch.manifold;
  if (!box_face_manifold(pair, query.bands, manifold)) face_manifold(pair, query.bands, scratch, manifold);
  if (!reaches_depth(manifold, best_face, query.bands)) return false;
  reduce_manifold(pair, query.max_points, query.bands.face_tie, scratch, manifold);
  append_face_contacts(pair, manifold, axis.on_a, query.X_BA, out);
  return true;
}

}  // namespace

void box_box_contacts(const PairQuery& query, std::vector<Contact>& out) {
  const Bands& bands = query.bands;
  const BoxPair pair(query);
  BoxFaces faces{query.a, query.b, {}, along_faces_of_b(pair)};
  if (faces.of_b.best() > bands.margin) return;
  faces.of_a = along_faces_of_a(pair);
  const double best = faces.best();
  if (best > bands.margin) return;

  // Where edges cannot win, the face is known.
  if (!some_edges_exceed(pair, std::min(best + bands.edge_tie, bands.margin)) &&
      append_on_face(query, faces.preferred(best - bands.face_tie), best, out)) {
    return;
  }
  append_from_all_axes(query, pair, faces, out);
}

}  // namespace lithe::internal
