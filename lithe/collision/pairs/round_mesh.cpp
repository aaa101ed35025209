#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lithe/collision/curved/lying_capsule.h"
#include "lithe/collision/distance/hull_distance.h"
#include "lithe/collision/distance/point_hull.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/collision/pairs/pairs.h"
#include "lithe/core/infinity.h"

// Spheres and capsules (a) with meshes (b): a ball of radius r swept along a core, a point or a segment o + t e, |t| ≤ h,
// over a hull, in whose frame everything is.
//
//   core outside   its closest features
//   core inside    the best of all separating directions that can be best, since they are the face normals of
//                  {hull − core}: the hull's faces and, for a segment, ± e × edges
//
// One scan over the faces, best_face(), answers most queries: far away, over a face, and (spheres) inside.
namespace lithe::internal {
namespace {

using Freedom = SupportJet::Freedom;
using Part = FeatureCode::Part;

// Relative to the shapes' size: a core this close to the hull is inside, and edges win over faces by more than this.
constexpr double kMeeting = 1e-9;
// Relative to the same: what is parallel to a face.
constexpr double kLevelCapsule = 1e-12;
// A core at a smaller angle (sine) to an edge does not cross it.
constexpr double kParallelEdges = 1e-12;

struct RoundShape {
  const Hull& hull;
  Vec3 o, e;  // middle and axis of the core, in the hull's frame
  double h;   // 0: a point
  double radius;
  double size;  // of both, for tolerances
  const Pose& X_BA;

  explicit RoundShape(const PairQuery& query)
      : hull(*query.b.hull),
        o(query.X_BA.p),
        e(query.X_BA.R.col(2)),
        h(query.a.half_length),
        radius(query.a.radius),
        size(hull.radius + h),
        X_BA(query.X_BA) {}

