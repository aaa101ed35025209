#include "lithe/collision/curved/cylinder_hull_search.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lithe/collision/curved/cylinder_hull_measures.h"
#include "lithe/collision/curved/rim_arc.h"
#include "lithe/collision/curved/rim_support.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/core/infinity.h"

namespace lithe::internal {
namespace {

// Relative to the size of everything: what rounding may decide.
constexpr double kSearchRounding = 1e-12;
// Radians within which a cap or side is parallel to a face.
constexpr double kParallelSine = 1e-12;

class Search {
 public:
  Search(const SolidCylinder& cylinder, const Hull& hull, const HullSearchOptions& options,
         CylinderHullScratch& scratch)
      : c_(cylinder), hull_(hull), options_(options), scratch_(scratch) {
    away_ = (c_.o - hull.centre).norm() + hull.radius + std::sqrt(c_.h * c_.h + c_.rho * c_.rho);
    rounding_ = kSearchRounding * (away_ + hull.centre.norm() + c_.o.norm());
    best_.gap = -kInfinity;
  }

  HullSearchResult run() {
    try_faces();
    if (done()) return result();
    outermost_ = measure_vertices(c_, hull_, scratch_);
    try_caps();
    if (done()) return result();
    try_vertices();
    if (done()) return result();
    find_supports(c_, hull_, scratch_);
    try_edges();
    return result();
  }

 private:
  HullSearchResult result() const { return {best_, face_, face_gap_}; }

  // Apart, sep has a single maximum; or we know enough.
  bool done() const { return best_.gap > options_.enough || (best_.attained && best_.gap > rounding_); }

  // Maxima come before normals that are none, if these are not better by more than rounding. Ties: the first.
  double rank_of(const HullSeparation& s) const { return s.attained ? s.gap + rounding_ : s.gap; }
  void consider(const HullSeparation& s) {
    if (rank_of(s) > rank_of(best_)) best_ = s;
  }

  void try_faces();
  bool meets_face(const Hull::Face& face, HullSeparation& s) const;
  double beyond_sides(const Hull::Face& face, const Vec3& x) const;
  bool meet_in_cap(const Hull::Face& face, Vec3& x) const;
  bool meet_in_side(const Hull::Face& face, Vec3& x) const;

  void try_caps();
  bool edge_meets_cap(double top, double sign, HullSeparation& s) const;

  void try_vertices();
  bool in_normal_cone(int vertex, const Vec3& n) const;
  bool has_edge_along_axis(int vertex) const;

  void try_edges();
  bool arc_may_hold(const Hull::Edge& edge, double at_least) const;
  Vec3 rim_point_over_edge(const Vec3& n, int rim, const Vec3& v, const Vec3& e) const;
  void try_edge(int index);

