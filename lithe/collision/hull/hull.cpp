#include "lithe/collision/hull/hull.h"

#include <algorithm>
#include <array>

#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/core/internal/size_of.h"

namespace lithe::internal {
namespace {

// A walk that takes more steps than this began so far away that a scan is faster.
constexpr int kLongestClimb = 6;

LITHE_INLINE Pack lower(Pack a, Pack b) { return a < b ? a : b; }
LITHE_INLINE Pack higher(Pack a, Pack b) { return a > b ? a : b; }

// The highest vertices that were met in each of four lanes, the first of equal ones.
struct Highest {
  Pack height = broadcast(-kInfinity);
  Pack vertex = {};

  LITHE_INLINE void meet(Pack h, Pack v) {
    vertex = h > height ? v : vertex;
    height = higher(h, height);
  }
};

// Without a branch on data: guesses about which vertex is higher fail as often as not.
int highest_by_scan(const Hull& hull, const Vec3& d) {
  const int count = size_of(hull.x);
  const double *x = hull.x.data(), *y = hull.y.data(), *z = hull.z.data();
  // Two of them, for packs in turn, since each has to wait for its previous comparison.
  Highest even, odd;
  Pack vertex = {0, 1, 2, 3};
  int i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    even.meet(heights(x + i, y + i, z + i, d), vertex);
    odd.meet(heights(x + i + kLanes, y + i + kLanes, z + i + kLanes, d), vertex + kLanes);
    vertex += 2 * kLanes;
  }
  if (i < count) even.meet(heights(x + i, y + i, z + i, d), vertex);

  // The lowest number among the lanes that reach the top. Padding repeats vertex 0, so its numbers are never the
  // lowest.
  Pack top = higher(even.height, odd.height);
  top = higher(top, __builtin_shufflevector(top, top, 2, 3, 0, 1));
  top = higher(top, __builtin_shufflevector(top, top, 1, 0, 3, 2));
  const Pack none = broadcast(count);
  Pack first = lower(even.height == top ? even.vertex : none, odd.height == top ? odd.vertex : none);
  first = lower(first, __builtin_shufflevector(first, first, 2, 3, 0, 1));
  first = lower(first, __builtin_shufflevector(first, first, 1, 0, 3, 2));
  const int winner = static_cast<int>(first[0]);
  return winner < size_of(hull.vertices) ? winner : 0;
}

// Walks from vertex to vertex, each time to the highest neighbour, until none is higher. Returns −1 after too many
// steps, or if the neighbours do not prove that no other vertex is as high, as when d is the normal of a face.
int highest_by_climbing(const Hull& hull, const Vec3& d, int start) {
  int at = start, next = start;
  double height = d.dot(hull.vertices[at]);
  for (int step = 0;; ++step) {
    if (step == kLongestClimb) return -1;
    for (const int neighbour : hull.neighbours_of(at)) {
      const double h = d.dot(hull.vertices[neighbour]);
      next = h > height ? neighbour : next;
      height = h > height ? h : height;
    }
    if (next == at) break;
    at = next;
  }
  const double rounding = 4e-15 * d.cwiseAbs().dot(hull.box_centre.cwiseAbs() + hull.box_half);
  const double slope2 = hull.proving_slope[at] * hull.proving_slope[at] * d.squaredNorm();
  for (const int neighbour : hull.neighbours_of(at)) {
    const Vec3 edge = hull.vertices[neighbour] - hull.vertices[at];
    const double rise = d.dot(edge);
    if (!(rise < -rounding && rise * rise > slope2 * edge.squaredNorm())) return -1;
  }
  return at;
}

}  // namespace

int Hull::edge_between(int i, int j) const {
  const std::span<const int> others = neighbours_of(i);
  const auto found = std::lower_bound(others.begin(), others.end(), j);
  if (found == others.end() || *found != j) return -1;
  return edges_of(i)[found - others.begin()];
}

int support_vertex(const Hull& hull, const Vec3& d, int start) {
  LITHE_ASSERT(start >= 0 && start < size_of(hull.vertices));
  if (!hull.proving_slope.empty()) {
    const int highest = highest_by_climbing(hull, d, start);
    if (highest >= 0) return highest;
  }
  return highest_by_scan(hull, d);
}

}  // namespace lithe::internal
