#include "lithe/collision/gjk.h"

#include <Eigen/Geometry>

#include <cmath>
#include <limits>

namespace lithe {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxIterations = 128;  // random hulls of 2000 vertices take 8, and 23 at most
constexpr int kMaxStalled = 8;

// The point of a simplex that is nearest to the origin, as a combination of its vertices `index` with positive weights.
struct Nearest {
  Vec3 point;
  double squared_norm;
  int count;
  int index[4];
  double weight[4];
};

Nearest nearest_of_vertex(const DifferenceVertex* s, int i) { return {s[i].w, s[i].w.squaredNorm(), 1, {i}, {1}}; }

Nearest nearest_of_segment(const DifferenceVertex* s, int i, int j) {
  const Vec3 e = s[j].w - s[i].w;
  const double along = -s[i].w.dot(e), length2 = e.squaredNorm();
  if (!(along > 0)) return nearest_of_vertex(s, i);
  if (!(along < length2)) return nearest_of_vertex(s, j);
  const double t = along / length2;
  const Vec3 point = s[i].w + t * e;
  return {point, point.squaredNorm(), 2, {i, j}, {1 - t, t}};
}

void keep_nearer(Nearest& best, const Nearest& candidate) {
  if (candidate.squared_norm < best.squared_norm) best = candidate;
}

Nearest nothing_yet() { return {Vec3::Zero(), std::numeric_limits<double>::infinity(), 0, {}, {}}; }

// Barycentric coordinates from cross products around vertex i, as in the signed volumes of Montanari, Petrinic and
// Barbieri (2017). Where they put the origin's foot outside, it is one of the sides with a negative coordinate; taking
// the nearest of those keeps a rounding error harmless.
Nearest nearest_of_triangle(const DifferenceVertex* s, int i, int j, int k) {
  const Vec3 e = s[j].w - s[i].w, f = s[k].w - s[i].w;
  const Vec3 normal = e.cross(f);
  const Vec3 to_origin = -s[i].w;
  const double whole = normal.squaredNorm();
  const double of_j = to_origin.cross(f).dot(normal), of_k = e.cross(to_origin).dot(normal);
  const double of_i = whole - of_j - of_k;
  const bool has_area = whole > kEpsilon * kEpsilon * e.squaredNorm() * f.squaredNorm();
  if (has_area && of_i > 0 && of_j > 0 && of_k > 0) {
    const Vec3 point = normal * (normal.dot(s[i].w) / whole);
    const double wj = of_j / whole, wk = of_k / whole;
    return {point, point.squaredNorm(), 3, {i, j, k}, {1 - wj - wk, wj, wk}};
  }
  Nearest best = nothing_yet();
  if (!has_area || of_k <= 0) keep_nearer(best, nearest_of_segment(s, i, j));
  if (!has_area || of_j <= 0) keep_nearer(best, nearest_of_segment(s, i, k));
  if (!has_area || of_i <= 0) keep_nearer(best, nearest_of_segment(s, j, k));
  return best;
}

// The same one dimension up: the origin is inside, or nearest to one of the facets that it lies behind.
Nearest nearest_of_tetrahedron(const DifferenceVertex* s) {
  const Vec3 e = s[1].w - s[0].w, f = s[2].w - s[0].w, g = s[3].w - s[0].w;
  const Vec3 to_origin = -s[0].w;
  const Vec3 ef = e.cross(f);
  const double whole = ef.dot(g);
  const double sign = whole < 0 ? -1 : 1;
  const double of_3 = sign * ef.dot(to_origin);
  const double of_2 = sign * to_origin.dot(g.cross(e));
  const double of_1 = sign * to_origin.dot(f.cross(g));
  const double of_0 = sign * whole - of_1 - of_2 - of_3;
  const bool has_volume = std::abs(whole) > kEpsilon * ef.norm() * g.norm();
  if (has_volume && of_0 > 0 && of_1 > 0 && of_2 > 0 && of_3 > 0) {
    const double w = sign / whole;
    return {Vec3::Zero(), 0, 4, {0, 1, 2, 3}, {of_0 * w, of_1 * w, of_2 * w, of_3 * w}};
  }
  Nearest best = nothing_yet();
  if (!has_volume || of_3 <= 0) keep_nearer(best, nearest_of_triangle(s, 0, 1, 2));
  if (!has_volume || of_2 <= 0) keep_nearer(best, nearest_of_triangle(s, 0, 1, 3));
  if (!has_volume || of_1 <= 0) keep_nearer(best, nearest_of_triangle(s, 0, 2, 3));
  if (!has_volume || of_0 <= 0) keep_nearer(best, nearest_of_triangle(s, 1, 2, 3));
  return best;
}

Nearest nearest_of_simplex(const DifferenceVertex* s, int count) {
  switch (count) {
    case 1: return nearest_of_vertex(s, 0);
    case 2: return nearest_of_segment(s, 0, 1);
    case 3: return nearest_of_triangle(s, 0, 1, 2);
    default: return nearest_of_tetrahedron(s);
  }
}

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

}  // namespace lithe
