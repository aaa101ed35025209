#include "lithe/collision/hull/merge.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <numeric>

#include "lithe/collision/hull/hull.h"
#include "lithe/core/internal/size_of.h"

namespace lithe::internal {
namespace {

using VertexRing = std::vector<int>;

void start_at_lowest(VertexRing& ring) {
  std::rotate(ring.begin(), std::min_element(ring.begin(), ring.end()), ring.end());
}

// Twice the area, along the normal.
Vec3 doubled_area(std::span<const Vec3> points, const VertexRing& ring) {
  Vec3 sum = Vec3::Zero();
  for (std::size_t k = 1; k + 1 < ring.size(); ++k) {
    sum += (points[ring[k]] - points[ring[0]]).cross(points[ring[k + 1]] - points[ring[0]]);
  }
  return sum;
}

double distance_to_segment(const Vec3& x, const Vec3& a, const Vec3& b) {
  const Vec3 along = b - a;
  const double length2 = along.squaredNorm();
  const double t = length2 > 0 ? std::clamp((x - a).dot(along) / length2, 0.0, 1.0) : 0.0;
  return (a + t * along - x).norm();
}

// Joins facets to regions.
class Regions {
 public:
  Regions(std::span<const Vec3> points, std::span<const HullFacet> facets, double tolerance)
      : points_(points), facets_(facets), tolerance_(tolerance), region_(facets.size(), -1) {
    for (const HullFacet& facet : facets) {
      rings_.push_back(facet.ring);
      area_.push_back(doubled_area(points, facet.ring).norm());
    }
    across_ = facets_across(rings_);
  }
  bool closed() const { return !across_.empty(); }

  // The outlines of all regions.
  std::vector<VertexRing> merge() {
    std::vector<VertexRing> outlines;
    std::vector<int> next(points_.size(), -1);
    for (const int seed : largest_first()) {
      if (region_[seed] < 0) regions_.push_back(grow(seed));
    }
    for (int r = 0; r < size_of(regions_); ++r) {
      VertexRing ring = outline(r, next);
      if (!ring.empty()) {
        outlines.push_back(std::move(ring));
        continue;
      }
      // Facets around a hole, or touching at a corner, cannot be one polygon: leave them as they are.
      for (const int f : regions_[r]) outlines.push_back(rings_[f]);
    }
    return outlines;
  }

 private:
  std::vector<int> largest_first() const {
    std::vector<VertexRing> key = rings_;
    for (VertexRing& ring : key) start_at_lowest(ring);
    std::vector<int> order(rings_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return area_[a] != area_[b] ? area_[a] > area_[b] : key[a] < key[b]; });
    return order;
  }

  bool belongs(int f, int s) const {
    const HullFacet &facet = facets_[f], &seed = facets_[s];
    if ((facet.normal - seed.normal).norm() <= kMergeAngle) return true;
    // A sliver must not turn the normal of the whole.
    if (facet.normal.dot(seed.normal) <= 0 || area_[f] > kMergeAngle * area_[s]) return false;
    return std::all_of(facet.ring.begin(), facet.ring.end(),
                       [&](int v) { return std::abs(seed.normal.dot(points_[v]) - seed.offset) <= tolerance_; });
  }

  std::vector<int> grow(int seed) {
    std::vector<int> members = {seed};
    region_[seed] = size_of(regions_);
    for (std::size_t k = 0; k < members.size(); ++k) {
      for (const int other : across_[members[k]]) {
        if (region_[other] >= 0 || !belongs(other, seed)) continue;
        region_[other] = region_[seed];
        members.push_back(other);
      }
    }
    return members;
  }

  // The edges of a region's facets towards other regions, linked to a ring; empty if they are not one simple loop.
  // `next` is −1 for every point before and after.
  VertexRing outline(int r, std::vector<int>& next) const {
    int edges = 0, start = size_of(points_);
    bool simple = true;
    for_outline_edges(r, [&](int from, int to) {
      simple = simple && next[from] < 0;
      next[from] = to;
      start = std::min(start, from);
      ++edges;
    });
    VertexRing ring;
    for (int at = start; simple && size_of(ring) < edges; at = next[at]) {
      ring.push_back(at);
      if (next[at] == start) break;
    }
    simple = simple && edges >= 3 && size_of(ring) == edges;
    for_outline_edges(r, [&](int from, int) { next[from] = -1; });
    return simple ? ring : VertexRing{};
  }

  template <class Visit>
  void for_outline_edges(int r, Visit visit) const {
    for (const int f : regions_[r]) {
      const VertexRing& ring = rings_[f];
      for (int k = 0; k < size_of(ring); ++k) {
        if (region_[across_[f][k]] != r) visit(ring[k], ring[(k + 1) % size_of(ring)]);
      }
    }
  }

