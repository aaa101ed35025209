#pragma once

#include <Eigen/Geometry>

#include <cmath>
#include <limits>

#include "lithe/collision/distance/minkowski.h"

namespace lithe::internal {

inline constexpr double kSimplexEpsilon = std::numeric_limits<double>::epsilon();

// The point of a simplex that is nearest to the origin, as a combination of its vertices `index` with positive weights.
struct Nearest {
  Vec3 point;
  double squared_norm;
  int count;
  int index[4];
  double weight[4];
};

inline Nearest nearest_of_vertex(const DifferenceVertex* s, int i) {
  return {s[i].w, s[i].w.squaredNorm(), 1, {i}, {1}};
}

inline Nearest nearest_of_segment(const DifferenceVertex* s, int i, int j) {
  const Vec3 e = s[j].w - s[i].w;
  const double along = -s[i].w.dot(e), length2 = e.squaredNorm();
  if (!(along > 0)) return nearest_of_vertex(s, i);
  if (!(along < length2)) return nearest_of_vertex(s, j);
  const double t = along / length2;
  const Vec3 point = s[i].w + t * e;
  return {point, point.squaredNorm(), 2, {i, j}, {1 - t, t}};
}

inline void keep_nearer(Nearest& best, const Nearest& candidate) {
  if (candidate.squared_norm < best.squared_norm) best = candidate;
}

inline Nearest nothing_yet() { return {Vec3::Zero(), std::numeric_limits<double>::infinity(), 0, {}, {}}; }

// Barycentric coordinates from cross products around vertex i, as in the signed volumes of Montanari, Petrinic and
// Barbieri (2017). Where they put the origin's foot outside, it is one of the sides with a negative coordinate; taking
// the nearest of those keeps a rounding error harmless.
inline Nearest nearest_of_triangle(const DifferenceVertex* s, int i, int j, int k) {
  const Vec3 e = s[j].w - s[i].w, f = s[k].w - s[i].w;
  const Vec3 normal = e.cross(f);
  const Vec3 to_origin = -s[i].w;
  const double whole = normal.squaredNorm();
  const double of_j = to_origin.cross(f).dot(normal), of_k = e.cross(to_origin).dot(normal);
  const double of_i = whole - of_j - of_k;
  const bool has_area = whole > kSimplexEpsilon * kSimplexEpsilon * e.squaredNorm() * f.squaredNorm();
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
inline Nearest nearest_of_tetrahedron(const DifferenceVertex* s) {
  const Vec3 e = s[1].w - s[0].w, f = s[2].w - s[0].w, g = s[3].w - s[0].w;
  const Vec3 to_origin = -s[0].w;
  const Vec3 ef = e.cross(f);
  const double whole = ef.dot(g);
  const double sign = whole < 0 ? -1 : 1;
  const double of_3 = sign * ef.dot(to_origin);
  const double of_2 = sign * to_origin.dot(g.cross(e));
  const double of_1 = sign * to_origin.dot(f.cross(g));
  const double of_0 = sign * whole - of_1 - of_2 - of_3;
  const bool has_volume = std::abs(whole) > kSimplexEpsilon * ef.norm() * g.norm();
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

inline Nearest nearest_of_simplex(const DifferenceVertex* s, int count) {
  switch (count) {
    case 1: return nearest_of_vertex(s, 0);
    case 2: return nearest_of_segment(s, 0, 1);
    case 3: return nearest_of_triangle(s, 0, 1, 2);
    default: return nearest_of_tetrahedron(s);
  }
}

}  // namespace lithe::internal
