#include "lithe/collision/manifold/polytope_axes.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "lithe/collision/hull/hull.h"
#include "lithe/core/infinity.h"
#include "lithe/core/internal/size_of.h"
#include "lithe/simd/internal/lane_bits.h"

namespace lithe::internal {
namespace {

// d·x of the four vertices of a pack.
LITHE_INLINE Pack heights(const Hull& hull, int pack, const Vec3& d) {
  const int i = pack * kLanes;
  return as_pack(&hull.x[i]) * d.x() + as_pack(&hull.y[i]) * d.y() + as_pack(&hull.z[i]) * d.z();
}

// The smallest d·x over the hull's vertices.
double lowest(const Hull& hull, const Vec3& d) {
  Pack low = heights(hull, 0, d);
  for (int k = 1; k < hull.vertex_packs(); ++k) {
    const Pack h = heights(hull, k, d);
    low = smaller(h, low);
  }
  return smallest_lane(low);
}

FaceAxis axis_of_a(const Hull& a, const Hull& b, const Pose& X_BA, int face) {
  const Vec3 outward = X_BA.R * a.faces[face].normal;
  return {true, face, lowest(b, outward) - outward.dot(X_BA.p) - a.faces[face].offset};
}

FaceAxis axis_of_b(const Hull& a, const Hull& b, const Pose& X_BA, int face) {
  const Vec3& outward = b.faces[face].normal;
  return {false, face, lowest(a, X_BA.R.transpose() * outward) + outward.dot(X_BA.p) - b.faces[face].offset};
}

double separation(const Vec3& n, const Hull& a, const Hull& b, const Pose& X_BA) {
  return lowest(a, X_BA.R.transpose() * n) + n.dot(X_BA.p) + lowest(b, -n);
}

// The axis of two edges whose arcs cross.
void add_axis(const EdgeArcs::Arc& arc, int edge_a, const Hull& a, const Hull& b, int edge_b, const Pose& X_BA,
              double tie, SeparatingAxes& axes) {
  const Hull::Edge& eb = b.edges[edge_b];
  // n = ±e_a × e_b lies between b's normals: in the span of both with positive weights.
  Vec3 n = arc.direction.cross(eb.direction);
  const double sine = n.norm();
  if (sine < kParallelEdges) return;
  n *= (b.faces[eb.face[0]].normal.dot(arc.direction) < 0 ? 1 : -1) / sine;
  // Nearly parallel edges leave rounding errors along themselves, where the points may be far away.
  n = (n - n.dot(arc.direction) * arc.direction).normalized();

  // The edges' own distance is s(n) unless normals are rounded, or made of facets that were merged: never trust it.
  const Vec3 vertex_a = X_BA * a.vertices[a.edges[edge_a].vertex[0]];
  if (n.dot(vertex_a - b.vertices[eb.vertex[0]]) < axes.best_edge() - tie) return;
  axes.add(EdgeAxis{edge_a, edge_b, separation(n, a, b, X_BA), n}, tie);
}

// The edges at the vertices within `reach` of the support along d, in order.
void edges_at_support(const Hull& hull, const Vec3& d, double reach, std::vector<int>& edges) {
  edges.clear();
  const double limit = lowest(hull, -d) + reach;
  for (int k = 0; k < hull.vertex_packs(); ++k) {
    const Pack h = heights(hull, k, -d);
    if (smallest_lane(h) > limit) continue;
    for (int lane = 0; lane < kLanes; ++lane) {
      const int i = k * kLanes + lane;
      if (h[lane] > limit || i >= size_of(hull.vertices)) continue;
      const std::span<const int> around = hull.edges_of(i);
      edges.insert(edges.end(), around.begin(), around.end());
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

void try_all_edges(const Hull& a, const Hull& b, const Pose& X_BA, double length, AxisScratch& scratch,
                   SeparatingAxes& axes) {
  const double tie = kEqualEdges * length;
  scratch.arcs_b.gather(b, scratch.edges_b);
  for (const int edge_a : scratch.edges_a) {
    const Hull::Edge& e = a.edges[edge_a];
    const EdgeArcs::Arc arc = {X_BA.R * e.direction,
                               {X_BA.R * a.faces[e.face[0]].normal, X_BA.R * a.faces[e.face[1]].normal}};
    for (int pack = 0; pack < scratch.arcs_b.packs(); ++pack) {
      for (unsigned bits = scratch.arcs_b.crossing(arc, pack); bits != 0; bits &= bits - 1) {
        const int edge_b = scratch.edges_b[pack * kLanes + std::countr_zero(bits)];
        add_axis(arc, edge_a, a, b, edge_b, X_BA, tie, axes);
      }
    }
  }
}

// Heights of x above four faces.
LITHE_INLINE Pack heights_above(const Hull& hull, int pack, const Vec3& x) {
  const int i = pack * kLanes;
  return as_pack(&hull.normal_x[i]) * x.x() + as_pack(&hull.normal_y[i]) * x.y() + as_pack(&hull.normal_z[i]) * x.z() -
         as_pack(&hull.offset[i]);
}

// The face that x is highest above.
int highest_face(const Hull& hull, const Vec3& x) {
  Pack best = heights_above(hull, 0, x), pack_of_best = {};
  for (int k = 1; k < hull.face_packs(); ++k) {
    const Pack h = heights_above(hull, k, x);
    pack_of_best = h > best ? broadcast(k) : pack_of_best;
    best = h > best ? h : best;
  }
  int lane = 0;
  for (int l = 1; l < kLanes; ++l) {
    if (best[l] > best[lane]) lane = l;
  }
  const int face = static_cast<int>(pack_of_best[lane]) * kLanes + lane;
  return face < size_of(hull.faces) ? face : 0;  // padding repeats the first
}

// visit(face) for the faces that x is at least `limit` above.
template <class Visit>
void for_faces_below(const Hull& hull, const Vec3& x, double limit, Visit visit) {
  for (int k = 0; k < hull.face_packs(); ++k) {
    unsigned bits = lane_bits(heights_above(hull, k, x) >= broadcast(limit));
    for (; bits != 0; bits &= bits - 1) {
      const int face = k * kLanes + std::countr_zero(bits);
      if (face < size_of(hull.faces)) visit(face);
    }
  }
}

}  // namespace

void SeparatingAxes::clear() {
  faces.clear();
  edge = {};
}

void SeparatingAxes::add(const EdgeAxis& axis, double tie) {
  if (has_edge() && axis.separation <= edge.separation + tie) {
    const bool equal = axis.separation >= edge.separation - tie;
    if (!equal || std::tie(edge.edge_a, edge.edge_b) <= std::tie(axis.edge_a, axis.edge_b)) return;
  }
  edge = axis;
}

double SeparatingAxes::best_face() const {
  double best = -kInfinity;
  for (const FaceAxis& axis : faces) best = std::max(best, axis.separation);
  return best;
}

double SeparatingAxes::best_edge() const { return has_edge() ? edge.separation : -kInfinity; }

void all_axes(const Hull& a, const Hull& b, const Pose& X_BA, double length, AxisScratch& scratch,
              SeparatingAxes& axes) {
  axes.clear();
  for (int f = 0; f < size_of(a.faces); ++f) axes.add(axis_of_a(a, b, X_BA, f));
  for (int f = 0; f < size_of(b.faces); ++f) axes.add(axis_of_b(a, b, X_BA, f));
  scratch.edges_a.resize(a.edges.size());
  scratch.edges_b.resize(b.edges.size());
  std::iota(scratch.edges_a.begin(), scratch.edges_a.end(), 0);
  std::iota(scratch.edges_b.begin(), scratch.edges_b.end(), 0);
  try_all_edges(a, b, X_BA, length, scratch, axes);
}

void add_edges_around(const Vec3& n, const Hull& a, const Hull& b, const Pose& X_BA, double length,
                      AxisScratch& scratch, SeparatingAxes& axes) {
  edges_at_support(a, -(X_BA.R.transpose() * n), kAroundSupport * length, scratch.edges_a);
  edges_at_support(b, n, kAroundSupport * length, scratch.edges_b);
  try_all_edges(a, b, X_BA, length, scratch, axes);
}

void add_best_faces(int vertex_a, int vertex_b, const Hull& a, const Hull& b, const Pose& X_BA,
                    const FaceLimits& limits, SeparatingAxes& axes) {
  const Vec3 x_a = X_BA * a.vertices[vertex_a];                           // in b's frame
  const Vec3 x_b = X_BA.R.transpose() * (b.vertices[vertex_b] - X_BA.p);  // in a's
  // Two good ones first, so that a limit is known.
  const FaceAxis first_a = axis_of_a(a, b, X_BA, highest_face(a, x_b));
  const FaceAxis first_b = axis_of_b(a, b, X_BA, highest_face(b, x_a));
  axes.add(first_a);
  axes.add(first_b);
  const double limit = std::max(std::max(first_a.separation, first_b.separation) - limits.below_face,
                                axes.best_edge() - limits.below_edge);
  for_faces_below(a, x_b, limit, [&](int face) {
    if (face != first_a.face) axes.add(axis_of_a(a, b, X_BA, face));
  });
  for_faces_below(b, x_a, limit, [&](int face) {
    if (face != first_b.face) axes.add(axis_of_b(a, b, X_BA, face));
  });
}

Vec3 best_direction(const SeparatingAxes& axes, const Hull& a, const Hull& b, const Pose& X_BA) {
  if (axes.best_edge() > axes.best_face()) return axes.edge.n;
  const FaceAxis* best = &axes.faces.front();
  for (const FaceAxis& axis : axes.faces) {
    if (axis.separation > best->separation) best = &axis;
  }
  if (best->on_a) return -(X_BA.R * a.faces[best->face].normal);
  return b.faces[best->face].normal;
}

}  // namespace lithe::internal