  std::span<const Vec3> points_;
  std::span<const HullFacet> facets_;
  double tolerance_;
  std::vector<VertexRing> rings_;
  std::vector<double> area_;  // twice
  std::vector<std::vector<int>> across_;
  std::vector<int> region_;                // per facet
  std::vector<std::vector<int>> regions_;  // their facets
};

// Of the corners chain[first] … chain[last], marks those to keep so that no other is far from the line through them
// (Douglas and Peucker 1973).
void keep_bends(std::span<const Vec3> points, const VertexRing& chain, int first, int last,
                const MergeTolerance& tolerance, std::vector<char>& keep) {
  const Vec3 &a = points[chain[first]], &b = points[chain[last]];
  double farthest = std::clamp(kMergeAngle * (b - a).norm(), tolerance.distance, tolerance.largest_bend);
  int bend = -1;
  for (int k = first + 1; k < last; ++k) {
    const double distance = distance_to_segment(points[chain[k]], a, b);
    if (distance > farthest) {
      farthest = distance;
      bend = k;
    }
  }
  if (bend < 0) return;
  keep[chain[bend]] = true;
  keep_bends(points, chain, first, bend, tolerance, keep);
  keep_bends(points, chain, bend, last, tolerance, keep);
}

// Drops corners of a closed surface that are not needed.
class Simplifier {
 public:
  Simplifier(std::span<const Vec3> points, std::vector<VertexRing> rings, const MergeTolerance& tolerance)
      : points_(points), rings_(std::move(rings)), tolerance_(tolerance), frozen_(points.size(), false) {}

  // Until nothing changes: drops corners, then faces that have only two corners left.
  std::vector<VertexRing> simplify() {
    for (bool changed = true; changed;) {
      changed = false;
      if (!find_needed()) break;
      std::vector<VertexRing> next = rings_;
      for (VertexRing& ring : next) std::erase_if(ring, [&](int v) { return !keep_[v]; });
      if (freeze_distorted(next)) {
        changed = true;
        continue;
      }
      std::erase_if(next, [](const VertexRing& ring) { return ring.size() < 3; });
      changed = next != rings_;
      rings_ = std::move(next);
    }
    return std::move(rings_);
  }

 private:
  // Which points to keep: corners of three or more faces, and bends of the boundary between two. False if a boundary
  // has no corner at all, which means that there are only two faces.
  bool find_needed() {
    std::vector<int> count(points_.size(), 0);
    for (const VertexRing& ring : rings_) {
      for (const int v : ring) ++count[v];
    }
    const auto fixed = [&](int v) { return count[v] > 2 || frozen_[v]; };
    keep_.assign(points_.size(), false);
    for (const VertexRing& ring : rings_) {
      const auto corner = std::find_if(ring.begin(), ring.end(), fixed);
      if (corner == ring.end()) return false;
      // Pieces of the ring from one fixed corner to the next.
      const int n = size_of(ring), offset = static_cast<int>(corner - ring.begin());
      keep_[*corner] = true;
      VertexRing chain = {*corner};
      for (int k = 1; k <= n; ++k) {
        const int v = ring[(offset + k) % n];
        chain.push_back(v);
        if (!fixed(v)) continue;
        keep_[v] = true;
        // The two faces see the chain in opposite directions; both must come to the same conclusion.
        chain = std::min(chain, VertexRing(chain.rbegin(), chain.rend()));
        keep_bends(points_, chain, 0, size_of(chain) - 1, tolerance_, keep_);
        chain = {v};
      }
    }
    return true;
  }

  // On a face that is about as narrow as the tolerance, a small bend is large. Freezes the corners of faces that would
  // tilt by more than the merge angle, or lose a hundredth of their area, unless they vanish. True if there are any.
  bool freeze_distorted(const std::vector<VertexRing>& next) {
    bool any = false;
    for (std::size_t f = 0; f < rings_.size(); ++f) {
      if (next[f].size() == rings_[f].size() || next[f].size() < 3) continue;
      const Vec3 before = doubled_area(points_, rings_[f]), after = doubled_area(points_, next[f]);
      const double tilt = (after.normalized() - before.normalized()).norm();
      if (tilt <= kMergeAngle && (after - before).norm() <= 0.01 * before.norm()) continue;
      for (const int v : rings_[f]) frozen_[v] = true;
      any = true;
    }
    return any;
  }

  std::span<const Vec3> points_;
  std::vector<VertexRing> rings_;
  MergeTolerance tolerance_;
  std::vector<char> frozen_;  // per point: must stay
  std::vector<char> keep_;
};

}  // namespace

std::vector<std::vector<int>> merge_facets(std::span<const Vec3> points, std::span<const HullFacet> facets,
                                           const MergeTolerance& tolerance) {
  Regions regions(points, facets, tolerance.distance);
  if (!regions.closed()) return {};
  std::vector<VertexRing> rings = regions.merge();
  std::vector<VertexRing> simple = Simplifier(points, rings, tolerance).simplify();
  // Dropping corners could, for a pathological bundle of slivers, let four faces meet at one edge or leave no volume;
  // then keep them.
  if (simple.size() >= 4 && !facets_across(simple).empty()) rings = std::move(simple);
  for (VertexRing& ring : rings) start_at_lowest(ring);
  std::sort(rings.begin(), rings.end());
  return rings;
}

}  // namespace lithe::internal