  Core core() const { return h > 0 ? Core::segment(h) : Core::point(); }
  Vec3 at(double t) const { return o + t * e; }
  bool is_pipe(double t) const { return std::abs(t) < h; }
  CoreFeature pipe() const { return {.code = FeatureCode::edge(0), .freedom = Freedom::line, .e = e}; }
};

// What of the core lies x high over a face.
CoreDistance face_touch(const RoundShape& shape, int face, double height, const Vec3& x, FeatureCode code) {
  const Vec3& n = shape.hull.faces[face].normal;
  return {.n = n,
          .distance = height,
          .x_a = x,
          .x_b = x - height * n,
          .a = {.code = code},
          .b = {.code = FeatureCode::face(face), .freedom = Freedom::face}};
}

// An end of the core (or a sphere's centre) by itself.
CoreDistance point_touch(const RoundShape& shape, const Vec3& x, const FaceBound& bound, int end) {
  const NearestOnHull nearest = nearest_on_hull(shape.hull, x, bound, kMeeting * shape.size);
  CoreDistance touch{nearest.n, nearest.distance, x, nearest.x, {.code = FeatureCode::vertex(end)}, {nearest.code}};
  if (nearest.code.part() == Part::face) touch.b.freedom = Freedom::face;
  if (nearest.code.part() == Part::edge) {
    touch.b.freedom = Freedom::line;
    touch.b.e = shape.hull.edges[nearest.code.index()].direction;
  }
  return touch;
}

// The core's line and the line of an edge: n = ± e × edge on the side of `towards`, at the closest points of the lines,
// wherever they are. Nothing if the lines are parallel.
std::optional<CoreDistance> crossing_touch(const RoundShape& shape, int edge, const Vec3& towards) {
  const Hull::Edge& line = shape.hull.edges[edge];
  const Vec3 cross = shape.e.cross(line.direction);
  const double sine_sq = cross.squaredNorm();
  if (sine_sq < kParallelEdges * kParallelEdges) return std::nullopt;
  const Vec3 apart = shape.o - shape.hull.vertices[line.vertex[0]];
  const Vec3 n = ((cross.dot(towards) < 0 ? -1 : 1) / std::sqrt(sine_sq)) * cross;
  const double distance = n.dot(apart);
  const Vec3 x = shape.at(-line.direction.cross(cross).dot(apart) / sine_sq);
  return CoreDistance{.n = n,
                      .distance = distance,
                      .x_a = x,
                      .x_b = x - distance * n,
                      .a = shape.pipe(),
                      .b = {.code = FeatureCode::edge(edge), .freedom = Freedom::line, .e = line.direction}};
}

struct EdgeBound {
  int edge;
  double s;
  Vec3 n;
};

// The edge with the best separating direction ⟂ to the core. An edge has one where the normals of its two faces lie on
// different sides of the plane ⟂ to e: the mixture of the two that lies in that plane.
EdgeBound best_edge(const RoundShape& shape) {
  EdgeBound best{-1, -kInfinity, Vec3::Zero()};
  const Hull& hull = shape.hull;
  for (int k = 0; k < static_cast<int>(hull.edges.size()); ++k) {
    const Hull::Edge& edge = hull.edges[k];
    const Vec3 &n0 = hull.faces[edge.face[0]].normal, &n1 = hull.faces[edge.face[1]].normal;
    const double along0 = n0.dot(shape.e), along1 = n1.dot(shape.e);
    if (!(along0 * along1 < 0)) continue;
    const Vec3 n = (std::abs(along1) * n0 + std::abs(along0) * n1).normalized();
    const double s = n.dot(shape.o - hull.vertices[edge.vertex[0]]);
    if (s > best.s) best = {k, s, n};
  }
  return best;
}

std::optional<CoreDistance> lowest_touch(const RoundShape& shape, int face) {
  const auto over = lowest_over_face(shape.hull, face, shape.core(), shape.X_BA, 0, kLevelCapsule * shape.size);
  if (!over) return std::nullopt;
  return face_touch(shape, face, over->height, over->x, over->code);
}

CoreDistance meeting_segment_touch(const RoundShape& shape, const FaceBound& bound) {
  const EdgeBound edge = best_edge(shape);
  if (edge.s > bound.s + kMeeting * shape.size) {
    if (const auto touch = crossing_touch(shape, edge.edge, edge.n)) return *touch;
  }
  if (const auto touch = lowest_touch(shape, bound.face)) return *touch;
  // A tie with an edge, which has the point; the face's plane is as near at the end of the core.
  const int end = shape.hull.faces[bound.face].normal.dot(shape.e) > 0 ? 0 : 1;
  return face_touch(shape, bound.face, bound.s, shape.at(end == 0 ? -shape.h : shape.h), FeatureCode::vertex(end));
}

// The closest or deepest features of core and hull; nothing if they are more than `far` apart.
std::optional<CoreDistance> deepest_touch(const RoundShape& shape, double far) {
  const FaceBound bound = best_face(shape.hull, shape.o, shape.h * shape.e);
  if (bound.s > far) return std::nullopt;
  if (shape.h == 0) return point_touch(shape, shape.o, bound, 0);
  // The bound is reached where the lowest point lies over the face.
  if (bound.s > kMeeting * shape.size) {
    if (const auto touch = lowest_touch(shape, bound.face)) return touch;
  }
  const Core core = shape.core(), hull = Core::hull(shape.hull);
  const GjkResult closest = gjk(core, hull, shape.X_BA, far, &shape.hull.faces[bound.face].normal);
  if (closest.status == GjkStatus::far) return std::nullopt;
  if (closest.status == GjkStatus::separated && closest.distance > kMeeting * shape.size) {
    return core_distance(core, hull, shape.X_BA, closest);
  }
  return meeting_segment_touch(shape, bound);
}

FeatureCode code_of_core(FeatureCode code) {
  return code.part() == Part::edge ? FeatureCode::pipe() : FeatureCode::end(code.index());
}

void set_contact(const RoundShape& shape, const CoreDistance& touch, Contact& contact) {
  contact.code_a = code_of_core(touch.a.code);
  contact.code_b = touch.b.code;
  contact.n = touch.n;
  contact.gap = touch.distance - shape.radius;
  contact.p = 0.5 * (touch.x_a + touch.x_b - shape.radius * touch.n);
  contact.feature = ClosestFeatures{touch.a.jet(shape.radius), touch.b.jet()};
  const bool is_pipe = touch.a.code.part() == Part::edge;
  if (is_pipe && touch.b.freedom == Freedom::line && shape.e.cross(touch.b.e).norm() < lying::kSensitiveAngle) {
    contact.flags = ContactFlag::sensitive_point;
  }
}

// A capsule that lies on a face or along an edge: one point at each end of the part of the core that is over the face.
//
//   end over the face                  end–face
//   end beside it (along an edge)      as a ball would: mostly end–edge
//   side cuts the core, over the face  pipe–edge, n = ± e × edge, not clamped to the edge's normal cone: a capsule at
//                                      rest lies on that boundary
//   side cuts it beside the face       pipe–vertex
//
// Sides nearly parallel to the core do not cut it: where it crosses them is a matter of rounding. The crossing is one
// more point where the core passes from one side of the edge to the other.
class CapsuleOnMesh {
 public:
  CapsuleOnMesh(const PairQuery& query, const RoundShape& shape, const CoreDistance& deepest, std::vector<Contact>& out)
      : query_(query), shape_(shape), hull_(shape.hull), deepest_(deepest), out_(out), first_(out.size()) {
    face_ = face_below();
  }

