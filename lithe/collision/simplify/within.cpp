// Hulls within a tolerance: what is kept is chosen (hull_simplify.h), its hull is built as any other is, and all points
// of the mesh are measured against the finished hull. The last number is what counts; if it is too large, more is kept.
#include <Eigen/Geometry>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <tuple>

#include "lithe/collision/distance/point_hull.h"
#include "lithe/collision/hull/cloud.h"
#include "lithe/collision/hull/exact.h"
#include "lithe/collision/hull/facets.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/collision/simplify/outer.h"
#include "lithe/collision/simplify/simplify.h"
#include "lithe/core/check.h"
#include "lithe/core/internal/size_of.h"

namespace lithe::internal {
namespace {

constexpr double kShareOfLargeSize = 5e-4;  // see HullTolerance
constexpr double kShareOfWidth = 0.1;
constexpr int kThinAbove = 10'000;  // points: qhull takes some 10 µs for each, if all are vertices
constexpr int kMostRounds = 8;
// Leaves room for rounding, and for what merging faces costs.
constexpr double kCareful = 0.99;

std::atomic<std::uint64_t> built_hulls{0};

void check(const HullTolerance& tolerance) {
  LITHE_CHECK(std::isfinite(tolerance.absolute) && std::isfinite(tolerance.relative) && tolerance.absolute >= 0 &&
                  tolerance.relative >= 0,
              "a hull's tolerance is {} m and {} of its size; neither may be negative or infinite", tolerance.absolute,
              tolerance.relative);
}

double allowed_error(const HullTolerance& tolerance, double size, double width) {
  const double absolute = std::max(tolerance.absolute, kShareOfLargeSize * size);
  return std::min({absolute, tolerance.relative * size, kShareOfWidth * width});
}

// How far a point is from a hull, 0 inside.
double distance_outside(const Hull& hull, const Vec3& p) {
  const FaceBound bound = best_face(hull, p, Vec3::Zero());
  return bound.s > 0 ? nearest_on_hull(hull, p, bound, 0).distance : 0;
}

// A mesh while its hull is simplified.
class HullWithin {
 public:
  HullWithin(std::span<const Vec3> points, const std::string& name, const HullTolerance& tolerance)
      : points_(points), name_(name), tolerance_(tolerance), cloud_(measure_cloud(points, name)) {}

  HullResult build(int most) {
    outer_ = outer_points(points_, cloud_);
    find_thickness(at(outer_));
    if (is_flat()) return build_flat(most);

    sources_ = sorted(is_thinned() ? thinned_points(points_, outer_, cloud_) : outer_);
    find_vertices();
    const double wide = allowed_error(tolerance_, cloud_.size, kInfinity);
    // The width is at least a fifth of that thickness.
    double target = kShareOfWidth * thickness_ / 5 >= wide ? wide : allowed_error(tolerance_, cloud_.size, width());
    for (int round = 1;; ++round) {
      const KeptVertices kept = simplify_vertices(vertices_, facets_, kCareful * target / cloud_.size, most);
      HullResult result = finished(originals(kept.kept));
      const bool full = kept.error > target / cloud_.size;
      if (result.error <= result.tolerance || full || round == kMostRounds)
        return with_warning(std::move(result), most);
      if (!add_missing(result.hull, target)) target = std::min(0.7 * target, kCareful * result.tolerance);
    }
  }

  // The hull of some points, measured against all; throws where they have none.
  HullResult finished(const std::vector<int>& kept) const {
    HullResult result = *exact_hull(at(kept), name_);
    result.kept = kept;
    for (const Vec3& p : points_) result.error = std::max(result.error, distance_outside(result.hull, p));
    result.exact_vertices = exact_vertices_;
    result.tolerance = allowed_error(tolerance_, cloud_.size, is_flat() ? plane_.breadth : result.hull.width);
    return result;
  }

  void find_thickness(std::span<const Vec3> points) {
    plane_ = widest_plane(points, cloud_, name_);
    thickness_ = slab_of(points, cloud_.centre, plane_.normal).thickness();
  }

 private:
  // Points in a plane become a plate of the smallest thickness, whatever their outline: only that may deviate, and what
  // counts is how broad it is.
  bool is_flat() const { return thickness_ < cloud_.thinnest; }
  bool is_thinned() const { return size_of(outer_) > kThinAbove; }

  std::vector<Vec3> at(const std::vector<int>& numbers) const {
    std::vector<Vec3> result;
    result.reserve(numbers.size());
    for (const int i : numbers) result.push_back(points_[i]);
    return result;
  }

  // Distinct ones of `numbers`, sorted by their coordinates, so that the order in the mesh does not matter.
  std::vector<int> sorted(std::vector<int> numbers) const {
    std::sort(numbers.begin(), numbers.end(), [&](int i, int j) {
      const Vec3 &a = points_[i], &b = points_[j];
      return std::tie(a.x(), a.y(), a.z(), i) < std::tie(b.x(), b.y(), b.z(), j);
    });
    return distinct_among(points_, numbers, cloud_);
  }