  double radial(const Vec3& x, Vec3& out) const {
    const Vec3 d = x - c_.o;
    out = d - d.dot(c_.a) * c_.a;
    return out.norm();
  }
  Vec3 support_against(int face) const {
    return {scratch_.support_x[face], scratch_.support_y[face], scratch_.support_z[face]};
  }
  const SolidCylinder& c_;
  const Hull& hull_;
  const HullSearchOptions& options_;
  CylinderHullScratch& scratch_;
  double away_;      // no point of one shape is farther from a point of the other
  double rounding_;  // [m]
  HullSeparation best_;
  int face_ = 0;
  double face_gap_ = 0;
  OutermostVertices outermost_;
};

// ---- Faces

void Search::try_faces() {
  face_ = measure_faces(c_, hull_, scratch_);
  face_gap_ = scratch_.face_gap[face_];
  const Hull::Face& face = hull_.faces[face_];
  HullSeparation s{.n = face.normal, .gap = face_gap_, .b = FeatureCode::face(face_)};
  if (s.gap <= options_.enough) s.attained = meets_face(face, s);
  consider(s);
}

// Finds the cylinder's feature against a face, and whether the two meet.
bool Search::meets_face(const Hull::Face& face, HullSeparation& s) const {
  const double along = face.normal.dot(c_.a);
  if (sine_between(face.normal, c_.a) <= kParallelSine) {
    const int cap = along >= 0 ? 0 : 1;
    s.a = FeatureCode::cap(cap);
    s.x_a = c_.cap_centre(cap);
    const bool meet = meet_in_cap(face, s.x_a);
    s.gap = face.normal.dot(s.x_a) - face.offset;
    return meet;
  }
  const int rim = facing_cap(c_, face.normal);
  s.x_a = rim_support(c_, face.normal).point(c_, rim);
  if (std::abs(along) <= kParallelSine) {
    s.a = FeatureCode::side();
    return meet_in_side(face, s.x_a);
  }
  s.a = FeatureCode::rim(rim);
  return beyond_sides(face, s.x_a) <= rounding_;
}

// How far x lies outside a face's sides, seen along its normal.
double Search::beyond_sides(const Hull::Face& face, const Vec3& x) const {
  double most = -kInfinity;
  for (int k = face.first; k < face.first + face.count; ++k) {
    most = std::max(most, hull_.sides[k].normal.dot(x) - hull_.sides[k].offset);
  }
  return most;
}

// x is the centre of a cap parallel to the face. Moves it to the face's nearest point, if the cap reaches that far.
bool Search::meet_in_cap(const Hull::Face& face, Vec3& x) const {
  if (beyond_sides(face, x) <= 0) return true;
  const auto ring = hull_.face_vertices(static_cast<int>(&face - hull_.faces.data()));
  const double height = face.normal.dot(x) - face.offset;
  const Vec3 centre = x - height * face.normal;
  double nearest = kInfinity;
  for (std::size_t k = 0; k < ring.size(); ++k) {
    const Vec3& from = hull_.vertices[ring[k]];
    const Vec3 way = hull_.vertices[ring[k + 1 < ring.size() ? k + 1 : 0]] - from;
    const double length2 = way.squaredNorm();
    const double share = length2 > 0 ? std::clamp((centre - from).dot(way) / length2, 0., 1.) : 0;
    const Vec3 point = from + share * way;
    const double distance = (point - centre).norm();
    if (distance < nearest) {
      nearest = distance;
      x = point + height * face.normal;
    }
  }
  return nearest <= c_.rho + rounding_;
}

// x is on the cylinder's line along a face parallel to it. Moves it to the middle of what the two share.
bool Search::meet_in_side(const Hull::Face& face, Vec3& x) const {
  const Vec3 middle = x - (x - c_.o).dot(c_.a) * c_.a;
  double from = -c_.h, to = c_.h;
  for (int k = face.first; k < face.first + face.count; ++k) {
    const double room = hull_.sides[k].offset - hull_.sides[k].normal.dot(middle);
    const double slope = hull_.sides[k].normal.dot(c_.a);
    if (std::abs(slope) <= kParallelSine) {
      if (room < -rounding_) return false;
    } else if (slope > 0) {
      to = std::min(to, room / slope);
    } else {
      from = std::max(from, room / slope);
    }
  }
  if (from > to + rounding_) return false;
  x = middle + (0.5 * (from + to)) * c_.a;
  return true;
}

// ---- Caps and vertices

void Search::try_caps() {
  for (double sign : {1., -1.}) {
    const int vertex = sign > 0 ? outermost_.highest : outermost_.lowest;
    const double top = sign * scratch_.height[vertex];
    HullSeparation s{.n = sign * c_.a, .gap = -c_.h - top, .a = FeatureCode::cap(sign > 0 ? 0 : 1)};
    if (s.gap + rounding_ <= rank_of(best_)) continue;
    s.b = FeatureCode::vertex(vertex);
    Vec3 out;
    s.attained = radial(hull_.vertices[vertex], out) <= c_.rho + rounding_;
    s.x_a = hull_.vertices[vertex] + s.gap * s.n;
    if (!s.attained && s.gap <= options_.enough) s.attained = edge_meets_cap(top, sign, s);
    consider(s);
  }
}

// The highest vertex is beside the cap. If it is one end of an edge parallel to the cap, some other point may be under it.
bool Search::edge_meets_cap(double top, double sign, HullSeparation& s) const {
  for (int i = 0; i < static_cast<int>(hull_.edges.size()); ++i) {
    const Hull::Edge& edge = hull_.edges[i];
    const double lower = std::min(sign * scratch_.height[edge.vertex[0]], sign * scratch_.height[edge.vertex[1]]);
    if (lower < top - rounding_) continue;
    const Vec3 &from = hull_.vertices[edge.vertex[0]], &to = hull_.vertices[edge.vertex[1]];
    const double length = (to - from).dot(edge.direction);
    const double along = std::clamp((c_.o - from).dot(edge.direction), 0., std::max(0., length));
    const Vec3 x = from + along * edge.direction;
    Vec3 out;
    if (radial(x, out) > c_.rho + rounding_) continue;
    s.b = FeatureCode::edge(i);
    s.x_a = x + s.gap * s.n;
    return true;
  }
  return false;
}

void Search::try_vertices() {
  const double tiny = rounding_;
  Vec3 out;
  const double l = radial(hull_.vertices[outermost_.nearest_to_axis], out);
  if (l > tiny && l - c_.rho + rounding_ > rank_of(best_)) {
    const Vec3& v = hull_.vertices[outermost_.nearest_to_axis];
    const Vec3 n = -out / l;
    if (in_normal_cone(outermost_.nearest_to_axis, n)) {
      const double gap = l - c_.rho;
      consider({.n = n,
                .gap = gap,
                .a = FeatureCode::side(),
                .b = FeatureCode::vertex(outermost_.nearest_to_axis),
                .x_a = v + gap * n,
                .attained = std::abs(scratch_.height[outermost_.nearest_to_axis]) <= c_.h + rounding_ &&
                            !has_edge_along_axis(outermost_.nearest_to_axis)});
    }
  }
  if (options_.least_bend > 0) return;
  const Vec3& v = hull_.vertices[outermost_.nearest];
  const double height = scratch_.height[outermost_.nearest];
  const double distance = radial(v, out);
  const double beside = distance - c_.rho, above = std::abs(height) - c_.h;
  if (!(beside > tiny && above > tiny)) return;
  const double gap = std::sqrt(beside * beside + above * above);
  const Vec3 n = (out * (-beside / distance) - c_.a * std::copysign(above, height)) / gap;
  if (!in_normal_cone(outermost_.nearest, n)) return;
  consider({.n = n,
            .gap = gap,
            .a = FeatureCode::rim(height < 0 ? 0 : 1),
            .b = FeatureCode::vertex(outermost_.nearest),
            .x_a = v + gap * n,
            .attained = true,
            .bend = 0});
}

// Then all of the edge is as near as the vertex, and try_edge() finds the middle.
bool Search::has_edge_along_axis(int vertex) const {
  const auto edges = hull_.edges_of(vertex);
  return std::any_of(edges.begin(), edges.end(),
                     [&](int edge) { return sine_between(hull_.edges[edge].direction, c_.a) <= kParallelSine; });
}

bool Search::in_normal_cone(int vertex, const Vec3& n) const {
  const Vec3& v = hull_.vertices[vertex];
  for (int other : hull_.neighbours_of(vertex)) {
    if (n.dot(hull_.vertices[other] - v) > rounding_) return false;
  }
  return true;
}

// ---- Edges

void Search::try_edges() {
  for (int i = 0; i < static_cast<int>(hull_.edges.size()); ++i) {
    // Against a maximum, better by more than rounding; against a normal that is none, as good up to rounding.
    const double at_least = best_.gap + (best_.attained ? rounding_ : -rounding_);
    if (arc_may_hold(hull_.edges[i], at_least)) try_edge(i);
    if (done()) return;
  }
}

// x ≥ y√z
bool reaches(double x, double y, double z) {
  if (y <= 0) return x >= 0 || x * x <= y * y * z;
  return x >= 0 && x * x >= y * y * z;
}

// Whether sep can reach `at_least` within an edge's arc of normals, by its tangents at the ends: with the cylinder's
// support point x_k against face k held fixed, sep(n) ≤ n·w_k, w_k = x_k − v.
bool Search::arc_may_hold(const Hull::Edge& edge, double at_least) const {
  const Vec3 &n0 = hull_.faces[edge.face[0]].normal, &n1 = hull_.faces[edge.face[1]].normal;
  const double F0 = scratch_.face_gap[edge.face[0]], F1 = scratch_.face_gap[edge.face[1]];
  // |w| ≤ away, and the way to n from both ends together is the arc, at most π/2 chords.
  const double reach = 0.25 * std::numbers::pi * away_;
  const double slack = at_least - 0.5 * (F0 + F1);
  if (slack > 0 && slack * slack > reach * reach * (n1 - n0).squaredNorm()) return false;

  // In the plane ⟂ e with axes n0, m0 = e × n0, towards which the arc turns; n1 = (c, s).
  const Vec3& v = hull_.vertices[edge.vertex[0]];
  const Vec3 m0 = edge.direction.cross(n0), m1 = n1.cross(edge.direction);
  const double c = n0.dot(n1), s = m0.dot(n1);
  const double slope0 = m0.dot(support_against(edge.face[0]) - v), slope1 = m1.dot(support_against(edge.face[1]) - v);
  const double w0[2] = {F0, slope0}, w1[2] = {F1 * c + slope1 * s, F1 * s - slope1 * c};
  // The tangents meet at n ⟂ w0 − w1, before which w0's is the lower one, after which w1's.
  const double d[2] = {w0[0] - w1[0], w0[1] - w1[1]};
  const double length2 = d[0] * d[0] + d[1] * d[1];
  if (length2 <= rounding_ * rounding_) return true;
  const double at[2] = {d[1], -d[0]};  // not unit: a root less
  if (reaches(w0[0] * at[0] + w0[1] * at[1], at_least, length2)) return true;
  // A tangent n·w has its own peak, |w|, where n ∥ w.
  const double w0w0 = w0[0] * w0[0] + w0[1] * w0[1], w1w1 = w1[0] * w1[0] + w1[1] * w1[1];
  const bool peak0 = slope0 > 0 && w0[0] * at[1] - w0[1] * at[0] > 0;
  const bool peak1 = slope1 > 0 && at[0] * w1[1] - at[1] * w1[0] > 0;
  return (peak0 && reaches(w0w0, at_least, w0w0)) || (peak1 && reaches(w1w1, at_least, w1w1));
}

// The point of a rim that n is the normal of, straight over the edge along n. Where n is almost the axis, rounding errors
// of n move it along the rim by 1e-16 ρ/σ; being over the edge then says better where it is.
Vec3 Search::rim_point_over_edge(const Vec3& n, int rim, const Vec3& v, const Vec3& e) const {
  const RimSupport support = rim_support(c_, n);
  const Vec3 x = support.point(c_, rim), m = e.cross(n);
  const double slope = m.dot(support.t);
  const double along_rim = m.dot(v - x) / slope;
  // A needle's rim has no length to move along, and rounding errors are small.
  if (!(std::abs(slope) >= 0.1 && std::abs(along_rim) < 0.1 * c_.rho)) return x;
  const double turn = along_rim / c_.rho;
  return c_.cap_centre(rim) + c_.rho * (support.u + turn * support.t).normalized();
}

void Search::try_edge(int index) {
  const Hull::Edge& edge = hull_.edges[index];
  const Vec3& v = hull_.vertices[edge.vertex[0]];
  const Vec3& e = edge.direction;
  const double length = (hull_.vertices[edge.vertex[1]] - v).dot(e);
  const RimArcMaxima maxima =
      rim_arc_maxima(c_, v, e, hull_.faces[edge.face[0]].normal, hull_.faces[edge.face[1]].normal);
  const double k = e.dot(c_.a), sine2 = c_.a.cross(e).squaredNorm();
  for (int i = 0; i < maxima.count; ++i) {
    const RimArcMaximum& m = maxima.at[i];
    HullSeparation s{.n = m.n, .gap = m.F, .b = FeatureCode::edge(index)};
    if (sine2 <= kParallelSine * kParallelSine) {
      // The middle of what axis and edge share.
      const double from = scratch_.height[edge.vertex[0]], to = scratch_.height[edge.vertex[1]];
      const double low = std::max(-c_.h, std::min(from, to)), high = std::min(c_.h, std::max(from, to));
      s.a = FeatureCode::side();
      s.x_a = c_.o + (0.5 * (low + high)) * c_.a - c_.rho * m.n;
    } else if (m.on_side) {
      // Where the lines of axis and edge are closest.
      const Vec3 d = c_.o - v;
      s.a = FeatureCode::side();
      s.x_a = c_.o + ((k * d.dot(e) - d.dot(c_.a)) / sine2) * c_.a - c_.rho * m.n;
    } else {
      const double sine = sine_between(m.n, c_.a);
      if (!(sine > kParallelSine)) continue;  // a cap's normal, tried already
      s.bend = c_.rho * k * k / (sine * sine * sine);
      if (s.bend < options_.least_bend) continue;
      const int rim = facing_cap(c_, m.n);
      s.x_a = rim_point_over_edge(m.n, rim, v, e);
      s.a = FeatureCode::rim(rim);
    }
    const double t = (s.x_a - v).dot(e), z = (s.x_a - c_.o).dot(c_.a);
    s.attained = t >= -rounding_ && t <= length + rounding_ && std::abs(z) <= c_.h + rounding_;
    consider(s);
  }
}

}  // namespace

HullSearchResult search_hull(const SolidCylinder& cylinder, const Hull& hull, const HullSearchOptions& options,
                             CylinderHullScratch& scratch) {
  return Search(cylinder, hull, options, scratch).run();
}

}  // namespace lithe::internal