  bool applies() const {
    const Hull::Face& face = hull_.faces[face_];
    if (face.normal.dot(deepest_.n) > lying::kOnFace) return true;
    for (int k = 0; k < face.count; ++k) {
      if (is_along(k) && std::abs(hull_.edges[edge_of(k)].direction.dot(deepest_.n)) < lying::kAcrossEdge) return true;
    }
    return false;
  }

  bool append() {
    Clip clip{{-shape_.h, shape_.h}, {-1, -1}};
    for (int k = 0; k < hull_.faces[face_].count; ++k) {
      if (!is_along(k)) cut(k, clip);
    }
    if (clip.t[0] > clip.t[1]) return false;
    for (const int end : {0, 1}) append_end(clip, end);
    append_crossings(clip);
    if (lowest_ > deepest_.distance + lying::kLowered * shape_.radius) append(deepest_);
    return out_.size() > first_;
  }

 private:
  // The part of the core over the face, and the sides (−1: none, an end of the core) that cut it there.
  struct Clip {
    double t[2];
    int side[2];
  };

  // Of the faces at the hull's closest feature the one that looks most along n.
  int face_below() const {
    int best = -1;
    double most = -kInfinity;
    const auto offer = [&](int face) {
      const double along = hull_.faces[face].normal.dot(deepest_.n);
      if (along > most) {
        most = along;
        best = face;
      }
    };
    const FeatureCode code = deepest_.b.code;
    if (code.part() == Part::face) {
      offer(code.index());
    } else if (code.part() == Part::edge) {
      const auto& [f, g] = hull_.edges[code.index()].face;
      offer(std::min(f, g));
      offer(std::max(f, g));
    } else {
      for (const int face : hull_.faces_of(code.index())) offer(face);
    }
    return best;
  }

  const Hull::Side& side(int k) const { return hull_.sides[hull_.faces[face_].first + k]; }
  int edge_of(int k) const {
    const std::span<const int> ring = hull_.face_vertices(face_);
    return hull_.edge_between(ring[k], ring[k + 1 < static_cast<int>(ring.size()) ? k + 1 : 0]);
  }
  bool is_along(int k) const { return std::abs(hull_.edges[edge_of(k)].direction.dot(shape_.e)) > lying::kAlongEdge; }
  double height(const Vec3& x) const { return hull_.faces[face_].normal.dot(x) - hull_.faces[face_].offset; }

  void cut(int k, Clip& clip) const {
    const double slope = side(k).normal.dot(shape_.e);
    const double excess = side(k).normal.dot(shape_.o) - side(k).offset - query_.bands.side;
    if (std::abs(slope) < kParallelEdges) {
      if (excess > 0) clip.t[1] = clip.t[0] - 1;
      return;
    }
    const double t = -excess / slope;
    const int end = slope > 0 ? 1 : 0;
    if (end == 1 ? t < clip.t[1] : t > clip.t[0]) {
      clip.t[end] = t;
      clip.side[end] = k;
    }
  }

  // The side along the core that x lies beyond, or −1.
  int beyond(const Vec3& x) const {
    for (int k = 0; k < hull_.faces[face_].count; ++k) {
      if (side(k).normal.dot(x) - side(k).offset > query_.bands.side && is_along(k)) return k;
    }
    return -1;
  }

  void append_end(const Clip& clip, int end) {
    const Vec3 x = shape_.at(clip.t[end]);
    const int beside = beyond(x), cutting = clip.side[end];
    if (cutting < 0 && beside < 0) {
      append(face_touch(shape_, face_, height(x), x, FeatureCode::vertex(end)));
    } else if (cutting < 0) {
      append_ball(end);
    } else if (beside < 0) {
      append_edge(edge_of(cutting));
    } else if (height(x) >= 0) {
      // The corner of the cutting side that lies farther out.
      const auto& [i, j] = hull_.edges[edge_of(cutting)].vertex;
      const Vec3& out = side(beside).normal;
      append_vertex(out.dot(hull_.vertices[i]) > out.dot(hull_.vertices[j]) ? i : j);
    }
  }

