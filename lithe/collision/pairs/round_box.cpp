#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/collision/curved/lying_capsule.h"
#include "lithe/collision/distance/segments.h"
#include "lithe/collision/manifold/box_features.h"
#include "lithe/collision/pairs/pairs.h"

// Spheres and capsules with boxes: a ball of radius r swept along a core, a point or a segment c + t e, |t| ≤ h, over a
// box |x_i| ≤ b_i, in whose frame everything is.
//
//   core outside   its closest point x to the box: n = (x − clamp(x))/|…|
//   core inside    the best of all separating directions that can be best, since they are the face normals of
//                  {box − core}: the box's faces and, for a segment, ± e × edges
//
// Axes i, j, k are always different ones, in cyclic order.
namespace lithe::internal {
namespace {

// Edges win over faces by more than this, relative to the shapes' size; equal ones are the same normal twice.
constexpr double kEdgeTie = 1e-12;

constexpr int next_axis(int axis) { return axis == 2 ? 0 : axis + 1; }

struct BoxedCore {
  Vec3 c, e;
  double h;       // 0: a point
  const Vec3& b;  // the box
  double radius;
  double size;     // of both, for tolerances
  double meeting;  // a core this close to the box is inside: the direction to it is rounding

  explicit BoxedCore(const PairQuery& query)
      : c(query.X_BA.p),
        e(query.X_BA.R.col(2)),
        h(query.a.half_length),
        b(query.b.half_size),
        radius(query.a.radius),
        size(h + b.sum()),
        meeting(1e-9 * radius + (h > 0 ? 1e-12 * size : 0)) {
    // A tilt that moves nothing by more than 1e-12 of the length is none: parallel cores meet faces in their middle.
    for (int i = 0; i < 3; ++i) {
      if (std::abs(e[i]) < SegmentPair::kParallel) e[i] = 0;
    }
  }

