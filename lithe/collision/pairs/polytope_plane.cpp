#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/near_vertices.h"
#include "lithe/collision/pairs/pairs.h"

// A box or a mesh over a half-space. The plane's one face has no sides, so the manifold is vertices alone (kind V): each
// one's gap is its height, and the deepest vertex is the closest point, exactly.
namespace lithe::internal {
namespace {

// The plane as the face that manifolds are built on. It never ends, so there is no ring.
const Hull& half_space() {
  static const Hull hull = [] {
    Hull plane;
    plane.faces.push_back({.normal = Vec3::UnitZ(), .offset = 0, .area = 0, .first = 0, .count = 0});
    return plane;
  }();
  return hull;
}

// The plane's normal in the frame of shape a.
Vec3 normal_in_a(const Pose& X_BA) { return X_BA.R.row(2).transpose(); }

// No point of a is lower than this.
double lowest_of_bounds(const Collider& a, const Pose& X_BA) {
  const Vec3 n_A = normal_in_a(X_BA);
  return X_BA.p.z() + n_A.dot(a.box_centre) - n_A.cwiseAbs().dot(a.box_half);
}

void append_vertex(int vertex, const Vec3& p, std::vector<Contact>& out) {
  Contact& contact = out.emplace_back();
  contact.code_a = FeatureCode::vertex(vertex);
  contact.code_b = FeatureCode::face(0);
  contact.p = p;
  contact.n = Vec3::UnitZ();
  contact.gap = p.z();
  contact.feature = VertexOverFace{.face_on_a = false};
}

// A box's vertices need no search, nor does it take one to tell which of them are on a face that looks down. For at
// least eight points: no reduction.
void append_box_vertices(const PairQuery& query, std::vector<Contact>& out) {
  const Vec3 n_A = normal_in_a(query.X_BA);
  for (int i = 0; i < 8; ++i) {
    const Vec3 p = query.X_BA * query.a.hull->vertices[i];
    const bool lower = (i & 1 ? n_A.x() : -n_A.x()) < -kFacing || (i & 2 ? n_A.y() : -n_A.y()) < -kFacing ||
                       (i & 4 ? n_A.z() : -n_A.z()) < -kFacing;
    if (lower && p.z() <= query.bands.margin) append_vertex(i, p, out);
  }
}

}  // namespace

void polytope_plane_contacts(const PairQuery& query, std::vector<Contact>& out) {
  if (lowest_of_bounds(query.a, query.X_BA) > query.bands.margin) return;
  if (query.a.type == ShapeType::box && query.max_points >= 8) return append_box_vertices(query, out);
  const Hull& hull = *query.a.hull;
  std::vector<NearVertex>& near = query.scratch.near_vertices;
  near_vertices({half_space(), 0, hull, query.X_BA}, query.bands, query.max_points, query.scratch.polytope.manifold,
                near);
  for (const NearVertex& x : near) append_vertex(x.vertex, query.X_BA * hull.vertices[x.vertex], out);
}

Contact polytope_plane_distance(const PairQuery& query) {
  const Hull& hull = *query.a.hull;
  const int deepest = support_vertex(hull, -normal_in_a(query.X_BA));
  const Vec3 x = query.X_BA * hull.vertices[deepest];
  Contact contact;
  contact.code_a = FeatureCode::vertex(deepest);
  contact.code_b = FeatureCode::face(0);
  contact.p = Vec3(x.x(), x.y(), 0.5 * x.z());
  contact.n = Vec3::UnitZ();
  contact.gap = x.z();
  contact.feature = ClosestFeatures{SupportJet::vertex(), SupportJet::face()};
  return contact;
}

}  // namespace lithe::internal