  void append_ball(int end) {
    const Vec3 x = shape_.at(end == 0 ? -shape_.h : shape_.h);
    append(point_touch(shape_, x, best_face(hull_, x, Vec3::Zero()), end));
  }

  // Where the core's line passes an edge or a vertex, unless its end comes first.
  void append_edge(int edge) {
    const auto touch = crossing_touch(shape_, edge, deepest_.n);
    if (!touch) return;
    const double t = shape_.e.dot(touch->x_a - shape_.o);
    if (!shape_.is_pipe(t)) {
      append_ball(t < 0 ? 0 : 1);
    } else if (const int vertex = vertex_beyond(edge, touch->x_b); vertex >= 0) {
      append_vertex(vertex);
    } else if (touch->n.dot(hull_.faces[face_].normal) > lying::kOnFace) {
      append(*touch);
    }
  }

  void append_vertex(int vertex) {
    const Vec3& corner = hull_.vertices[vertex];
    const double t = shape_.e.dot(corner - shape_.o);
    if (!shape_.is_pipe(t)) return append_ball(t < 0 ? 0 : 1);
    const Vec3 x = shape_.at(t), apart = x - corner;
    const double distance = apart.norm();
    if (distance <= kMeeting * shape_.size) return;
    append({apart / distance, distance, x, corner, shape_.pipe(), {.code = FeatureCode::vertex(vertex)}});
  }

  void append_crossings(const Clip& clip) {
    for (int k = 0; k < hull_.faces[face_].count; ++k) {
      if (std::abs(side(k).normal.dot(shape_.e)) < kParallelEdges || !is_along(k)) continue;
      const auto touch = crossing_touch(shape_, edge_of(k), deepest_.n);
      if (!touch) continue;
      const bool is_deepest = deepest_.a.code.part() == Part::edge && touch->b.code == deepest_.b.code;
      if (!is_deepest && touch->n.dot(hull_.faces[face_].normal) < lying::kOnFace) continue;
      const double t = shape_.e.dot(touch->x_a - shape_.o);
      if (!(t > clip.t[0] && t < clip.t[1]) || vertex_beyond(edge_of(k), touch->x_b) >= 0) continue;
      const double sine = shape_.e.cross(touch->b.e).norm();
      const double farther = std::max(t - clip.t[0], clip.t[1] - t);
      if (sine * farther > lying::kCrossingOffset * shape_.radius) append(*touch);
    }
  }

  // The vertex of an edge that a point of its line lies beyond, by more than a face's prism is wider than the face, or −1.
  int vertex_beyond(int edge, const Vec3& x) const {
    const Hull::Edge& line = hull_.edges[edge];
    const auto& [i, j] = line.vertex;
    if (line.direction.dot(hull_.vertices[i] - x) > query_.bands.side) return i;
    if (line.direction.dot(x - hull_.vertices[j]) > query_.bands.side) return j;
    return -1;
  }

  void append(const CoreDistance& touch) {
    if (touch.distance - shape_.radius > query_.bands.margin) return;
    if (out_.size() - first_ >= static_cast<std::size_t>(query_.max_points)) return;
    const FeatureCode code = code_of_core(touch.a.code);
    for (std::size_t i = first_; i < out_.size(); ++i) {
      if (out_[i].code_a == code && out_[i].code_b == touch.b.code) return;  // an end for both ends of a short part
    }
    set_contact(shape_, touch, out_.emplace_back());
    lowest_ = std::min(lowest_, touch.distance);
  }

  const PairQuery& query_;
  const RoundShape& shape_;
  const Hull& hull_;
  const CoreDistance& deepest_;
  std::vector<Contact>& out_;
  std::size_t first_;
  int face_;
  double lowest_ = kInfinity;  // distance of the core among the points so far
};

}  // namespace

void round_mesh_contacts(const PairQuery& query, std::vector<Contact>& out) {
  const RoundShape shape(query);
  const double reach = shape.radius + query.bands.margin;
  const auto deepest = deepest_touch(shape, reach);
  if (!deepest || deepest->distance > reach) return;
  if (shape.h > 0 && query.max_points > 1) {
    CapsuleOnMesh lying(query, shape, *deepest, out);
    if (lying.applies() && lying.append()) return;
  }
  set_contact(shape, *deepest, out.emplace_back());
}

Contact round_mesh_distance(const PairQuery& query) {
  const RoundShape shape(query);
  Contact contact;
  set_contact(shape, *deepest_touch(shape, kInfinity), contact);
  return contact;
}

}  // namespace lithe::internal
