#include "lithe/collision/simplify/simplify.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <queue>
#include <tuple>

#include "lithe/collision/distance/nearest_simplex.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/core/infinity.h"
#include "lithe/core/internal/size_of.h"
#include "lithe/simd/lanes.h"

namespace lithe::internal {
namespace {

// Relative to the size of the bounds.
constexpr double kTwinUnit = 1e-5;      // mirror images agree in whole multiples of this
constexpr double kExtremeSlack = 1e-6;  // vertices within this of an extreme are equally good

// A part is flat that is flat to a share of the tolerance, and large by its share of the surface. It need not be a
// facet: soles are bumpy by tenths of a millimetre.
constexpr double kFlatShare = 0.25;
constexpr double kCapArea = 0.05;
constexpr int kMostCapFacets = 40;
constexpr double kSameCapCosine = 0.99619;  // 5°

// What decides between nearly equal distances is the order of the vertices, not rounding.
constexpr double kQuantum = 1e-4;  // of the tolerance

// The hull of points that are added one by one, asked for its distance from others.
class GrowingHull {
 public:
  int count() const { return size_of(points_.vertices); }

  void add(const Vec3& p) {
    const int i = count();
    points_.vertices.push_back(p);
    for (auto [buffer, axis] : {std::pair(&points_.x, 0), std::pair(&points_.y, 1), std::pair(&points_.z, 2)}) {
      if (i == size_of(*buffer)) buffer->resize(i + kLanes, points_.vertices[0][axis]);
      (*buffer)[i] = p[axis];
    }
  }

  // An upper bound of the distance of x: of a point of the hull that GJK (gjk.h) has come to. It goes on until the
  // bound is at most `enough` or within `precision` of the distance. `near` is where it ended the last time.
  struct Near {
    std::array<int, 3> vertex = {-1, -1, -1};
  };
  double distance(const Vec3& x, double enough, double precision, Near& near) const {
    DifferenceVertex simplex[4];
    int size = 0;
    for (const int v : near.vertex) {
      if (v >= 0) simplex[size++] = difference(x, v);
    }
    if (size == 0) simplex[size++] = difference(x, support_vertex(points_, x));
    Nearest nearest = nearest_of_simplex(simplex, size);
    double norm = kInfinity;
    for (int iteration = 0; iteration < 64; ++iteration) {
      const double next = std::sqrt(nearest.squared_norm);
      if (!(next < norm)) break;  // rounding is all that is left
      norm = next;
      for (int k = 0; k < nearest.count; ++k) simplex[k] = simplex[nearest.index[k]];
      size = nearest.count;
      if (norm <= enough || size == 4) break;
      const Vec3 u = nearest.point / norm;
      const DifferenceVertex lowest = difference(x, support_vertex(points_, u));
      if (norm - u.dot(lowest.w) <= precision) break;
      simplex[size++] = lowest;
      nearest = nearest_of_simplex(simplex, size);
    }
    near = {};
    for (int k = 0; k < std::min(size, 3); ++k) near.vertex[k] = simplex[k].b;
    return norm;
  }

 private:
  DifferenceVertex difference(const Vec3& x, int v) const { return {x - points_.vertices[v], 0, v}; }

  Hull points_;  // vertices and packs only, which is all that support_vertex() needs of a small one
};

// Points in an order that does not depend on how they came: from the outside in, seen from the middle of their bounds,
// mirror images side by side.
struct OrderedPoints {
  std::vector<Vec3> at;
  std::vector<int> number;      // in the order that they came in
  std::vector<int> first_twin;  // where the points begin that have the same distances from the three middle planes
  double size = 0;
  Vec3 centre = Vec3::Zero();

