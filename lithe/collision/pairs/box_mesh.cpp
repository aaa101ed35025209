#include <Eigen/Geometry>

#include <algorithm>
#include <bit>
#include <cmath>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/face_manifold.h"
#include "lithe/collision/manifold/near_vertices.h"
#include "lithe/collision/manifold/polytope_axes.h"
#include "lithe/collision/pairs/pairs.h"
#include "lithe/core/infinity.h"
#include "lithe/simd/internal/lane_bits.h"

// A box and a mesh, most often the ground and a foot: proofs that a face decides, so that the general search
// (polytope_polytope.cpp) is not needed. The choice and the manifold are those of face_manifold.h, results the same.
//
// Everything is measured in the box's frame A, where a vertex x of the mesh has the distances q_k = |x_k| − h_k from
// the slabs between opposite faces. The signed distance of x to the box,
//
//   φ(x) = max_k q_k        where at most one q_k is positive,
//
// bounds s(n) of every direction n from above, for x belongs to the mesh: s(n) ≤ φ(x). So a box face that separates by s
// is the best of all axes if some vertex of the mesh has φ(x) ≤ s, and no two edges win (by more than edge_tie) if
// some φ(x) ≤ s + edge_tie. For a foot that stands inside the ground's face with a depth smaller than its distance to
// the face's sides, both hold by the mesh's extents alone.
namespace lithe::internal {
namespace {

// Areas that differ by less, relatively, are equal.
constexpr double kEqualFaceAreas = 1e-6;

// The mesh's extents along the box's axes.
struct Extents {
  Vec3 low, high;
};

// Four vertices of the mesh in the box's frame.
struct FourVertices {
  Pack x[3];
};
LITHE_INLINE FourVertices four_vertices(const Hull& mesh, int pack, const Pose& X_AB) {
  const int i = kLanes * pack;
  const Pack x = as_pack(&mesh.x[i]), y = as_pack(&mesh.y[i]), z = as_pack(&mesh.z[i]);
  FourVertices result;
  for (int k = 0; k < 3; ++k) {
    result.x[k] = x * X_AB.R(k, 0) + (y * X_AB.R(k, 1) + (z * X_AB.R(k, 2) + X_AB.p[k]));
  }
  return result;
}

Extents extents_of(const Hull& mesh, const Pose& X_AB) {
  FourVertices low = four_vertices(mesh, 0, X_AB), high = low;
  for (int pack = 1; pack < mesh.vertex_packs(); ++pack) {
    const FourVertices four = four_vertices(mesh, pack, X_AB);
    for (int k = 0; k < 3; ++k) {
      low.x[k] = smaller(low.x[k], four.x[k]);
      high.x[k] = larger(high.x[k], four.x[k]);
    }
  }
  Extents extents;
  for (int k = 0; k < 3; ++k) {
    extents.low[k] = smallest_lane(low.x[k]);
    extents.high[k] = largest_lane(high.x[k]);
  }
  return extents;
}

// The smallest φ over the mesh's vertices.
double closest_vertex_distance(const Hull& mesh, const Pose& X_AB, const Vec3& half) {
  Pack best = broadcast(kInfinity);
  for (int pack = 0; pack < mesh.vertex_packs(); ++pack) {
    const FourVertices four = four_vertices(mesh, pack, X_AB);
    const Pack q0 = absolute(four.x[0]) - half[0], q1 = absolute(four.x[1]) - half[1],
               q2 = absolute(four.x[2]) - half[2];
    const Pack largest = larger(larger(q0, q1), q2);
    const Pack second = larger(smaller(q0, q1), smaller(larger(q0, q1), q2));
    best = smaller(best, second <= Pack{} ? largest : broadcast(kInfinity));
  }
  return smallest_lane(best);
}

// Separations along the box's six faces.
struct BoxFaceSeparations {
  BoxFaceSeparations(const Extents& extents, const Vec3& half) {
    for (int k = 0; k < 3; ++k) {
      separation[2 * k] = extents.low[k] - half[k];
      separation[2 * k + 1] = -extents.high[k] - half[k];
    }
    best = static_cast<int>(std::max_element(separation, separation + 6) - separation);
  }
  double separation[6];
  int best;
};

// Whether the mesh's bounds alone keep the two apart.
bool bounds_separate(const Hull& mesh, const Pose& X_AB, const Vec3& half, double margin) {
  const Vec3 centre = X_AB * mesh.box_centre;
  const Vec3 reach = half + X_AB.R.cwiseAbs() * mesh.box_half;
  return (centre.cwiseAbs() - reach).maxCoeff() > margin;
}

// Whether every face of the mesh is smaller than `area`: its three projections fit into the bounds'.
bool has_smaller_faces(const Hull& mesh, double area) {
  const Vec3& h = mesh.box_half;
  const double yz = h.y() * h.z(), zx = h.z() * h.x(), xy = h.x() * h.y();
  return 16 * (yz * yz + zx * zx + xy * xy) < area * area;
}

// Whether the mesh stands on the box's best face: within its sides, that face the best axis and the one preferred.
bool stands_on_face(const PairQuery& query, const Extents& extents, const BoxFaceSeparations& faces) {
  const Vec3& half = query.a.half_size;
  const double s = faces.separation[faces.best], depth = std::max(0.0, -s);
  const int axis = faces.best / 2;
  for (int k = 0; k < 3; ++k) {
    if (k != axis && std::max(-extents.low[k], extents.high[k]) > half[k] - depth) return false;
  }
  if (depth > half[axis]) return false;
  for (int face = 0; face < 6; ++face) {
    if (face != faces.best && faces.separation[face] >= s - query.bands.face_tie) return false;
  }
  return has_smaller_faces(*query.b.hull, (1 - kEqualFaceAreas) * query.a.hull->faces[faces.best].area);
}

// The manifold where the whole mesh is inside the face's prism. Its points are the mesh's own vertices, in whose frame
// they are wanted.
void append_vertices(const PairQuery& query, const Pose& X_AB, int face, std::vector<Contact>& out) {
  const Hull &box = *query.a.hull, &mesh = *query.b.hull;
  std::vector<NearVertex>& near = query.scratch.near_vertices;
  near_vertices({box, face, mesh, X_AB}, query.bands, query.max_points, query.scratch.polytope.manifold, near);
  const Vec3 n = -(query.X_BA.R * box.faces[face].normal);
  for (const auto& [vertex, gap] : near) {
    Contact& contact = out.emplace_back();
    contact.code_a = FeatureCode::face(face);
    contact.code_b = FeatureCode::vertex(vertex);
    contact.p = mesh.vertices[vertex];
    contact.n = n;
    contact.gap = gap;
    contact.feature = VertexOverFace{.face_on_a = true};
  }
}

// Adds the mesh's faces that separate by no less than `tie` less than the best of all.
void add_mesh_faces(const PairQuery& query, double tie, double best, SeparatingAxes& axes) {
  const Hull& mesh = *query.b.hull;
  const auto& [R, t] = query.X_BA;
  const Vec3& half = query.a.half_size;
  const int count = static_cast<int>(mesh.faces.size());
  for (int first = 0; first < padded(count); first += kLanes) {
    const Pack x = as_pack(&mesh.normal_x[first]), y = as_pack(&mesh.normal_y[first]),
               z = as_pack(&mesh.normal_z[first]);
    Pack s = x * t.x() + y * t.y() + z * t.z() - as_pack(&mesh.offset[first]);
    for (int k = 0; k < 3; ++k) s -= absolute(x * R(0, k) + y * R(1, k) + z * R(2, k)) * half[k];
    for (unsigned good = lane_bits(s >= broadcast(best - tie)); good != 0; good &= good - 1) {
      const int lane = std::countr_zero(good), face = first + lane;
      if (face >= count) break;
      axes.add({false, face, s[lane]});
      best = std::max(best, s[lane]);
    }
  }
}

}  // namespace

void box_mesh_contacts(const PairQuery& query, std::vector<Contact>& out) {
  const Hull& mesh = *query.b.hull;
  const Vec3& half = query.a.half_size;
  const Bands& bands = query.bands;
  const Pose X_AB = query.X_BA.inverse();
  if (bounds_separate(mesh, X_AB, half, bands.margin)) return;
  const Extents extents = extents_of(mesh, X_AB);
  const BoxFaceSeparations faces(extents, half);
  const double best = faces.separation[faces.best];
  if (best > bands.margin) return;
  if (stands_on_face(query, extents, faces)) return append_vertices(query, X_AB, faces.best, out);

  SeparatingAxes& axes = query.scratch.polytope.axes;
  axes.clear();
  for (int face = 0; face < 6; ++face) axes.add({true, face, faces.separation[face]});
  add_mesh_faces(query, bands.face_tie, best, axes);
  const double best_face = axes.best_face();
  if (best_face > bands.margin) return;
  // No edges can win: the faces are all there is to choose from, unless none of them gives a point.
  if (closest_vertex_distance(mesh, X_AB, half) <= best_face + bands.edge_tie) {
    const std::size_t before = out.size();
    append_manifold(query, axes, query.scratch.polytope.manifold, out);
    if (out.size() > before) return;
  }
  polytope_polytope_contacts(query, out);
}

}  // namespace lithe::internal
