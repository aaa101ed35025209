#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/face_manifold.h"
#include "lithe/collision/manifold/manifold_reduction.h"
#include "lithe/collision/pairs/pair_query.h"
#include "lithe/core/check.h"
#include "lithe/core/infinity.h"

// From separating axes to contacts: what face_manifold.h declares beyond the manifold on one face.

namespace lithe::internal {
namespace {

using Kind = FacePoint::Kind;

// Crossings whose segment makes a smaller angle with the side have their derivative reported as large.
constexpr double kSensitiveCrossing = 1e-3;

// What a point is made of: codes of the reference and the incident shape, and the feature, all in the reference frame.
void describe(const FacePair& pair, const FacePoint& point, bool face_on_a, Contact& contact) {
  FeatureCode& code_r = face_on_a ? contact.code_a : contact.code_b;
  FeatureCode& code_i = face_on_a ? contact.code_b : contact.code_a;
  switch (point.kind) {
    case Kind::vertex:
      code_r = FeatureCode::face(pair.face);
      code_i = FeatureCode::vertex(point.i);
      contact.feature = VertexOverFace{face_on_a};
      return;
    case Kind::crossing: {
      const Vec3 e = pair.X_RI.R * (pair.incident.vertices[point.j] - pair.incident.vertices[point.i]).normalized();
      const Vec3& m = pair.reference.sides[pair.reference.faces[pair.face].first + point.side].normal;
      if (std::abs(m.dot(e)) < kSensitiveCrossing) contact.flags = ContactFlag::sensitive_point;
      code_r = FeatureCode::face_side(pair.face, point.side);
      code_i = FeatureCode::segment(point.i, point.j);
      contact.feature = EdgeCrossing{face_on_a, e, m};
      return;
    }
    case Kind::corner:
      code_r = FeatureCode::vertex(point.i);
      code_i = FeatureCode::face(point.j);
      contact.feature = CornerUnderFace{face_on_a, pair.X_RI.R * pair.incident.faces[point.j].normal};
      return;
  }
}

}  // namespace

void append_face_contacts(const FacePair& pair, const FaceManifold& manifold, bool face_on_a, const Pose& X_BA,
                          std::vector<Contact>& out) {
  const Vec3& normal = pair.reference.faces[pair.face].normal;
  for (const FacePoint& point : manifold.points) {
    Contact& contact = out.emplace_back();
    contact.p = point.p;
    contact.n = face_on_a ? Vec3(-normal) : normal;
    contact.gap = point.gap;
    describe(pair, point, face_on_a, contact);
    if (face_on_a) move_to_frame(X_BA, contact);
  }
}

bool reaches_depth(const FaceManifold& manifold, double best_face, const Bands& bands) {
  // Edges may be better than the face by edge_tie without being chosen, and δ beside a face is on it.
  const double limit = best_face < 0 ? best_face + bands.edge_tie + 2 * bands.side : kInfinity;
  return std::any_of(manifold.points.begin(), manifold.points.end(),
                     [&](const FacePoint& point) { return point.gap <= limit; });
}

Contact edge_edge_contact(const Hull& a, const Hull& b, const Pose& X_BA, const EdgeAxis& axis) {
  const Hull::Edge &edge_a = a.edges[axis.edge_a], &edge_b = b.edges[axis.edge_b];
  const Vec3 e_a = X_BA.R * edge_a.direction, e_b = edge_b.direction;
  const Vec3 o_a = X_BA * a.vertices[edge_a.vertex[0]], o_b = b.vertices[edge_b.vertex[0]];

  // o_a + t_a e_a − (o_b + t_b e_b) = gap n.
  const Vec3 cross = e_a.cross(e_b), d = o_b - o_a;
  const double t_a = d.cross(e_b).dot(cross) / cross.squaredNorm();
  const double t_b = d.cross(e_a).dot(cross) / cross.squaredNorm();

  Contact contact;
  contact.code_a = FeatureCode::edge(axis.edge_a);
  contact.code_b = FeatureCode::edge(axis.edge_b);
  contact.p = 0.5 * (o_a + t_a * e_a + o_b + t_b * e_b);
  contact.n = axis.n;
  contact.gap = -axis.n.dot(d);
  contact.feature = ClosestFeatures{SupportJet::line(e_a), SupportJet::line(e_b)};
  return contact;
}

namespace {

// Whether x, near an edge's line, lies between its ends, or at most `slack` beyond.
bool is_beside_edge(const Hull& hull, int edge, const Vec3& x, double slack) {
  const Hull::Edge& e = hull.edges[edge];
  const double t = e.direction.dot(x - hull.vertices[e.vertex[0]]);
  const double length = e.direction.dot(hull.vertices[e.vertex[1]] - hull.vertices[e.vertex[0]]);
  return t >= -slack && t <= length + slack;
}

void append_edges(const PairQuery& query, const EdgeAxis& axis, std::vector<Contact>& out) {
  const Hull &a = *query.a.hull, &b = *query.b.hull;
  const Contact contact = edge_edge_contact(a, b, query.X_BA, axis);
  if (axis.separation > 0 &&
      !(is_beside_edge(a, axis.edge_a, query.X_BA.inverse() * contact.point_on_a(), query.bands.side) &&
        is_beside_edge(b, axis.edge_b, contact.point_on_b(), query.bands.side))) {
    return;
  }
  out.push_back(contact);
}

FacePair face_pair(const PairQuery& query, const FaceAxis& axis) {
  const Hull &a = *query.a.hull, &b = *query.b.hull;
  return axis.on_a ? FacePair{a, axis.face, b, query.X_BA.inverse()} : FacePair{b, axis.face, a, query.X_BA};
}

bool append_face(const PairQuery& query, const FaceAxis& axis, double best_face, FaceManifoldScratch& scratch,
                 std::vector<Contact>& out) {
  const FacePair pair = face_pair(query, axis);
  face_manifold(pair, query.bands, scratch, scratch.manifold);
  if (!reaches_depth(scratch.manifold, best_face, query.bands)) return false;
  reduce_manifold(pair, query.max_points, query.bands.face_tie, scratch, scratch.manifold);
  append_face_contacts(pair, scratch.manifold, axis.on_a, query.X_BA, out);
  return true;
}

// One point on the best face, whether or not it is above the face itself.
void append_deepest_vertex(const PairQuery& query, const SeparatingAxes& axes, FaceManifoldScratch& scratch,
                           std::vector<Contact>& out) {
  const auto worse = [](const FaceAxis& x, const FaceAxis& y) { return x.separation < y.separation; };
  const FaceAxis axis = *std::max_element(axes.faces.begin(), axes.faces.end(), worse);
  const FacePair pair = face_pair(query, axis);
  const Vec3& n_r = pair.reference.faces[pair.face].normal;
  const int vertex = support_vertex(pair.incident, -(pair.X_RI.R.transpose() * n_r));
  const Vec3 p = pair.X_RI * pair.incident.vertices[vertex];
  scratch.manifold.points.assign(1, {Kind::vertex, vertex, 0, 0, axis.separation, p});
  append_face_contacts(pair, scratch.manifold, axis.on_a, query.X_BA, out);
}

// Takes the preferred face out of the list. Areas that differ by rounding must not decide, so it is not a sort.
FaceAxis take_preferred(const PairQuery& query, std::vector<FaceAxis>& faces) {
  const auto area = [&](const FaceAxis& axis) {
    return (axis.on_a ? query.a.hull : query.b.hull)->faces[axis.face].area;
  };
  double largest = 0;
  for (const FaceAxis& axis : faces) largest = std::max(largest, area(axis));
  auto best = faces.end();
  for (auto axis = faces.begin(); axis != faces.end(); ++axis) {
    if (area(*axis) < largest * (1 - 1e-6)) continue;
    if (best == faces.end() || std::tuple(!axis->on_a, axis->face) < std::tuple(!best->on_a, best->face)) best = axis;
  }
  const FaceAxis preferred = *best;
  std::erase_if(faces, [&](const FaceAxis& x) { return x.on_a == preferred.on_a && x.face == preferred.face; });
  return preferred;
}

}  // namespace

void append_manifold(const PairQuery& query, const SeparatingAxes& axes, FaceManifoldScratch& scratch,
                     std::vector<Contact>& out) {
  const double best_face = axes.best_face(), best_edge = axes.best_edge();
  if (std::max(best_face, best_edge) > query.bands.margin) return;
  if (best_edge > best_face + query.bands.edge_tie) return append_edges(query, axes.edge, out);

  // The preferred face whose manifold is about that deep; 0: any that is not empty.
  const auto append_tied_face = [&](double depth) {
    std::vector<FaceAxis>& tied = scratch.tied;
    tied.clear();
    for (const FaceAxis& axis : axes.faces) {
      if (axis.separation >= best_face - query.bands.face_tie) tied.push_back(axis);
    }
    while (!tied.empty()) {
      if (append_face(query, take_preferred(query, tied), depth, scratch, out)) return true;
    }
    return false;
  };
  if (append_tied_face(best_face)) return;
  if (axes.has_edge() && best_edge >= best_face - query.bands.edge_tie) return append_edges(query, axes.edge, out);
  // Shapes that are apart have no contact here: a corner comes near, and no two features face each other yet.
  if (best_face > 0) return;
  // Of rods and plates the deepest vertex may lie far beside the face; points above it are the better contact.
  const double nearly = std::min(best_face + query.bands.margin, 0.0);
  if (!append_tied_face(nearly)) append_deepest_vertex(query, axes, scratch, out);
}

}  // namespace lithe::internal