  explicit OrderedPoints(std::span<const Vec3> points) {
    Vec3 low = Vec3::Constant(kInfinity), high = Vec3::Constant(-kInfinity);
    for (const Vec3& p : points) {
      low = low.cwiseMin(p);
      high = high.cwiseMax(p);
    }
    centre = 0.5 * (low + high);
    size = (high - low).norm();
    const double unit = std::max(kTwinUnit * size, 1e-300);
    std::vector<std::array<long, 3>> key(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (int k = 0; k < 3; ++k) key[i][k] = std::lround(std::abs(points[i][k] - centre[k]) / unit);
    }
    number.resize(points.size());
    std::iota(number.begin(), number.end(), 0);
    std::sort(number.begin(), number.end(), [&](int a, int b) {
      if (key[a] != key[b]) return key[a] > key[b];
      const Vec3 &p = points[a], &q = points[b];
      return std::tie(p.x(), p.y(), p.z(), a) < std::tie(q.x(), q.y(), q.z(), b);
    });
    at.reserve(points.size());
    for (const int i : number) at.push_back(points[i]);
    first_twin.resize(points.size());
    for (int i = 0; i < size_of(number); ++i) {
      const bool twin = i > 0 && key[number[i]] == key[number[i - 1]];
      first_twin[i] = twin ? first_twin[i - 1] : i;
    }
  }

  int octant(int i) const {
    const Vec3 d = at[i] - centre;
    return (d.x() < 0 ? 1 : 0) | (d.y() < 0 ? 2 : 0) | (d.z() < 0 ? 4 : 0);
  }
};

class HullSimplifier {
 public:
  HullSimplifier(std::span<const Vec3> points, double tolerance, int most)
      : points_(points), tolerance_(tolerance), most_(most), kept_(points.size(), false) {}

  void keep_extremes(const std::array<Vec3, 3>& axes) {
    for (const Vec3& axis : axes) {
      for (const double sign : {1.0, -1.0}) keep_extreme(all(), sign * axis);
    }
  }

  // The outlines of flat parts, seen along their normals.
  void keep_caps(std::span<const HullFacet> facets, std::span<const Vec3> vertices) {
    for (const Cap& cap : find_caps(facets, vertices)) {
      std::vector<Vec3> flat;
      for (const int i : cap.points) flat.push_back(points_.at[i] - cap.normal.dot(points_.at[i]) * cap.normal);
      // Across the axis that the normal is farthest from.
      Eigen::Index axis;
      cap.normal.cwiseAbs().minCoeff(&axis);
      const Vec3 across = cap.normal.cross(Vec3::Unit(axis)).normalized(), along = across.cross(cap.normal);
      for (const Vec3& d : {along, across}) {
        for (const double sign : {1.0, -1.0}) keep_extreme(cap.points, sign * d);
      }
      cover(cap.points, flat);
    }
  }

  // Until no point is farther than the tolerance; how far they are at most.
  double cover_all() { return cover(all(), points_.at); }

  KeptVertices result(double error) const {
    KeptVertices result;
    for (int i = 0; i < size_of(kept_); ++i) {
      if (kept_[i]) result.kept.push_back(points_.number[i]);
    }
    std::sort(result.kept.begin(), result.kept.end());
    result.error = error;
    return result;
  }

 private:
  struct Cap {
    Vec3 normal;
    std::vector<int> points;
    double area;
  };

  std::vector<int> all() const {
    std::vector<int> indices(points_.at.size());
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
  }

  void keep(int i) {
    kept_count_ += kept_[i] ? 0 : 1;
    kept_[i] = true;
  }

  // A point's mirror images, one in each octant, and the point itself.
  std::vector<int> twins_of(int i) const {
    std::vector<int> twins = {i};
    unsigned seen = 1U << points_.octant(i);
    const int first = points_.first_twin[i];
    for (int j = first; j < size_of(points_.at) && points_.first_twin[j] == first; ++j) {
      const unsigned octant = 1U << points_.octant(j);
      if (seen & octant) continue;
      seen |= octant;
      twins.push_back(j);
    }
    return twins;
  }

  void keep_extreme(const std::vector<int>& among, const Vec3& d) {
    double highest = -kInfinity;
    for (const int i : among) highest = std::max(highest, d.dot(points_.at[i]));
    const auto extreme = [&](int i) { return d.dot(points_.at[i]) >= highest - kExtremeSlack * points_.size; };
    const int first = *std::find_if(among.begin(), among.end(), extreme);
    for (const int i : twins_of(first)) {
      if (extreme(i)) keep(i);
    }
  }

