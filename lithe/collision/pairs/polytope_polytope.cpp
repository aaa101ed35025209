#include <algorithm>
#include <tuple>
#include <utility>

#include "lithe/collision/distance/epa.h"
#include "lithe/collision/distance/gjk.h"
#include "lithe/collision/distance/hull_distance.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/face_manifold.h"
#include "lithe/collision/manifold/polytope_axes.h"
#include "lithe/collision/pairs/pairs.h"
#include "lithe/core/infinity.h"

// Box or mesh against box or mesh.
//
// Which of the thousands of axes matter is found by GJK where the two are apart and by EPA where they overlap. Both only
// point at a neighbourhood: the axes there are measured exactly, so the result is that of all_axes(), at a cost that
// grows with the number of vertices instead of the product of the numbers of edges.

namespace lithe::internal {
namespace {

// Two boxes have 144 pairs of edges: trying all of them is as fast as looking for the right ones.
constexpr std::size_t kFewEdgePairs = 150;

constexpr int kMaxRounds = 4;
constexpr double kSameAxis = 1e-6;

FaceLimits face_limits(const Bands& bands) { return {bands.face_tie, bands.edge_tie}; }

// From the direction of the closest points, which lies between several axes where vertices are closest, to the best axis
// there, and again from that one.
void find_axes_apart(const PairQuery& query, const Vec3& direction) {
  const Hull &a = *query.a.hull, &b = *query.b.hull;
  PolytopeScratch& scratch = query.scratch.polytope;
  Vec3 n = direction;
  for (int round = 0; round < kMaxRounds; ++round) {
    scratch.axes.clear();
    add_edges_around(n, a, b, query.X_BA, query.bands.length, scratch.search, scratch.axes);
    const int vertex_a = support_vertex(a, -(query.X_BA.R.transpose() * n)), vertex_b = support_vertex(b, n);
    add_best_faces(vertex_a, vertex_b, a, b, query.X_BA, face_limits(query.bands), scratch.axes);
    const Vec3 best = best_direction(scratch.axes, a, b, query.X_BA);
    if ((best - n).squaredNorm() < kSameAxis * kSameAxis) return;
    n = best;
  }
}

// False if EPA did not get to the end, which may happen with plates and rods.
bool find_axes_overlapping(const PairQuery& query, const GjkResult& touching) {
  const Hull &a = *query.a.hull, &b = *query.b.hull;
  PolytopeScratch& scratch = query.scratch.polytope;
  const double band = std::max(query.bands.face_tie, query.bands.edge_tie);
  const EpaStatus status = epa(Core::hull(a), Core::hull(b), query.X_BA, touching, band, query.scratch.epa);
  if (status != EpaStatus::converged) return false;
  const std::vector<EpaSeed>& seeds = query.scratch.epa.seeds;
  scratch.axes.clear();
  for (const EpaSeed& seed : seeds) {
    add_edges_around(seed.n, a, b, query.X_BA, query.bands.length, scratch.search, scratch.axes);
  }
  add_best_faces(seeds[0].a, seeds[0].b, a, b, query.X_BA, face_limits(query.bands), scratch.axes);
  return true;
}

// How far apart the shapes of a contact can be. A point may lie δ beside the other shape, and some vertices of a face
// of merged facets lie below it, so this is more than the margin.
double largest_distance(const PairQuery& query) {
  const double uneven = kMergeAngle * (query.a.hull->radius + query.b.hull->radius);
  return query.bands.margin + query.bands.side + uneven;
}

// Fills scratch.polytope.axes with what all_axes() would choose from, given that the shapes are not far apart.
void find_axes(const PairQuery& query, const GjkResult& closest) {
  const Hull &a = *query.a.hull, &b = *query.b.hull;
  if (a.edges.size() * b.edges.size() > kFewEdgePairs) {
    if (closest.status == GjkStatus::separated) return find_axes_apart(query, closest.n);
    if (find_axes_overlapping(query, closest)) return;
  }
  PolytopeScratch& scratch = query.scratch.polytope;
  all_axes(a, b, query.X_BA, query.bands.length, scratch.search, scratch.axes);
}

Contact separated_distance(const PairQuery& query, const GjkResult& closest) {
  const CoreDistance exact = core_distance(Core::hull(*query.a.hull), Core::hull(*query.b.hull), query.X_BA, closest);
  Contact contact;
  contact.code_a = exact.a.code;
  contact.code_b = exact.b.code;
  contact.n = exact.n;
  contact.gap = exact.distance;
  contact.p = 0.5 * (exact.x_a + exact.x_b);
  contact.feature = ClosestFeatures{exact.a.jet(), exact.b.jet()};
  return contact;
}

// Depths that differ by less, relative to the length scale, are equal. Then a face is better than two edges, whose cross
// product may be made of rounding errors.
constexpr double kTie = 1e-9;

// A point of the incident shape at the depth of the face, above the face: a vertex if there is one, else a vertex of the
// reference face, else where the outlines cross. Null only if rounding errors hide it.
const FacePoint* witness(const FaceManifold& manifold, double limit) {
  using enum FacePoint::Kind;
  for (const FacePoint::Kind kind : {vertex, corner, crossing}) {
    const auto found = std::find_if(manifold.points.begin(), manifold.points.end(),
                                    [&](const FacePoint& p) { return p.kind == kind && p.gap <= limit; });
    if (found != manifold.points.end()) return &*found;
  }
  return nullptr;
}

FeatureCode segment_code(const Hull& hull, int i, int j) {
  const int edge = hull.edge_between(i, j);
  return edge >= 0 ? FeatureCode::edge(edge) : FeatureCode::segment(i, j);
}

// A face of one shape, the reference, and what is deepest behind it. Its gap may exceed the face's separation by `slack`,
// since at a tie the deepest points may belong to another axis.
Contact face_depth(const PairQuery& query, const FaceAxis& axis, double slack) {
  const Hull &a = *query.a.hull, &b = *query.b.hull;
  const FacePair pair{axis.on_a ? a : b, axis.face, axis.on_a ? b : a, axis.on_a ? query.X_BA.inverse() : query.X_BA};
  FaceManifoldScratch& scratch = query.scratch.polytope.manifold;
  Bands narrow = query.bands;
  narrow.margin = narrow.side = slack;
  face_manifold(pair, narrow, scratch, scratch.manifold);

  const Vec3& n_r = pair.reference.faces[axis.face].normal;
  FeatureCode code_r = FeatureCode::face(axis.face), code_i;
  SupportJet jet_r = SupportJet::face(), jet_i = SupportJet::vertex();
  Contact contact;
  const FacePoint* point = witness(scratch.manifold, axis.separation + slack);
  if (!point) {
    const int deepest = support_vertex(pair.incident, -(pair.X_RI.R.transpose() * n_r));
    code_i = FeatureCode::vertex(deepest);
    contact.gap = axis.separation;
    contact.p = pair.X_RI * pair.incident.vertices[deepest] - 0.5 * contact.gap * n_r;
  } else if (point->kind == FacePoint::Kind::corner) {
    code_r = FeatureCode::vertex(point->i);
    code_i = FeatureCode::face(point->j);
    std::swap(jet_r, jet_i);
    contact.gap = point->gap;
    contact.p = point->p + 0.5 * contact.gap * n_r;
  } else {
    const bool crosses = point->kind == FacePoint::Kind::crossing;
    code_i = crosses ? segment_code(pair.incident, point->i, point->j) : FeatureCode::vertex(point->i);
    contact.gap = point->gap;
    contact.p = point->p - 0.5 * contact.gap * n_r;
  }
  contact.code_a = axis.on_a ? code_r : code_i;
  contact.code_b = axis.on_a ? code_i : code_r;
  contact.n = axis.on_a ? Vec3(-n_r) : n_r;
  contact.feature = axis.on_a ? ClosestFeatures{jet_r, jet_i} : ClosestFeatures{jet_i, jet_r};
  if (axis.on_a) move_to_frame(query.X_BA, contact);
  return contact;
}

// The best axis of all; of equal ones a face before two edges, a's before b's, the lowest number.
Contact overlapping_distance(const PairQuery& query) {
  const SeparatingAxes& axes = query.scratch.polytope.axes;
  const double tie = kTie * query.bands.length;
  const double best = axes.best_face();
  if (axes.best_edge() > best + tie) return edge_edge_contact(*query.a.hull, *query.b.hull, query.X_BA, axes.edge);
  const FaceAxis* chosen = nullptr;
  for (const FaceAxis& axis : axes.faces) {
    if (axis.separation < best - tie) continue;
    if (!chosen || std::tuple(!axis.on_a, axis.face) < std::tuple(!chosen->on_a, chosen->face)) chosen = &axis;
  }
  return face_depth(query, *chosen, 3 * tie);
}

}  // namespace

void polytope_polytope_contacts(const PairQuery& query, std::vector<Contact>& out) {
  const GjkResult closest =
      gjk(Core::hull(*query.a.hull), Core::hull(*query.b.hull), query.X_BA, largest_distance(query));
  if (closest.status == GjkStatus::far) return;
  find_axes(query, closest);
  append_manifold(query, query.scratch.polytope.axes, query.scratch.polytope.manifold, out);
}

Contact polytope_polytope_distance(const PairQuery& query) {
  const GjkResult closest = gjk(Core::hull(*query.a.hull), Core::hull(*query.b.hull), query.X_BA, kInfinity);
  if (closest.status == GjkStatus::separated) return separated_distance(query, closest);
  find_axes(query, closest);
  return overlapping_distance(query);
}

}  // namespace lithe::internal
