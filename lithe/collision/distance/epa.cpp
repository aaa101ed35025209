#include "lithe/collision/distance/epa.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>

#include "lithe/core/check.h"
#include "lithe/core/internal/size_of.h"

namespace lithe::internal {
namespace {

using Facet = EpaScratch::Facet;
using EpaSide = EpaScratch::Side;

constexpr int kMaxVertices = 512;
constexpr int kMaxSeeds = 32;
// Relative to the size of the numbers: a vertex that is no farther out than this adds nothing, and a facet that the new
// vertex lies in or above, up to this, is replaced, so that no facet ever has three vertices on a line.
constexpr double kNothingBeyond = 1e-12;
constexpr double kInPlane = 1e-14;
// D is flat if it is thinner than this.
constexpr double kFlatFacet = 1e-12;
// A simplex thinner than this is a poor start.
constexpr double kSmallStart = 1e-6;

int next(int k) { return k == 2 ? 0 : k + 1; }

class Expansion {
 public:
  Expansion(const Core& a, const Core& b, const Pose& X_BA, double band, EpaScratch& scratch)
      : difference_(a, b, X_BA), size_(difference_.size()), band_(band), s_(scratch) {
    s_.seeds.clear();
    s_.vertices.clear();
    s_.facets.clear();
    s_.queue.clear();
  }

  EpaStatus run(const GjkResult& start);

 private:
  DifferenceVertex farthest(const Vec3& d) {
    latest_ = difference_.lowest(-d, latest_);
    return latest_;
  }
  template <class Measure>
  bool widen(const GjkResult& start, std::initializer_list<Vec3> directions, Measure measure);
  bool make_tetrahedron(const GjkResult& start);
  void flat_seeds();

  int add_facet(int i, int j, int k);
  void link(int facet, int side, int other, int other_side);
  void find_horizon(int facet, const Vec3& w);
  bool grow(int facet, const DifferenceVertex& w);

  bool is_known(const DifferenceVertex& w) const;
  bool near_a_seed(const Vec3& n) const;
  void add_seed(const Vec3& outward, const DifferenceVertex& w);
  EpaStatus expand();