  // Keeps points (and their twins, if they are among them) until all are within the tolerance of the hull of those
  // kept, where point among[k] is at at[k]. Returns how far they are at most.
  double cover(const std::vector<int>& among, const std::vector<Vec3>& at) {
    struct Candidate {
      double bound;  // of its distance, from above: the hull only grows
      int place;     // in `among`
      int as_of;     // how many were kept then
      bool operator<(const Candidate& other) const {
        return std::tie(bound, other.place) < std::tie(other.bound, place);
      }
    };
    const double quantum = std::max(kQuantum * tolerance_, 1e-13 * points_.size);
    GrowingHull hull;
    std::vector<int> place_of(points_.at.size(), -1);
    std::vector<Candidate> waiting;
    for (int k = 0; k < size_of(among); ++k) {
      place_of[among[k]] = k;
      if (kept_[among[k]]) hull.add(at[k]);
    }
    for (int k = 0; k < size_of(among); ++k) {
      if (!kept_[among[k]]) waiting.push_back({kInfinity, k, -1});
    }
    std::vector<GrowingHull::Near> near(among.size());
    std::priority_queue<Candidate> queue({}, std::move(waiting));
    while (!queue.empty()) {
      const Candidate top = queue.top();
      queue.pop();
      if (kept_[among[top.place]]) continue;
      if (top.as_of != hull.count()) {
        const double distance = hull.distance(at[top.place], tolerance_, quantum, near[top.place]);
        if (distance <= tolerance_) continue;
        queue.push({std::floor(distance / quantum) * quantum, top.place, hull.count()});
        continue;
      }
      std::vector<int> twins = twins_of(among[top.place]);
      std::erase_if(twins, [&](int i) { return place_of[i] < 0 || kept_[i]; });
      if (kept_count_ + size_of(twins) > most_) return top.bound + quantum;
      for (const int i : twins) {
        keep(i);
        hull.add(at[place_of[i]]);
      }
    }
    return tolerance_;
  }

  std::vector<Cap> find_caps(std::span<const HullFacet> facets, std::span<const Vec3> vertices) const {
    std::vector<std::pair<double, Vec3>> by_area;
    double surface = 0;
    for (const HullFacet& facet : facets) {
      Vec3 doubled = Vec3::Zero();
      const Vec3& origin = vertices[facet.ring[0]];
      for (std::size_t k = 1; k + 1 < facet.ring.size(); ++k) {
        doubled += (vertices[facet.ring[k]] - origin).cross(vertices[facet.ring[k + 1]] - origin);
      }
      const double area = 0.5 * doubled.norm();
      surface += area;
      by_area.emplace_back(area, facet.normal);
    }
    // Equal areas, as of mirror images and regular bodies, are equal up to rounding only.
    const auto larger = [&](double a, const Vec3& n, double b, const Vec3& m) {
      const double unit = 1e-6 * surface;
      const auto key = [&](double area, const Vec3& d) {
        const Vec3 c = (d.cwiseAbs() * 1e6).array().round();
        return std::tuple(std::round(area / unit), c.x(), c.y(), c.z(), d.x(), d.y(), d.z());
      };
      return key(a, n) > key(b, m);
    };
    const int most = std::min(kMostCapFacets, size_of(by_area));
    std::partial_sort(by_area.begin(), by_area.begin() + most, by_area.end(),
                      [&](const auto& a, const auto& b) { return larger(a.first, a.second, b.first, b.second); });

    std::vector<Cap> found;
    for (int axis = 0; axis < 3; ++axis) {
      for (const double sign : {1.0, -1.0}) add_cap(sign * Vec3::Unit(axis), surface, found);
    }
    for (int k = 0; k < most; ++k) add_cap(by_area[k].second, surface, found);
    std::sort(found.begin(), found.end(),
              [&](const Cap& a, const Cap& b) { return larger(a.area, a.normal, b.area, b.normal); });
    std::vector<Cap> caps;
    for (Cap& cap : found) {
      const bool known = std::any_of(caps.begin(), caps.end(),
                                     [&](const Cap& c) { return c.normal.dot(cap.normal) > kSameCapCosine; });
      if (!known) caps.push_back(std::move(cap));
    }
    return caps;
  }

