#include "lithe/collision/near_vertices.h"
#include "lithe/collision/pairs.h"

// A box or a mesh over a half-space. The plane's one face has no sides, so the manifold is vertices alone (kind V): each
// one's gap is its height, and the deepest vertex is the closest point, exactly.
namespace lithe {
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

}  // namespace

void polytope_plane_contacts(const PairQuery& query, std::vector<Contact>& out) {
  if (lowest_of_bounds(query.a, query.X_BA) > query.bands.margin) return;
  const Hull& hull = *query.a.hull;
  std::vector<NearVertex>& near = query.scratch.near_vertices;
  near_vertices({half_space(), 0, hull, query.X_BA}, query.bands, query.max_points, query.scratch.polytope.manifold,
                near);
  for (const auto& [vertex, gap] : near) {
    Contact& contact = out.emplace_back();
    contact.code_a = FeatureCode::vertex(vertex);
    contact.code_b = FeatureCode::face(0);
    contact.p = query.X_BA * hull.vertices[vertex];
    contact.n = Vec3::UnitZ();
    contact.gap = gap;
    contact.feature = VertexOverFace{.face_on_a = false};
  }
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

}  // namespace lithe