  MinkowskiDifference difference_;
  double size_, band_;
  EpaScratch& s_;
  DifferenceVertex latest_{Vec3::Zero(), 0, 0};
  Vec3 flat_normal_ = Vec3::UnitZ();
  double best_ = -std::numeric_limits<double>::infinity();  // sep of the best seed
};

// Adds the vertex of D that measures most: one of gjk()'s simplex, or, if they are all small, one that is farthest along
// one of the directions (both ways). False if D itself measures nothing.
template <class Measure>
bool Expansion::widen(const GjkResult& start, std::initializer_list<Vec3> directions, Measure measure) {
  double most = 0;
  DifferenceVertex best = start.simplex[0];
  const auto offer = [&](const DifferenceVertex& w) {
    const double value = measure(w.w);
    if (value > most) {
      most = value;
      best = w;
    }
  };
  for (int k = 1; k < start.count; ++k) offer(start.simplex[k]);
  if (!(most > kSmallStart * size_)) {
    for (const Vec3& d : directions) {
      offer(farthest(d));
      offer(farthest(-d));
    }
  }
  s_.vertices.push_back(best);
  return most > kFlatFacet * size_;
}

// Four vertices of D that are not in a plane. gjk()'s simplex holds the origin, but may be flat: its vertices are taken
// while they add a dimension, and the others where D extends.
bool Expansion::make_tetrahedron(const GjkResult& start) {
  s_.vertices.push_back(start.simplex[0]);
  const Vec3 origin = start.simplex[0].w;
  const auto from_point = [&](const Vec3& w) { return (w - origin).norm(); };
  if (!widen(start, {Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()}, from_point)) return false;

  const Vec3 e = (s_.vertices[1].w - origin).normalized();
  const Vec3 across = e.unitOrthogonal();
  flat_normal_ = across;
  const auto from_line = [&](const Vec3& w) { return e.cross(w - origin).norm(); };
  if (!widen(start, {across, e.cross(across)}, from_line)) return false;

  const Vec3 normal = e.cross(s_.vertices[2].w - origin).normalized();
  flat_normal_ = normal;
  const auto from_plane = [&](const Vec3& w) { return std::abs(normal.dot(w - origin)); };
  if (!widen(start, {normal}, from_plane)) return false;

  // The fourth lies below the plane of the others, so these are counter-clockwise seen from outside.
  if (normal.dot(s_.vertices[3].w - origin) > 0) std::swap(s_.vertices[1], s_.vertices[2]);
  return true;
}

void Expansion::flat_seeds() {
  for (const double sign : {1.0, -1.0}) {
    const Vec3 outward = sign * flat_normal_;
    add_seed(outward, farthest(outward));
  }
}

int Expansion::add_facet(int i, int j, int k) {
  const Vec3& w = s_.vertices[i].w;
  const Vec3 e = s_.vertices[j].w - w, f = s_.vertices[k].w - w;
  const Vec3 normal = e.cross(f);
  const double norm = normal.norm();
  Facet facet;
  facet.vertex[0] = i;
  facet.vertex[1] = j;
  facet.vertex[2] = k;
  facet.alive = true;
  // No direction can be read off a needle: it waits until a neighbour swallows it.
  const bool needle = !(norm > kInPlane * (e.norm() + f.norm()) * size_);
  facet.normal = needle ? Vec3(Vec3::Zero()) : Vec3(normal / norm);
  facet.offset = needle ? std::numeric_limits<double>::infinity() : facet.normal.dot(w);
  const int number = size_of(s_.facets);
  s_.facets.push_back(facet);
  if (!needle) {
    s_.queue.emplace_back(facet.offset, number);
    std::push_heap(s_.queue.begin(), s_.queue.end(), std::greater<>());
  }
  return number;
}

void Expansion::link(int facet, int side, int other, int other_side) {
  s_.facets[facet].neighbour[side] = other;
  s_.facets[facet].neighbour_side[side] = other_side;
  s_.facets[other].neighbour[other_side] = facet;
  s_.facets[other].neighbour_side[other_side] = side;
}

// Removes the facets that w sees, from `facet` on, and lists the sides around the hole, each as the remaining facet
// and its side, in order. Depth first and always on to the next side, so that the list is a closed walk.
void Expansion::find_horizon(int facet, const Vec3& w) {
  s_.horizon.clear();
  s_.stack.clear();
  s_.facets[facet].alive = false;
  for (const int side : {2, 1, 0}) {
    s_.stack.push_back({s_.facets[facet].neighbour[side], s_.facets[facet].neighbour_side[side]});
  }
  while (!s_.stack.empty()) {
    const EpaSide entry = s_.stack.back();
    s_.stack.pop_back();
    Facet& seen = s_.facets[entry.facet];
    if (!seen.alive) continue;
    const bool needle = std::isinf(seen.offset);
    if (!needle && seen.normal.dot(w) - seen.offset < -kInPlane * size_) {
      s_.horizon.push_back(entry);
      continue;
    }
    seen.alive = false;
    const int first = next(entry.side), second = next(first);
    s_.stack.push_back({seen.neighbour[second], seen.neighbour_side[second]});
    s_.stack.push_back({seen.neighbour[first], seen.neighbour_side[first]});
  }
}

// Replaces what w sees by a fan around w; false if rounding left no hole that a fan closes.
bool Expansion::grow(int facet, const DifferenceVertex& w) {
  find_horizon(facet, w.w);
  const int sides = size_of(s_.horizon);
  if (sides < 3) return false;
  // The remaining facet runs its side from i to j, the new one from j to i.
  const auto from = [&](const EpaSide& side) { return s_.facets[side.facet].vertex[next(side.side)]; };
  const auto to = [&](const EpaSide& side) { return s_.facets[side.facet].vertex[side.side]; };
  for (int k = 0; k < sides; ++k) {
    const EpaSide &side = s_.horizon[k], &following = s_.horizon[k + 1 < sides ? k + 1 : 0];
    if (to(side) != from(following)) return false;
  }
  const int tip = size_of(s_.vertices);
  s_.vertices.push_back(w);
  const int first = size_of(s_.facets);
  for (int k = 0; k < sides; ++k) {
    const EpaSide side = s_.horizon[k];
    const int fresh = add_facet(from(side), to(side), tip);
    link(fresh, 0, side.facet, side.side);
    if (k > 0) link(fresh - 1, 1, fresh, 2);
  }
  link(first + sides - 1, 1, first, 2);
  return true;
}

bool Expansion::is_known(const DifferenceVertex& w) const {
  return std::any_of(s_.vertices.begin(), s_.vertices.end(),
                     [&](const DifferenceVertex& v) { return v.a == w.a && v.b == w.b; });
}

bool Expansion::near_a_seed(const Vec3& n) const {
  return std::any_of(s_.seeds.begin(), s_.seeds.end(),
                     [&](const EpaSeed& seed) { return (seed.n - n).squaredNorm() < kSameDirection * kSameDirection; });
}

void Expansion::add_seed(const Vec3& outward, const DifferenceVertex& w) {
  const double sep = -outward.dot(w.w);
  const auto deeper = [](double value, const EpaSeed& seed) { return value > seed.sep; };
  s_.seeds.insert(std::upper_bound(s_.seeds.begin(), s_.seeds.end(), sep, deeper), {-outward, sep, w.a, w.b});
  best_ = std::max(best_, sep);
}

EpaStatus Expansion::expand() {
  while (!s_.queue.empty()) {
    std::pop_heap(s_.queue.begin(), s_.queue.end(), std::greater<>());
    const auto [offset, number] = s_.queue.back();
    s_.queue.pop_back();
    if (!s_.facets[number].alive) continue;
    if (-offset < best_ - band_) return EpaStatus::converged;
    const Vec3 outward = s_.facets[number].normal;
    if (near_a_seed(-outward)) continue;
    const DifferenceVertex w = farthest(outward);
    if (outward.dot(w.w) - offset <= kNothingBeyond * size_ || is_known(w)) {
      add_seed(outward, w);
      if (size_of(s_.seeds) == kMaxSeeds) return EpaStatus::stopped;
      continue;
    }
    if (size_of(s_.vertices) == kMaxVertices || !grow(number, w)) {
      add_seed(outward, w);
      return EpaStatus::stopped;
    }
  }
  return EpaStatus::converged;
}

EpaStatus Expansion::run(const GjkResult& start) {
  LITHE_ASSERT(start.count >= 1);
  latest_ = start.simplex[0];
  EpaStatus status = EpaStatus::flat;
  if (make_tetrahedron(start)) {
    for (const auto& [i, j, k] : {std::array{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}}) add_facet(i, j, k);
    link(0, 0, 1, 2);
    link(0, 1, 2, 2);
    link(0, 2, 3, 2);
    link(1, 1, 2, 0);
    link(2, 1, 3, 0);
    link(3, 1, 1, 0);
    status = expand();
  }
  if (s_.seeds.empty()) flat_seeds();
  const auto in_band = [&](const EpaSeed& seed) { return seed.sep >= best_ - band_; };
  s_.seeds.erase(std::find_if_not(s_.seeds.begin(), s_.seeds.end(), in_band), s_.seeds.end());
  return status;
}

}  // namespace

EpaStatus epa(const Core& a, const Core& b, const Pose& X_BA, const GjkResult& start, double band,
              EpaScratch& scratch) {
  return Expansion(a, b, X_BA, band, scratch).run(start);
}

}  // namespace lithe::internal