  Vec3 at(double t) const { return c + t * e; }
  bool is_pipe(double t) const { return std::abs(t) < h; }
};

// Closest or deepest features: the core's point x = c + t e, the box's feature and the signed distance of the two.
struct BoxTouch {
  double t;
  Vec3 x, n;
  double core;       // gap = core − r
  FeatureCode code;  // of the box
  int axis;          // of a face or edge
};

// Without branches, for which side a point is on is as good as random.
double clamped(double x, double low, double high) { return std::min(std::max(x, low), high); }
double excess(double x, double b) { return x - clamped(x, -b, b); }

int sign_bit(double x, int axis) { return x > 0 ? 1 << axis : 0; }

BoxTouch face_touch(const Vec3& x, double t, int axis, bool negative, double core) {
  BoxTouch touch{t, x, Vec3::Zero(), core, FeatureCode::face(box_face(axis, negative)), axis};
  touch.n[axis] = negative ? -1 : 1;
  return touch;
}

// Inside the box, the face of the largest signed distance (ties: the lowest).
BoxTouch inside_point_touch(const BoxedCore& core, const Vec3& x, double t) {
  const Vec3 out = x.cwiseAbs() - core.b;
  int axis = out.y() > out.x() ? 1 : 0;
  if (out.z() > out[axis]) axis = 2;
  return face_touch(x, t, axis, x[axis] < 0, out[axis]);
}

// x is outside by g = x − clamp(x) ≠ 0: as many axes as g has decide between face, edge and vertex.
BoxTouch outside_point_touch(const Vec3& x, double t, const Vec3& g, double distance) {
  const int mask = (g.x() != 0 ? 1 : 0) | (g.y() != 0 ? 2 : 0) | (g.z() != 0 ? 4 : 0);
  const int vertex = sign_bit(g.x(), 0) | sign_bit(g.y(), 1) | sign_bit(g.z(), 2);
  BoxTouch touch{t, x, g / distance, distance, {}, 0};
  switch (mask) {
    case 1:
    case 2:
    case 4:
      touch.axis = mask >> 1;
      touch.code = FeatureCode::face(box_face(touch.axis, (vertex & mask) == 0));
      break;
    case 7: touch.code = FeatureCode::vertex(vertex); break;
    default: touch.axis = (7 - mask) >> 1; touch.code = FeatureCode::edge(box_edge(touch.axis, vertex));
  }
  return touch;
}

BoxTouch point_touch(const BoxedCore& core, double t) {
  const Vec3 x = core.at(t);
  const Vec3 g = x - x.cwiseMax(-core.b).cwiseMin(core.b);
  const double distance = g.norm();
  return distance > core.meeting ? outside_point_touch(x, t, g, distance) : inside_point_touch(core, x, t);
}

// The point of the core that is closest to the box; of several, their middle. Half the derivative of the squared
// distance, f(t) = Σ e_i excess(c_i + t e_i), grows with t and is linear between the six t where the core passes a
// plane of the box: these bracket its zero, the last piece gives it exactly.
double closest_to_box(const BoxedCore& core) {
  const auto term = [&](int i, double t) { return core.e[i] * excess(core.c[i] + t * core.e[i], core.b[i]); };
  double low = -core.h, high = core.h;
  const double f_low = term(0, low) + term(1, low) + term(2, low);
  if (f_low > 0) return low;
  const double f_high = term(0, high) + term(1, high) + term(2, high);
  if (f_high < 0) return high;
  // Where f is zero, all between is as close. At a plane of axis i, that axis adds just 0.
  double first_zero = f_low == 0 ? low : high, last_zero = f_high == 0 ? high : low;
  for (int i = 0; i < 3; ++i) {
    if (core.e[i] == 0) continue;
    const int j = next_axis(i), k = next_axis(j);
    const double inverse = 1 / core.e[i];
    for (const double side : {-core.b[i], core.b[i]}) {
      const double t = (side - core.c[i]) * inverse;
      if (!(t > low && t < high)) continue;
      const double f = term(j, t) + term(k, t);
      if (f < 0) {
        low = t;
      } else if (f > 0) {
        high = t;
      } else {
        first_zero = std::min(first_zero, t);
        last_zero = std::max(last_zero, t);
      }
    }
  }
  if (first_zero <= last_zero) return 0.5 * (first_zero + last_zero);

  const double middle = 0.5 * (low + high);
  double numerator = 0, denominator = 0;
  for (int i = 0; i < 3; ++i) {
    const double x = core.c[i] + middle * core.e[i];
    if (std::abs(x) <= core.b[i]) continue;
    numerator -= core.e[i] * (core.c[i] - std::copysign(core.b[i], x));
    denominator += core.e[i] * core.e[i];
  }
  return denominator > 0 ? clamped(numerator / denominator, low, high) : middle;
}

// The core's line and the line of the edge along axis i through `vertex`: n = ± e_i × e on the side of `towards`.
// The closest points of the lines, wherever they are; sine = sin of the angle between them, > 0.
BoxTouch crossing_touch(const BoxedCore& core, int i, int vertex, const Vec3& towards) {
  const int j = next_axis(i), k = next_axis(j);
  const double ej = core.e[j], ek = core.e[k];
  const double across = ej * ej + ek * ek, sine = std::sqrt(across);
  const double cj = core.c[j] - ((vertex >> j & 1) != 0 ? core.b[j] : -core.b[j]);
  const double ck = core.c[k] - ((vertex >> k & 1) != 0 ? core.b[k] : -core.b[k]);
  const double sign = ej * towards[k] - ek * towards[j] < 0 ? -1 : 1;
  BoxTouch touch{-(cj * ej + ck * ek) / across, {}, Vec3::Zero(), 0, FeatureCode::edge(box_edge(i, vertex)), i};
  touch.n[j] = -sign * ek / sine;
  touch.n[k] = sign * ej / sine;
  touch.core = cj * touch.n[j] + ck * touch.n[k];
  touch.x = core.at(touch.t);
  return touch;
}

// The part low … high of the core over a face, by the planes of its sides.
struct Clip {
  double low, high;
  int low_axis = -1, high_axis = -1;  // the axis of the side that cuts there, −1 at an end of the core

