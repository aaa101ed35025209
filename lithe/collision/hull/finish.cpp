#include "lithe/collision/hull/finish.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "lithe/collision/hull/hull.h"
#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/core/internal/size_of.h"

namespace lithe::internal {
namespace {

// The ring entry after `entry` on its face.
int next_entry(const Hull::Face& face, int entry) {
  return entry + 1 < face.first + face.count ? entry + 1 : face.first;
}

// The edges, from the two faces that run each of them in opposite directions.
void find_edges(Hull& hull) {
  struct Half {
    int low, high, from, face;
  };
  std::vector<Half> halves;
  halves.reserve(hull.ring.size());
  for (int f = 0; f < size_of(hull.faces); ++f) {
    const Hull::Face& face = hull.faces[f];
    for (int k = face.first; k < face.first + face.count; ++k) {
      const int from = hull.ring[k], to = hull.ring[next_entry(face, k)];
      halves.push_back({std::min(from, to), std::max(from, to), from, f});
    }
  }
  // Of the two halves of an edge, the one from the low vertex to the high one first.
  std::sort(halves.begin(), halves.end(), [](const Half& a, const Half& b) {
    return std::tie(a.low, a.high, a.from) < std::tie(b.low, b.high, b.from);
  });
  LITHE_ASSERT(halves.size() % 2 == 0);
  hull.edges.clear();
  for (std::size_t k = 0; k + 1 < halves.size(); k += 2) {
    const Half &up = halves[k], &down = halves[k + 1];
    LITHE_ASSERT(up.low == down.low && up.high == down.high && up.from == up.low && down.from == up.high);
    const Vec3 direction = (hull.vertices[up.high] - hull.vertices[up.low]).normalized();
    hull.edges.push_back({{up.low, up.high}, {up.face, down.face}, direction});
  }
}

// Turns counts of items per vertex into the starts of their slices.
void counts_to_starts(std::vector<int>& start) {
  int total = 0;
  for (int& entry : start) total += std::exchange(entry, total);
}

// Neighbours and faces of each vertex, in ascending order, since edges and faces are visited in order.
void find_neighbours(Hull& hull) {
  const int n = size_of(hull.vertices);
  hull.neighbour_start.assign(n + 1, 0);
  for (const Hull::Edge& edge : hull.edges) {
    for (const int v : edge.vertex) ++hull.neighbour_start[v];
  }
  counts_to_starts(hull.neighbour_start);
  hull.neighbours.resize(2 * hull.edges.size());
  hull.vertex_edges.resize(2 * hull.edges.size());
  std::vector<int> next = hull.neighbour_start;
  for (int e = 0; e < size_of(hull.edges); ++e) {
    const auto& [low, high] = hull.edges[e].vertex;
    hull.neighbours[next[low]] = high;
    hull.neighbours[next[high]] = low;
    hull.vertex_edges[next[low]++] = e;
    hull.vertex_edges[next[high]++] = e;
  }

  hull.face_start.assign(n + 1, 0);
  for (const int v : hull.ring) ++hull.face_start[v];
  counts_to_starts(hull.face_start);
  hull.vertex_faces.resize(hull.ring.size());
  next = hull.face_start;
  for (int f = 0; f < size_of(hull.faces); ++f) {
    for (const int v : hull.face_vertices(f)) hull.vertex_faces[next[v]++] = f;
  }
}

void find_side_normals(Hull& hull) {
  hull.sides.resize(hull.ring.size());
  for (const Hull::Face& face : hull.faces) {
    for (int k = face.first; k < face.first + face.count; ++k) {
      const Vec3 along = hull.vertices[hull.ring[next_entry(face, k)]] - hull.vertices[hull.ring[k]];
      hull.sides[k].normal = along.cross(face.normal).normalized();
    }
  }
}

// Ranks of a face's vertices. The vertex whose triangle with its two neighbours is smallest goes first, since the
// polygon of the others then loses the least area, and has the highest rank. Of equal ones the highest number goes
// first; equal is meant up to rounding, so that regular polygons have a predictable order.
void rank_face(const Hull& hull, const Hull::Face& face, int* rank) {
  std::vector<int> left(face.count);  // places in the face's ring that are still in the polygon
  for (int k = 0; k < face.count; ++k) left[k] = k;
  const int* const ring = &hull.ring[face.first];
  const auto triangle = [&](int k) {
    const int n = size_of(left);
    const Vec3& tip = hull.vertices[ring[left[k]]];
    const Vec3 before = hull.vertices[ring[left[(k + n - 1) % n]]] - tip;
    const Vec3 after = hull.vertices[ring[left[(k + 1) % n]]] - tip;
    return after.cross(before).norm();
  };

  std::vector<double> areas(face.count);
  for (int k = 0; k < face.count; ++k) areas[k] = triangle(k);
  while (!left.empty()) {
    const double limit = *std::min_element(areas.begin(), areas.end()) * (1 + 1e-9);
    int first = -1;
    for (int k = 0; k < size_of(left); ++k) {
      if (areas[k] <= limit && (first < 0 || ring[left[k]] > ring[left[first]])) first = k;
    }
    rank[left[first]] = size_of(left) - 1;
    left.erase(left.begin() + first);
    areas.erase(areas.begin() + first);
    const int n = size_of(left);
    if (n == 0) return;
    for (const int k : {(first + n - 1) % n, first % n}) areas[k] = triangle(k);
  }
}

// `value(i)` for i = 0 … count−1, in whole packs; the padding repeats the first.
template <class Value>
void fill_packs(AlignedBuffer& buffer, int count, Value value) {
  buffer.resize(padded(count));
  for (int i = 0; i < size_of(buffer); ++i) buffer[i] = value(i < count ? i : 0);
}

void fill_vertex_packs(Hull& hull) {
  const int n = size_of(hull.vertices);
  fill_packs(hull.x, n, [&](int i) { return hull.vertices[i].x(); });
  fill_packs(hull.y, n, [&](int i) { return hull.vertices[i].y(); });
  fill_packs(hull.z, n, [&](int i) { return hull.vertices[i].z(); });
}

void fill_face_packs(Hull& hull) {
  const int n = size_of(hull.faces);
  fill_packs(hull.normal_x, n, [&](int i) { return hull.faces[i].normal.x(); });
  fill_packs(hull.normal_y, n, [&](int i) { return hull.faces[i].normal.y(); });
  fill_packs(hull.normal_z, n, [&](int i) { return hull.faces[i].normal.z(); });
  fill_packs(hull.offset, n, [&](int i) { return hull.faces[i].offset; });
}

struct Extent {
  double low, high;
};
Extent extent_along(const Hull& hull, const Vec3& d) {
  Pack low = broadcast(kInfinity), high = broadcast(-kInfinity);
  for (int i = 0; i < size_of(hull.x); i += kLanes) {
    const Pack h = heights(&hull.x[i], &hull.y[i], &hull.z[i], d);
    low = h < low ? h : low;
    high = h > high ? h : high;
  }
  return {std::min({low[0], low[1], low[2], low[3]}), std::max({high[0], high[1], high[2], high[3]})};
}

double face_area(const Hull& hull, const Hull::Face& face) {
  const Vec3& origin = hull.vertices[hull.ring[face.first]];
  Vec3 sum = Vec3::Zero();
  for (int k = face.first + 1; k + 1 < face.first + face.count; ++k) {
    sum += (hull.vertices[hull.ring[k]] - origin).cross(hull.vertices[hull.ring[k + 1]] - origin);
  }
  return 0.5 * sum.dot(face.normal);
}

// The largest sine of the angle by which some vertex lies above a plane, seen from a point of it.
double largest_rise(const Hull& hull, const Vec3& point, const Vec3& normal) {
  const double rounding = 1e-15 * hull.radius;
  double largest = 0;
  for (int i = 0; i < size_of(hull.x); i += kLanes) {
    const Pack x = as_pack(&hull.x[i]) - point.x();
    const Pack y = as_pack(&hull.y[i]) - point.y();
    const Pack z = as_pack(&hull.z[i]) - point.z();
    const Pack height = x * normal.x() + y * normal.y() + z * normal.z();
    const auto above = height > rounding;
    if (!(above[0] | above[1] | above[2] | above[3])) continue;
    for (int lane = 0; lane < kLanes; ++lane) {
      if (above[lane]) largest = std::max(largest, height[lane] / Vec3(x[lane], y[lane], z[lane]).norm());
    }
  }
  return largest;
}

// Slopes that prove a vertex v to be highest: if each edge at v falls along a unit vector d with at least the sine s_v,
// no other vertex is higher.
//
// Let m_k be the unit normals of the planes of two successive edges of a face at v. They span the cone of all d along
// which no edge rises. If faces are plane, all vertices are below these planes and s_v = 0. But a merged face may be
// slightly bent, so that other vertices w rise above a plane by an angle with a sine up to ε. Take d + s u, where u is
// the direction from v to w. It is still in the cone, hence equal to Σ μ_k m_k with μ_k ≥ 0, and
//     (d + s u)·u = Σ μ_k m_k·u ≤ ε Σ μ_k.
// The centre c is below the planes, by at least h, so that (d + s u)·(v − c) = Σ μ_k m_k·(v − c) ≥ h Σ μ_k. Both
// together, with s ≤ 1: d·u ≤ 2 ε |v − c| / h − s, which is not positive if s ≥ s_v = 2 ε |v − c| / h.
void find_proving_slopes(Hull& hull) {
  struct BentCorner {
    double lowest_plane = kInfinity;  // h
    double rise = 1e-13;              // ε, not below rounding
  };
  std::vector<BentCorner> corners(hull.vertices.size());
  for (const Hull::Face& face : hull.faces) {
    int before = hull.ring[face.first + face.count - 1];
    for (int k = face.first; k < face.first + face.count; ++k) {
      const int v = hull.ring[k];
      const Vec3& tip = hull.vertices[v];
      const Vec3& after = hull.vertices[hull.ring[next_entry(face, k)]];
      const Vec3 normal = (tip - hull.vertices[before]).cross(after - tip).normalized();
      corners[v].lowest_plane = std::min(corners[v].lowest_plane, normal.dot(tip - hull.centre));
      corners[v].rise = std::max(corners[v].rise, largest_rise(hull, tip, normal));
      // The planes do span that cone only if the edges themselves form a convex one.
      for (const int w : hull.neighbours_of(v)) {
        const Vec3 edge = hull.vertices[w] - tip;
        if (normal.dot(edge) > 1e-12 * edge.norm()) corners[v].rise = kInfinity;
      }
      before = v;
    }
  }
  hull.proving_slope.resize(hull.vertices.size());
  for (std::size_t v = 0; v < corners.size(); ++v) {
    const double distance = (hull.vertices[v] - hull.centre).norm();
    const double h = corners[v].lowest_plane;
    hull.proving_slope[v] = h > 0 ? 2 * corners[v].rise * distance / h : kInfinity;
  }
}

}  // namespace

void measure_hull(Hull& hull) {
  fill_vertex_packs(hull);
  hull.width = kInfinity;
  for (Hull::Face& face : hull.faces) {
    const Extent extent = extent_along(hull, face.normal);
    face.offset = extent.high;
    face.area = face_area(hull, face);
    hull.width = std::min(hull.width, extent.high - extent.low);
    for (int k = face.first; k < face.first + face.count; ++k) {
      hull.sides[k].offset = hull.sides[k].normal.dot(hull.vertices[hull.ring[k]]);
    }
  }
  fill_face_packs(hull);

  Vec3 low = Vec3::Constant(kInfinity), high = Vec3::Constant(-kInfinity), sum = Vec3::Zero();
  for (const Vec3& vertex : hull.vertices) {
    low = low.cwiseMin(vertex);
    high = high.cwiseMax(vertex);
    sum += vertex;
  }
  hull.box_centre = 0.5 * (low + high);
  hull.box_half = 0.5 * (high - low);
  hull.centre = sum / static_cast<double>(hull.vertices.size());
  hull.radius = 0;
  for (const Vec3& vertex : hull.vertices) hull.radius = std::max(hull.radius, (vertex - hull.centre).norm());
}

void finish_hull(Hull& hull) {
  find_edges(hull);
  find_neighbours(hull);
  find_side_normals(hull);
  hull.rank.resize(hull.ring.size());
  for (const Hull::Face& face : hull.faces) rank_face(hull, face, &hull.rank[face.first]);
  measure_hull(hull);
  if (size_of(hull.vertices) > kLargestScan) find_proving_slopes(hull);
}

}  // namespace lithe::internal
