#include "lithe/collision/distance/hull_distance.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "lithe/collision/hull/hull.h"
#include "lithe/core/check.h"

namespace lithe::internal {
namespace {

using Freedom = SupportJet::Freedom;

// Relative to the size of the numbers: how far a closed form may stay behind gjk(), and what counts as level.
constexpr double kProof = 1e-13;
constexpr double kLevel = 1e-12;
// Faces whose normal is within kMergeAngle of n; dot product.
constexpr double kAlongNormal = 1 - kMergeAngle * kMergeAngle;
// sin² of the angle between edges that count as parallel: a tilt of 1e-12.
constexpr double kParallelSquared = 1e-24;

// The distinct vertices of one core in gjk()'s simplex.
struct VertexSet {
  int count = 0;
  int id[3] = {};

  void insert(int i) {
    for (int k = 0; k < count; ++k) {
      if (id[k] == i) return;
    }
    id[count++] = i;
  }
};

// An edge of a core in b's frame.
struct Line {
  FeatureCode code;
  Vec3 start;
  Vec3 e;  // unit
  double length;
};

struct Problem {
  const Core& a;
  const Core& b;
  const Pose& X_BA;
  const GjkResult& gjk;
  VertexSet on_a, on_b;
  double size;
};

FeatureCode edge_code(const Core& core, int i, int j) {
  if (!core.hull()) return FeatureCode::edge(0);
  const int edge = core.hull()->edge_between(i, j);
  return edge >= 0 ? FeatureCode::edge(edge) : FeatureCode::segment(i, j);
}

bool has_vertex(const Hull& hull, int face, int vertex) {
  const std::span<const int> ring = hull.face_vertices(face);
  return std::find(ring.begin(), ring.end(), vertex) != ring.end();
}

// The face that has all of the vertices, or −1.
int common_face(const Hull& hull, const VertexSet& set) {
  for (const int face : hull.faces_of(set.id[0])) {
    bool all = true;
    for (int k = 1; k < set.count; ++k) all = all && has_vertex(hull, face, set.id[k]);
    if (all) return face;
  }
  return -1;
}

// The face at a vertex whose outward normal is d, or −1.
int face_along(const Hull& hull, int vertex, const Vec3& d) {
  int best = -1;
  double highest = kAlongNormal;
  for (const int face : hull.faces_of(vertex)) {
    const double along = hull.faces[face].normal.dot(d);
    if (along > highest) {
      highest = along;
      best = face;
    }
  }
  return best;
}

// The same, if all its vertices are level with the first one.
int level_face(const Hull& hull, int vertex, const Vec3& d, double tolerance) {
  const int face = face_along(hull, vertex, d);
  if (face < 0) return -1;
  const double height = d.dot(hull.vertices[vertex]);
  for (const int i : hull.face_vertices(face)) {
    if (d.dot(hull.vertices[i]) < height - tolerance) return -1;
  }
  return face;
}

// Vertices at the other ends of a core's edges at `vertex`.
template <class Visit>
void for_edges_at(const Core& core, int vertex, Visit visit) {
  if (const Hull* hull = core.hull()) {
    const std::span<const int> others = hull->neighbours_of(vertex), edges = hull->edges_of(vertex);
    for (std::size_t k = 0; k < others.size(); ++k) visit(edges[k], others[k]);
  } else if (core.vertex_count() == 2) {
    visit(0, 1 - vertex);
  }
}

// The part t[0] … t[1] of the segment from p to q between the side planes of a face, which are pushed out by `tolerance`.
struct ClippedSegment {
  double t[2] = {0, 1};
};

std::optional<ClippedSegment> clip_to_face(const Hull& hull, int face, const Vec3& p, const Vec3& q, double tolerance) {
  ClippedSegment part;
  const Hull::Face& f = hull.faces[face];
  for (int k = 0; k < f.count; ++k) {
    const Hull::Side& side = hull.sides[f.first + k];
    const double at_p = side.normal.dot(p) - side.offset - tolerance;
    const double at_q = side.normal.dot(q) - side.offset - tolerance;
    if (at_p > 0 && at_q > 0) return std::nullopt;
    if (at_p <= 0 && at_q <= 0) continue;
    const double t = at_p / (at_p - at_q);
    if (at_q > 0) {
      part.t[1] = std::min(part.t[1], t);
    } else {
      part.t[0] = std::max(part.t[0], t);
    }
  }
  if (part.t[0] > part.t[1]) return std::nullopt;
  return part;
}

// Sum of points of an overlap, for their mean.
struct Middle {
  Vec3 sum = Vec3::Zero();
  int count = 0;