  bool empty() const { return low > high; }
  void cut(const BoxedCore& core, int axis, double reach) {
    if (core.e[axis] == 0) {
      if (std::abs(core.c[axis]) > reach) high = low - 1;
      return;
    }
    const double inverse = 1 / core.e[axis];
    const double first = (-reach - core.c[axis]) * inverse, second = (reach - core.c[axis]) * inverse;
    const double enter = std::min(first, second), leave = std::max(first, second);
    if (enter > low) low = enter, low_axis = axis;
    if (leave < high) high = leave, high_axis = axis;
  }
};

// The core meets the box: the largest separation over the directions that can be best. Only the sign that faces c can.
BoxTouch meeting_segment_touch(const BoxedCore& core) {
  int axis = 0;
  double best = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const double separation = std::abs(core.c[i]) - core.h * std::abs(core.e[i]) - core.b[i];
    if (separation > best) best = separation, axis = i;
  }
  int edge_axis = -1;
  double to_beat = best + kEdgeTie * core.size;
  for (int i = 0; i < 3; ++i) {
    const int j = next_axis(i), k = next_axis(j);
    const double ej = core.e[j], ek = core.e[k], across = ej * ej + ek * ek;
    if (across < SegmentPair::kParallel * SegmentPair::kParallel) continue;
    const double reach = core.b[j] * std::abs(ek) + core.b[k] * std::abs(ej);
    const double separation = (std::abs(core.c[k] * ej - core.c[j] * ek) - reach) / std::sqrt(across);
    if (separation > to_beat) to_beat = separation, edge_axis = i;
  }
  if (edge_axis >= 0) {
    // The edge that is farthest along ± e_i × e.
    const int i = edge_axis, j = next_axis(i), k = next_axis(j);
    const bool forward = core.c[k] * core.e[j] - core.c[j] * core.e[k] >= 0;
    const double nj = forward ? -core.e[k] : core.e[k], nk = forward ? core.e[j] : -core.e[j];
    Vec3 towards = Vec3::Zero();
    towards[j] = nj;
    towards[k] = nk;
    return crossing_touch(core, i, sign_bit(nj, j) | sign_bit(nk, k), towards);
  }
  // The deepest point over the face; all are where the core is parallel to it.
  Clip clip{-core.h, core.h};
  clip.cut(core, next_axis(axis), core.b[next_axis(axis)]);
  clip.cut(core, next_axis(next_axis(axis)), core.b[next_axis(next_axis(axis))]);
  const bool negative = core.c[axis] < 0;
  const double fall = negative ? -core.e[axis] : core.e[axis];
  const double t = fall == 0 || clip.empty() ? 0.5 * (clip.low + clip.high) : fall > 0 ? clip.low : clip.high;
  return face_touch(core.at(t), t, axis, negative, best);
}

BoxTouch deepest_touch(const BoxedCore& core) {
  if (core.h == 0) return point_touch(core, 0);
  const double t = closest_to_box(core);
  const Vec3 x = core.at(t);
  const Vec3 g = x - x.cwiseMax(-core.b).cwiseMin(core.b);
  const double distance = g.norm();
  return distance > core.meeting ? outside_point_touch(x, t, g, distance) : meeting_segment_touch(core);
}

FeatureCode code_at(const BoxedCore& core, double t) {
  return core.is_pipe(t) ? FeatureCode::pipe() : FeatureCode::end(t > 0 ? 1 : 0);
}

void set_contact(const BoxedCore& core, const BoxTouch& touch, Contact& contact) {
  const bool pipe = core.is_pipe(touch.t);
  contact.code_a = code_at(core, touch.t);
  contact.code_b = touch.code;
  contact.n = touch.n;
  contact.gap = touch.core - core.radius;
  // ½(x_a + x_b), x_a = x − r n, x_b = x − core n.
  contact.p = touch.x - (0.5 * (core.radius + touch.core)) * touch.n;

  ClosestFeatures& feature = contact.feature.emplace<ClosestFeatures>();
  // Over a face, the point of a pipe that lies flat is a choice that a carries; so it is along a parallel edge.
  feature.a.round = core.radius;
  switch (touch.code.part()) {
    case FeatureCode::Part::face: feature.b.freedom = SupportJet::Freedom::face; break;
    case FeatureCode::Part::vertex:
      if (pipe) feature.a = SupportJet::line(core.e, core.radius);
      break;
    default: {
      feature.b = SupportJet::line(Vec3::Unit(touch.axis));
      if (!pipe) break;
      const double ej = core.e[next_axis(touch.axis)], ek = core.e[next_axis(next_axis(touch.axis))];
      const double sine_sq = ej * ej + ek * ek;
      if (sine_sq > 0) feature.a = SupportJet::line(core.e, core.radius);
      if (sine_sq < lying::kSensitiveAngle * lying::kSensitiveAngle) contact.flags = ContactFlag::sensitive_point;
    }
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
class LyingCapsule {
 public:
  LyingCapsule(const PairQuery& query, const BoxedCore& core, const BoxTouch& deepest, std::vector<Contact>& out)
      : query_(query), core_(core), deepest_(deepest), out_(out), first_(out.size()) {
    deepest.n.cwiseAbs().maxCoeff(&face_);
    negative_ = deepest.n[face_] < 0;
    for (int axis = next_axis(face_); axis != face_; axis = next_axis(axis)) {
      const int along = 3 - face_ - axis;  // the direction of the sides ± axis
      if (std::abs(core.e[along]) > lying::kAlongEdge) beside_ = axis;
    }
  }

  static bool applies(const BoxedCore& core, const BoxTouch& deepest) {
    if (deepest.n.cwiseAbs().maxCoeff() > lying::kOnFace) return true;
    for (int i = 0; i < 3; ++i) {
      if (std::abs(core.e[i]) > lying::kAlongEdge && std::abs(deepest.n[i]) < lying::kAcrossEdge) return true;
    }
    return false;
  }

  bool append() {
    Clip clip{-core_.h, core_.h};
    for (int axis = next_axis(face_); axis != face_; axis = next_axis(axis)) {
      if (axis != beside_) clip.cut(core_, axis, core_.b[axis] + query_.bands.side);
    }
    if (clip.empty()) return false;
    append_end(clip.low, clip.low_axis);
    append_end(clip.high, clip.high_axis);
    if (beside_ >= 0 && core_.e[beside_] != 0) append_crossings(clip);
    if (lowest_ > deepest_.core + lying::kLowered * core_.radius) append(deepest_);
    return out_.size() > first_;
  }

 private:
  double height(const Vec3& x) const { return (negative_ ? -x[face_] : x[face_]) - core_.b[face_]; }
  bool is_beside(const Vec3& x) const {
    return beside_ >= 0 && std::abs(x[beside_]) > core_.b[beside_] + query_.bands.side;
  }
  int face_bit() const { return negative_ ? 0 : 1 << face_; }

  void append_end(double t, int cut_axis) {
    const Vec3 x = core_.at(t);
    const bool beside = is_beside(x);
    if (cut_axis < 0) {
      append(beside ? point_touch(core_, t) : face_touch(x, t, face_, negative_, height(x)));
    } else if (beside) {
      if (height(x) >= 0) append_vertex(face_bit() | sign_bit(x[cut_axis], cut_axis) | sign_bit(x[beside_], beside_));
    } else {
      append_edge(3 - face_ - cut_axis, face_bit() | sign_bit(x[cut_axis], cut_axis));
    }
  }

  // The edge along axis i through `vertex`, which the core crosses.
  void append_edge(int i, int vertex) {
    const BoxTouch touch = crossing_touch(core_, i, vertex, deepest_.n);
    if (!core_.is_pipe(touch.t)) {
      append(point_touch(core_, clamped(touch.t, -core_.h, core_.h)));
    } else if (is_beyond_edge(touch, i)) {
      append_vertex(vertex | sign_bit(foot(touch)[i], i));
    } else if (std::abs(touch.n[face_]) > lying::kOnFace) {
      append(touch);
    }
  }

  // A touch's point on the box's surface, or on an edge's line.
  static Vec3 foot(const BoxTouch& touch) { return touch.x - touch.core * touch.n; }
  // Beyond the ends of an edge along axis i, by more than a face's prism is wider than the face.
  bool is_beyond_edge(const BoxTouch& touch, int i) const {
    return std::abs(foot(touch)[i]) > core_.b[i] + query_.bands.side;
  }

  void append_vertex(int vertex) {
    const Vec3 corner((vertex & 1) != 0 ? core_.b.x() : -core_.b.x(), (vertex & 2) != 0 ? core_.b.y() : -core_.b.y(),
                      (vertex & 4) != 0 ? core_.b.z() : -core_.b.z());
    const double t = (corner - core_.c).dot(core_.e);
    if (!core_.is_pipe(t)) {
      append(point_touch(core_, clamped(t, -core_.h, core_.h)));
      return;
    }
    const Vec3 x = core_.at(t), g = x - corner;
    const double distance = g.norm();
    if (distance > core_.meeting) append({t, x, g / distance, distance, FeatureCode::vertex(vertex), 0});
  }

  void append_crossings(const Clip& clip) {
    const int along = 3 - face_ - beside_;
    for (const int bit : {0, 1 << beside_}) {
      const BoxTouch touch = crossing_touch(core_, along, face_bit() | bit, deepest_.n);
      const bool is_deepest = core_.is_pipe(deepest_.t) && touch.code == deepest_.code;
      if (!is_deepest && std::abs(touch.n[face_]) < lying::kOnFace) continue;
      if (!(touch.t > clip.low && touch.t < clip.high) || is_beyond_edge(touch, along)) continue;
      const double sine = std::hypot(core_.e[face_], core_.e[beside_]);
      const double farther = std::max(touch.t - clip.low, clip.high - touch.t);
      if (sine * farther > lying::kCrossingOffset * core_.radius) append(touch);
    }
  }

  void append(const BoxTouch& touch) {
    if (touch.core - core_.radius > query_.bands.margin) return;
    if (out_.size() - first_ >= static_cast<std::size_t>(query_.max_points)) return;
    const FeatureCode code = code_at(core_, touch.t);
    for (std::size_t i = first_; i < out_.size(); ++i) {
      if (out_[i].code_a == code && out_[i].code_b == touch.code) return;  // an end for both ends of a short part
    }
    set_contact(core_, touch, out_.emplace_back());
    lowest_ = std::min(lowest_, touch.core);
  }

  const PairQuery& query_;
  const BoxedCore& core_;
  const BoxTouch& deepest_;
  std::vector<Contact>& out_;
  std::size_t first_;
  int face_;                                                 // axis of the face
  bool negative_;                                            // and its sign
  int beside_ = -1;                                          // axis of the sides that the core is nearly parallel to
  double lowest_ = std::numeric_limits<double>::infinity();  // distance of the core among the points so far
};

}  // namespace

void round_box_contacts(const PairQuery& query, std::vector<Contact>& out) {
  const BoxedCore core(query);
  const double reach = core.radius + query.bands.margin;
  for (int i = 0; i < 3; ++i) {
    if (std::abs(core.c[i]) - core.h * std::abs(core.e[i]) - core.b[i] > reach) return;
  }
  const BoxTouch deepest = deepest_touch(core);
  if (deepest.core > reach) return;
  if (core.h > 0 && query.max_points > 1 && LyingCapsule::applies(core, deepest)) {
    if (LyingCapsule(query, core, deepest, out).append()) return;
  }
  set_contact(core, deepest, out.emplace_back());
}

Contact round_box_distance(const PairQuery& query) {
  const BoxedCore core(query);
  Contact contact;
  set_contact(core, deepest_touch(core), contact);
  return contact;
}

}  // namespace lithe::internal