  // The vertices of the hull of the sources, and its facets, all around the origin with size 1.
  void find_vertices() {
    std::vector<Vec3> scaled;
    for (const Vec3& p : at(sources_)) scaled.push_back((p - cloud_.centre) / cloud_.size);
    vertices_.clear();
    numbers_.clear();
    try {
      facets_ = hull_facets(scaled, name_);
    } catch (const Error&) {
      // Without facets, every point is as good as a vertex.
      facets_.clear();
      vertices_ = std::move(scaled);
      numbers_ = sources_;
      exact_vertices_ = size_of(outer_);
      return;
    }
    std::vector<int> number(scaled.size(), -1);
    for (HullFacet& facet : facets_) {
      for (int& corner : facet.ring) {
        if (number[corner] < 0) {
          number[corner] = size_of(vertices_);
          vertices_.push_back(scaled[corner]);
          numbers_.push_back(sources_[corner]);
        }
        corner = number[corner];
      }
    }
    std::erase_if(facets_, [](const HullFacet& facet) { return facet.ring.size() < 3; });
    exact_vertices_ = is_thinned() ? size_of(outer_) : size_of(vertices_);
  }

  // The smallest extent along a facet's normal.
  double width() const {
    double smallest = 1;
    for (const HullFacet& facet : facets_) {
      double extent = 0;
      for (const Vec3& v : vertices_) {
        extent = std::max(extent, facet.offset - facet.normal.dot(v));
        if (extent >= smallest) break;
      }
      smallest = std::min(smallest, extent);
    }
    return smallest * cloud_.size;
  }

  HullResult build_flat(int most) {
    numbers_ = sources_ = sorted(outer_);
    std::vector<Vec3> scaled;
    for (const Vec3& p : at(sources_)) scaled.push_back((p - cloud_.centre) / cloud_.size);
    exact_vertices_ = size_of(outline_along(scaled, plane_.normal).corners);
    double target = allowed_error(tolerance_, cloud_.size, plane_.breadth);
    for (int round = 1;; ++round) {
      const KeptVertices kept =
          simplify_outline(scaled, plane_.normal, kCareful * target / cloud_.size, most / 2);  // on either side
      HullResult result = finished(originals(kept.kept));
      const bool full = kept.error > target / cloud_.size;
      if (result.error <= result.tolerance || full || round == kMostRounds)
        return with_warning(std::move(result), most);
      target *= 0.7;
    }
  }

  // The points of the mesh that were kept, and at least four, which is what a shape needs.
  std::vector<int> originals(const std::vector<int>& kept) const {
    std::vector<int> result;
    for (const int i : kept) result.push_back(numbers_[i]);
    for (const int i : sources_) {
      if (result.size() >= 4) break;
      if (std::find(result.begin(), result.end(), i) == result.end()) result.push_back(i);
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  // Points that were thinned away, but stand out of the hull by more than `most`, become sources; true if there are any.
  bool add_missing(const Hull& hull, double most) {
    if (!is_thinned()) return false;
    std::vector<int> missing = sources_;
    for (const int i : outer_) {
      if (distance_outside(hull, points_[i]) > most) missing.push_back(i);
    }
    missing = sorted(std::move(missing));
    if (missing.size() == sources_.size()) return false;
    sources_ = std::move(missing);
    find_vertices();
    return true;
  }

  HullResult with_warning(HullResult result, int most) const {
    if (result.error <= result.tolerance) return result;
    result.warnings.push_back(
        fmt::format("mesh '{}': its convex hull has {} vertices, of which {} are kept (at most {}); what collides lies "
                    "up to {:.3g} m "
                    "inside it, where {:.3g} m are allowed; simplify the mesh or split it",
                    name_, exact_vertices_, result.kept.size(), most, result.error, result.tolerance));
    return result;
  }

  std::span<const Vec3> points_;
  const std::string& name_;
  HullTolerance tolerance_;
  Cloud cloud_;  // its sizes only
  WidestPlane plane_ = {};
  double thickness_ = 0;  // along its normal
  std::vector<int> outer_;
  std::vector<int> sources_;    // those of `outer_` that qhull is given
  std::vector<Vec3> vertices_;  // of their hull
  std::vector<int> numbers_;    // of the vertices, in the mesh
  std::vector<HullFacet> facets_;
  int exact_vertices_ = 0;
};

}  // namespace

HullResult build_hull(std::span<const Vec3> points, const std::string& name, const HullTolerance& tolerance) {
  check(tolerance);
  ++built_hulls;
  const bool exact = tolerance.relative == 0;
  if (!exact) return HullWithin(points, name, tolerance).build(kMostKeptVertices);
  std::optional<HullResult> result = exact_hull(points, name);
  if (!result) return HullWithin(points, name, tolerance).build(kMaxHullVertices);
  result->exact_vertices = size_of(result->hull.vertices);
  return std::move(*result);
}

std::optional<HullResult> hull_of_kept(std::span<const Vec3> points, std::span<const int> kept, const std::string& name,
                                       const HullTolerance& tolerance) {
  check(tolerance);
  const bool too_many = size_of(kept) > (tolerance.relative == 0 ? kMaxHullVertices : kMostKeptVertices);
  if (kept.size() < 3 || too_many || kept.front() < 0 || kept.back() >= size_of(points)) return std::nullopt;
  if (std::ranges::adjacent_find(kept, std::greater_equal<>()) != kept.end()) return std::nullopt;
  ++built_hulls;
  try {
    HullWithin mesh(points, name, tolerance);
    mesh.find_thickness(points);
    HullResult result = mesh.finished({kept.begin(), kept.end()});
    if (result.error > result.tolerance) return std::nullopt;
    return result;
  } catch (const Error&) {
    return std::nullopt;  // points on a line, for one
  }
}

std::uint64_t hulls_built() { return built_hulls; }

}  // namespace lithe::internal