  void add(const Vec3& p, const Vec3& q, const std::optional<ClippedSegment>& part) {
    if (!part) return;
    for (const double t : part->t) sum += p + t * (q - p);
    count += 2;
  }
};

// The overlap of two parallel faces, seen along the normal: the mean of the ends of all parts of either's sides that
// lie over the other. The sides of the lower face are seen at the other's height.
void add_face_overlap(const Hull& hull, int face, const Hull& other, int other_face, const Pose& X_HO, double tolerance,
                      Middle& middle) {
  const std::span<const int> upper = other.face_vertices(other_face), lower = hull.face_vertices(face);
  for (std::size_t k = 0; k < upper.size(); ++k) {
    const Vec3 p = X_HO * other.vertices[upper[k]], q = X_HO * other.vertices[upper[(k + 1) % upper.size()]];
    middle.add(p, q, clip_to_face(hull, face, p, q, tolerance));
  }
  const Vec3& n = hull.faces[face].normal;
  const double height = n.dot(X_HO * other.vertices[upper[0]]) - hull.faces[face].offset;
  const Pose X_OH = X_HO.inverse();
  for (std::size_t k = 0; k < lower.size(); ++k) {
    const Vec3 p = hull.vertices[lower[k]] + height * n, q = hull.vertices[lower[(k + 1) % lower.size()]] + height * n;
    middle.add(p, q, clip_to_face(other, other_face, X_OH * p, X_OH * q, tolerance));
  }
}

// Whether sep(n) reaches the distance of the points, which it can only at the closest ones. The distance alone would not
// do: it is of second order in errors of n.
bool proves_itself(const Problem& problem, const CoreDistance& d) {
  const MinkowskiDifference difference(problem.a, problem.b, problem.X_BA);
  return d.n.dot(difference.lowest(d.n, problem.gjk.simplex[0]).w) >= d.distance - kProof * problem.size;
}

// Where one of the cores has a face with normal n.
std::optional<CoreDistance> over_face_of_b(const Problem& problem) {
  if (!problem.b.hull()) return std::nullopt;
  const Hull& hull = *problem.b.hull();
  const int face = face_along(hull, problem.on_b.id[0], problem.gjk.n);
  if (face < 0) return std::nullopt;
  const auto over = lowest_over_face(hull, face, problem.a, problem.X_BA, problem.on_a.id[0], kLevel * problem.size);
  if (!over || over->height < problem.gjk.distance - kProof * problem.size) return std::nullopt;
  const Vec3& n = hull.faces[face].normal;
  return CoreDistance{.n = n,
                      .distance = over->height,
                      .x_a = over->x,
                      .x_b = over->x - over->height * n,
                      .a = {.code = over->code},
                      .b = {.code = FeatureCode::face(face), .freedom = Freedom::face}};
}

std::optional<CoreDistance> over_face_of_a(const Problem& problem) {
  if (!problem.a.hull()) return std::nullopt;
  const Hull& hull = *problem.a.hull();
  const Pose& X_BA = problem.X_BA;
  const int face = face_along(hull, problem.on_a.id[0], -(X_BA.R.transpose() * problem.gjk.n));
  if (face < 0) return std::nullopt;
  const auto over = lowest_over_face(hull, face, problem.b, X_BA.inverse(), problem.on_b.id[0], kLevel * problem.size);
  if (!over || over->height < problem.gjk.distance - kProof * problem.size) return std::nullopt;
  const Vec3 n = -(X_BA.R * hull.faces[face].normal), x_b = X_BA * over->x;
  return CoreDistance{.n = n,
                      .distance = over->height,
                      .x_a = x_b + over->height * n,
                      .x_b = x_b,
                      .a = {.code = FeatureCode::face(face), .freedom = Freedom::face},
                      .b = {.code = over->code}};
}

Line make_line(FeatureCode code, const Vec3& start, const Vec3& end) {
  const Vec3 along = end - start;
  const double length = along.norm();
  return {code, start, length > 0 ? Vec3(along / length) : Vec3(Vec3::UnitX()), length};
}

// All edges of a core at its closest vertex that are level with it along n; the one that gjk() named comes first.
struct LevelEdges {
  static constexpr int kMost = 4;
  int count = 0;
  Line line[kMost];
};

LevelEdges level_edges(const Core& core, const Pose& X, const VertexSet& set, const Vec3& n, double tolerance) {
  LevelEdges edges;
  const Vec3 start = X * core.vertex(set.id[0]);
  for_edges_at(core, set.id[0], [&](int edge, int other) {
    const bool named = set.count == 2 && other == set.id[1];
    const Vec3 end = X * core.vertex(other);
    if (!named && std::abs(n.dot(end - start)) > tolerance) return;
    if (edges.count == LevelEdges::kMost) return;
    Line& place = edges.line[edges.count++];
    place = make_line(FeatureCode::edge(edge), start, end);
    if (named) std::swap(place, edges.line[0]);
  });
  return edges;
}

CoreFeature line_feature(const Line& line) { return {.code = line.code, .freedom = Freedom::line, .e = line.e}; }

// Two edges that run side by side: the middle of their overlap. The derivative slides b's alone.
std::optional<CoreDistance> between_parallels(const Problem& problem, const Line& a, const Line& b) {
  const double from = b.e.dot(a.start - b.start), to = from + b.e.dot(a.e) * a.length;
  const double low = std::max(0.0, std::min(from, to)), high = std::min(b.length, std::max(from, to));
  if (!(high - low > kLevel * problem.size)) return std::nullopt;
  const double on_b = 0.5 * (low + high);
  const double on_a = (on_b - from) / b.e.dot(a.e);
  const Vec3 x_a = a.start + on_a * a.e, x_b = b.start + on_b * b.e;
  const Vec3 apart = x_a - x_b;
  const Vec3 across = apart - b.e.dot(apart) * b.e;
  const double distance = across.norm();
  const Vec3 n = across / distance;
  return CoreDistance{
      .n = n, .distance = distance, .x_a = x_b + distance * n, .x_b = x_b, .a = {.code = a.code}, .b = line_feature(b)};
}

std::optional<CoreDistance> between_parallel_edges(const Problem& problem) {
  const double tolerance = kLevel * problem.size;
  const LevelEdges on_a = level_edges(problem.a, problem.X_BA, problem.on_a, problem.gjk.n, tolerance);
  if (on_a.count == 0) return std::nullopt;
  const LevelEdges on_b = level_edges(problem.b, Pose(), problem.on_b, problem.gjk.n, tolerance);
  for (int i = 0; i < on_a.count; ++i) {
    for (int j = 0; j < on_b.count; ++j) {
      if (on_a.line[i].e.cross(on_b.line[j].e).squaredNorm() > kParallelSquared) continue;
      const auto result = between_parallels(problem, on_a.line[i], on_b.line[j]);
      if (result && proves_itself(problem, *result)) return result;
    }
  }
  return std::nullopt;
}

Line line_of(const Core& core, const Pose& X, const VertexSet& set) {
  return make_line(edge_code(core, set.id[0], set.id[1]), X * core.vertex(set.id[0]), X * core.vertex(set.id[1]));
}

bool within(double t, const Line& line, double tolerance) { return t >= -tolerance && t <= line.length + tolerance; }

// Two crossing edges: n is ⟂ to both.
std::optional<CoreDistance> between_edges(const Problem& problem) {
  const Line a = line_of(problem.a, problem.X_BA, problem.on_a), b = line_of(problem.b, Pose(), problem.on_b);
  const Vec3 cross = a.e.cross(b.e);
  const double sin2 = cross.squaredNorm();
  if (sin2 <= kParallelSquared) return std::nullopt;
  const Vec3 apart = a.start - b.start;
  Vec3 n = cross / std::sqrt(sin2);
  if (n.dot(problem.gjk.n) < 0) n = -n;
  const double distance = n.dot(apart);
  const double on_a = -b.e.cross(cross).dot(apart) / sin2, on_b = -a.e.cross(cross).dot(apart) / sin2;
  // Parameters are worth less the flatter the crossing.
  const double slack = kLevel * problem.size / std::sqrt(sin2);
  if (!within(on_a, a, slack) || !within(on_b, b, slack)) return std::nullopt;
  const Vec3 x_a = a.start + on_a * a.e;
  return CoreDistance{
      .n = n, .distance = distance, .x_a = x_a, .x_b = x_a - distance * n, .a = line_feature(a), .b = line_feature(b)};
}

struct Foot {
  Vec3 x;  // nearest point of the line
  Vec3 n;  // unit, from it to the point
  double distance;
};

std::optional<Foot> foot_on_line(const Problem& problem, const Vec3& point, const Line& line) {
  const Vec3 apart = point - line.start;
  const double along = line.e.dot(apart);
  const Vec3 across = apart - along * line.e;
  const double distance = across.norm();
  if (!within(along, line, kLevel * problem.size)) return std::nullopt;
  return Foot{point - across, across / distance, distance};
}

CoreFeature feature_of(const Core& core, const Pose& X, const VertexSet& set) {
  if (set.count == 1) return {.code = FeatureCode::vertex(set.id[0])};
  return line_feature(line_of(core, X, set));
}

std::optional<CoreDistance> vertex_to_edge(const Problem& problem) {
  const CoreFeature a = feature_of(problem.a, problem.X_BA, problem.on_a);
  const CoreFeature b = feature_of(problem.b, Pose(), problem.on_b);
  if (problem.on_a.count == 1) {
    const Vec3 x_a = problem.X_BA * problem.a.vertex(problem.on_a.id[0]);
    const auto foot = foot_on_line(problem, x_a, line_of(problem.b, Pose(), problem.on_b));
    if (!foot) return std::nullopt;
    return CoreDistance{foot->n, foot->distance, x_a, foot->x, a, b};
  }
  const Vec3 x_b = problem.b.vertex(problem.on_b.id[0]);
  const auto foot = foot_on_line(problem, x_b, line_of(problem.a, problem.X_BA, problem.on_a));
  if (!foot) return std::nullopt;
  return CoreDistance{-foot->n, foot->distance, foot->x, x_b, a, b};
}

// gjk()'s own points. A triangle that no closed form took lies in a face that is not quite flat (its triangles were
// merged), or is a sliver.
CoreDistance as_found(const Problem& problem) {
  const GjkResult& gjk = problem.gjk;
  Vec3 x_b = Vec3::Zero();
  for (int k = 0; k < gjk.count; ++k) x_b += gjk.weight[k] * problem.b.vertex(gjk.simplex[k].b);
  CoreDistance result{
      .n = gjk.n, .distance = gjk.distance, .x_a = x_b + gjk.distance * gjk.n, .x_b = x_b, .a = {}, .b = {}};
  const auto name = [&](const Core& core, const Pose& X, const VertexSet& set) {
    if (set.count == 3 && core.hull()) {
      const int face = common_face(*core.hull(), set);
      if (face >= 0) return CoreFeature{.code = FeatureCode::face(face), .freedom = Freedom::face};
    }
    CoreFeature feature = feature_of(core, X, set);
    // The line must be ⟂ n; off by more than rounding, it is none.
    if (std::abs(feature.e.dot(gjk.n)) > 1e-9) feature.freedom = Freedom::none;
    return feature;
  };
  result.a = name(problem.a, problem.X_BA, problem.on_a);
  result.b = name(problem.b, Pose(), problem.on_b);
  if (result.b.freedom == Freedom::face) {
    result.a.freedom = Freedom::none;
  } else if (result.a.freedom == Freedom::face) {
    result.b.freedom = Freedom::none;
  } else if (result.a.freedom == Freedom::line && result.b.freedom == Freedom::line &&
             result.a.e.cross(result.b.e).squaredNorm() <= kParallelSquared) {
    result.a.freedom = Freedom::none;
  }
  return result;
}

}  // namespace

SupportJet CoreFeature::jet(double radius) const {
  switch (freedom) {
    case Freedom::line: return SupportJet::line(e, radius);
    case Freedom::face: return SupportJet::face();
    case Freedom::none: break;
  }
  return SupportJet::vertex(radius);
}

std::optional<OverFace> lowest_over_face(const Hull& hull, int face, const Core& core, const Pose& X_HC, int start,
                                         double tolerance) {
  const Vec3& n = hull.faces[face].normal;
  const Vec3 up = X_HC.R.transpose() * n;  // in the core's frame
  const int lowest = core.support(-up, start);
  const Vec3 x = X_HC * core.vertex(lowest);
  OverFace over{n.dot(x) - hull.faces[face].offset, x, FeatureCode::vertex(lowest)};

  // Edges that are level with it (those of a box without size have no direction): one is a parallel edge, more span a
  // parallel face.
  int level = 0, level_end = -1;
  for_edges_at(core, lowest, [&](int edge, int other) {
    const Vec3 along = core.vertex(other) - core.vertex(lowest);
    if (up.dot(along) > tolerance || along.squaredNorm() <= tolerance * tolerance) return;
    if (level++ > 0) return;
    level_end = other;
    over.code = FeatureCode::edge(edge);
  });
  Middle middle;
  const int parallel = level > 1 ? level_face(*core.hull(), lowest, -up, tolerance) : -1;
  if (parallel >= 0) {
    over.code = FeatureCode::face(parallel);
    add_face_overlap(hull, face, *core.hull(), parallel, X_HC, tolerance, middle);
  } else {
    const Vec3 end = level > 0 ? Vec3(X_HC * core.vertex(level_end)) : x;
    middle.add(x, end, clip_to_face(hull, face, x, end, tolerance));
  }
  if (middle.count == 0) return std::nullopt;
  if (level > 0) {
    // At the lowest vertex' height exactly, whatever the tilt within the tolerance.
    over.x = middle.sum / middle.count;
    over.x += (over.height + hull.faces[face].offset - n.dot(over.x)) * n;
  }
  return over;
}

CoreDistance core_distance(const Core& a, const Core& b, const Pose& X_BA, const GjkResult& closest) {
  LITHE_ASSERT(closest.status == GjkStatus::separated && closest.count >= 1 && closest.count <= 3);
  Problem problem{a, b, X_BA, closest, {}, {}, MinkowskiDifference(a, b, X_BA).size()};
  for (int k = 0; k < closest.count; ++k) {
    problem.on_a.insert(closest.simplex[k].a);
    problem.on_b.insert(closest.simplex[k].b);
  }
  if (const auto result = over_face_of_b(problem)) return *result;
  if (const auto result = over_face_of_a(problem)) return *result;
  if (problem.on_a.count > 2 || problem.on_b.count > 2) return as_found(problem);
  std::optional<CoreDistance> result = between_parallel_edges(problem);
  if (result) return *result;
  if (problem.on_a.count == 2 && problem.on_b.count == 2) result = between_edges(problem);
  if (problem.on_a.count + problem.on_b.count == 3) result = vertex_to_edge(problem);
  return result && proves_itself(problem, *result) ? *result : as_found(problem);
}

}  // namespace lithe::internal