  void add_cap(const Vec3& normal, double surface, std::vector<Cap>& found) const {
    double highest = -kInfinity;
    for (const Vec3& p : points_.at) highest = std::max(highest, normal.dot(p));
    Cap cap{normal, {}, 0};
    std::vector<Vec3> at;
    for (int i = 0; i < size_of(points_.at); ++i) {
      if (normal.dot(points_.at[i]) <= highest - kFlatShare * tolerance_) continue;
      cap.points.push_back(i);
      at.push_back(points_.at[i]);
    }
    if (cap.points.size() < 3) return;
    cap.area = outline_along(at, normal).area;
    if (cap.area >= kCapArea * surface) found.push_back(std::move(cap));
  }

  OrderedPoints points_;
  double tolerance_;
  int most_;
  std::vector<char> kept_;
  int kept_count_ = 0;
};

}  // namespace

KeptVertices simplify_vertices(std::span<const Vec3> vertices, std::span<const HullFacet> facets, double tolerance,
                               int most) {
  HullSimplifier simplifier(vertices, tolerance, most);
  simplifier.keep_extremes({Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()});
  simplifier.keep_caps(facets, vertices);
  return simplifier.result(simplifier.cover_all());
}

KeptVertices simplify_outline(std::span<const Vec3> points, const Vec3& normal, double tolerance, int most) {
  const Outline outline = outline_along(points, normal);
  std::vector<Vec3> flat;
  for (const int i : outline.corners) flat.push_back(points[i] - normal.dot(points[i]) * normal);
  HullSimplifier simplifier(flat, tolerance, most);
  simplifier.keep_extremes({Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()});
  KeptVertices result = simplifier.result(simplifier.cover_all());
  for (int& i : result.kept) i = outline.corners[i];
  std::sort(result.kept.begin(), result.kept.end());
  return result;
}

// Andrew's monotone chain (1979).
Outline outline_along(std::span<const Vec3> points, const Vec3& normal) {
  Eigen::Index axis;
  normal.cwiseAbs().minCoeff(&axis);
  const Vec3 e = normal.cross(Vec3::Unit(axis)).normalized(), f = normal.cross(e);
  struct Corner {
    double x, y;
    int number;
  };
  std::vector<Corner> sorted;
  sorted.reserve(points.size());
  for (int i = 0; i < size_of(points); ++i) sorted.push_back({e.dot(points[i]), f.dot(points[i]), i});
  std::sort(sorted.begin(), sorted.end(), [](const Corner& a, const Corner& b) {
    return std::tie(a.x, a.y, a.number) < std::tie(b.x, b.y, b.number);
  });
  // Twice the area of the triangle, positive if it turns left.
  const auto turn = [](const Corner& a, const Corner& b, const Corner& c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  };
  std::vector<Corner> chain;
  const auto run = [&](auto begin, auto end) {
    const std::size_t start = chain.size();
    for (auto corner = begin; corner != end; ++corner) {
      while (chain.size() >= start + 2 && turn(chain[chain.size() - 2], chain.back(), *corner) <= 0) chain.pop_back();
      chain.push_back(*corner);
    }
    chain.pop_back();  // where the other one begins
  };
  if (sorted.size() < 3) return {};
  run(sorted.begin(), sorted.end());
  run(sorted.rbegin(), sorted.rend());
  Outline outline;
  for (std::size_t k = 1; k + 1 < chain.size(); ++k) outline.area += 0.5 * turn(chain[0], chain[k], chain[k + 1]);
  for (const Corner& corner : chain) outline.corners.push_back(corner.number);
  return outline;
}

}  // namespace lithe::internal
