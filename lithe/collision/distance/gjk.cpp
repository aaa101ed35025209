#include "lithe/collision/distance/gjk.h"

#include <cmath>
#include <limits>

#include "lithe/collision/distance/nearest_simplex.h"

namespace lithe::internal {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxIterations = 128;  // random hulls of 2000 vertices take 8, and 23 at most
constexpr int kMaxStalled = 8;

// Drops the vertices that do not carry the nearest point.
void reduce(GjkResult& result, const Nearest& nearest) {
  result.count = nearest.count;
  for (int k = 0; k < nearest.count; ++k) {
    result.simplex[k] = result.simplex[nearest.index[k]];  // index[k] ≥ k: nothing is overwritten too early
    result.weight[k] = nearest.weight[k];
  }
}

bool holds(const GjkResult& result, const DifferenceVertex& w) {
  for (int k = 0; k < result.count; ++k) {
    if (result.simplex[k].a == w.a && result.simplex[k].b == w.b) return true;
  }
  return false;
}

GjkResult proven_far(const Vec3& u, double bound, int iterations) {
  GjkResult result;
  result.status = GjkStatus::far;
  result.n = u;
  result.distance = bound;
  result.iterations = iterations;
  return result;
}

// A unit direction from b's middle to a's, or any if they coincide.
Vec3 first_direction(const MinkowskiDifference& difference, double touching) {
  const Vec3 v = difference.middle();
  const double norm = v.norm();
  return norm > touching ? Vec3(v / norm) : Vec3(Vec3::UnitX());
}

}  // namespace

GjkResult gjk(const Core& a, const Core& b, const Pose& X_BA, double far, const Vec3* guess) {
  const MinkowskiDifference difference(a, b, X_BA);
  const double size = difference.size(), touching = kTouching * size;

  // v: the nearest point so far, u = v/|v|.
  GjkResult result;
  Vec3 u = guess ? *guess : first_direction(difference, touching);
  DifferenceVertex w = difference.lowest(u, {Vec3::Zero(), 0, 0});
  if (const double bound = u.dot(w.w); bound > far) return proven_far(u, bound, 0);
  result.simplex[0] = w;
  result.weight[0] = 1;
  result.count = 1;
  Vec3 v = w.w;
  double norm = v.norm();

  int stalled = 0;
  for (result.iterations = 1; norm > touching && result.iterations < kMaxIterations; ++result.iterations) {
    u = v / norm;
    w = difference.lowest(u, w);
    const double bound = u.dot(w.w);
    if (bound > far) return proven_far(u, bound, result.iterations);
    // Nothing lies below: v is the nearest point.
    if (norm - bound <= 2 * kEpsilon * size || holds(result, w)) break;

    result.simplex[result.count] = w;  // not counted yet
    const Nearest nearest = nearest_of_simplex(result.simplex, result.count + 1);
    const double next = std::sqrt(nearest.squared_norm);
    // On shapes as thin as rounding errors, v gets no shorter while its direction still improves. Where it does not
    // end there either, rounding is all that is left; unless the bound says that it hides an overlap.
    if (!(next < norm) && (next > norm + 8 * kEpsilon * size || ++stalled > kMaxStalled)) {
      if (bound > 0) break;
      return result;
    }
    reduce(result, nearest);
    v = nearest.point;
    norm = next;
    if (result.count == 4) break;
  }
  if (norm <= touching) return result;
  result.status = GjkStatus::separated;
  result.n = v / norm;
  result.distance = norm;
  return result;
}

}  // namespace lithe::internal
