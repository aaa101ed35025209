#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lithe/collision/curved/cylinder_support.h"
#include "lithe/collision/curved/line_rim.h"
#include "lithe/collision/curved/rim_arc.h"
#include "lithe/collision/pairs/pairs.h"

// A capsule is its axis, a segment, with a ball of radius r around every point: sep(n) is the segment's, less r. At the
// best normal either one end of the segment is closest, a point against a cylinder, or n ⟂ the segment, a line against
// a cylinder (rim_arc.h). Both are solved exactly, so the best candidate is the answer and not a guess at it.

namespace lithe::internal {
namespace {

// Sine of an angle below which directions are taken to be parallel: rounding alone.
constexpr double kAligned = 1e-12;

// In the cylinder's own frame; a: the capsule.
struct Scene {
  SolidCylinder cylinder;
  Vec3 centre, e;       // of the capsule
  double half, radius;  // its half-length and radius

  explicit Scene(const PairQuery& query)
      : cylinder{Vec3::Zero(), Vec3::UnitZ(), query.b.half_length, query.b.radius},
        centre(query.X_BA.p),
        e(query.X_BA.R.col(2)),
        half(query.a.half_length),
        radius(query.a.radius) {}

  Vec3 end(int k) const { return k == 0 ? Vec3(centre - half * e) : Vec3(centre + half * e); }
  int end_towards(const Vec3& d) const { return d.dot(e) > 0 ? 1 : 0; }
  double size() const { return half + cylinder.h + cylinder.rho; }
  // Of the axis, without the radius.
  double separation(const Vec3& n) const { return n.dot(centre) - half * std::abs(n.dot(e)) - reach(cylinder, n); }
};

// The point of the axis that touches, and what it touches.
struct Touch {
  FeatureCode on_capsule = {}, on_cylinder = {};
  Vec3 core = Vec3::Zero();  // point of the capsule's axis
  Vec3 n = Vec3::UnitZ();    // from the cylinder
  double depth = 0;          // n·(core − point on the cylinder): the gap before the radius
  ContactFlag flags = ContactFlag::none;
};

SupportJet capsule_jet(const Scene& s, const Touch& t) {
  const bool slides = t.on_capsule.part() == FeatureCode::Part::pipe && t.on_cylinder.part() != FeatureCode::Part::cap;
  return slides ? SupportJet::line(s.e, s.radius) : SupportJet::vertex(s.radius);
}

SupportJet cylinder_jet(const Scene& s, const Touch& t) {
  const SolidCylinder& c = s.cylinder;
  switch (t.on_cylinder.part()) {
    case FeatureCode::Part::cap: return SupportJet::face();
    case FeatureCode::Part::side: return SupportJet::line(c.a, c.rho);
    default: return rim_jet(c, t.core - t.depth * t.n, t.n);
  }
}

Contact contact_of(const Scene& s, const Touch& t) {
  Contact contact;
  contact.code_a = t.on_capsule;
  contact.code_b = t.on_cylinder;
  contact.flags = t.flags;
  contact.n = t.n;
  contact.gap = t.depth - s.radius;
  contact.p = t.core - (s.radius + 0.5 * contact.gap) * t.n;
  if (has(t.flags, ContactFlag::normal_by_convention)) {
    contact.feature = ClosestFeatures{SupportJet::vertex(), SupportJet::face()};
  } else {
    contact.feature = ClosestFeatures{capsule_jet(s, t), cylinder_jet(s, t)};
  }
  return contact;
}

// One end of the axis, outside the cylinder, against it.
Touch end_outside(const Scene& s, int k, const Vec3& x, const PointInCylinder& at) {
  const SolidCylinder& c = s.cylinder;
  const double beyond_side = at.l - c.rho, beyond_cap = std::abs(at.z) - c.h;
  const int cap = at.z < 0 ? 0 : 1;
  Touch t{.on_capsule = FeatureCode::end(k), .core = x};
  if (beyond_side > 0 && beyond_cap > 0) {
    t.on_cylinder = FeatureCode::rim(cap);
    t.depth = std::sqrt(beyond_side * beyond_side + beyond_cap * beyond_cap);
    t.n = (beyond_side * at.u + beyond_cap * c.cap_normal(cap)) / t.depth;
  } else if (beyond_side > beyond_cap) {
    t.on_cylinder = FeatureCode::side();
    t.depth = beyond_side;
    t.n = at.u;
  } else {
    t.on_cylinder = FeatureCode::cap(cap);
    t.depth = beyond_cap;
    t.n = c.cap_normal(cap);
  }
  return t;
}

// What pipe and cylinder touch with at a normal of the line's circle, n ⟂ e.
Touch pipe_touch(const Scene& s, const Vec3& n) {
  constexpr double kFlat = 1e-3;
  const SolidCylinder& c = s.cylinder;
  const double cosine = n.dot(c.a), sigma = sine_between(n, c.a);
  Touch t{.on_capsule = FeatureCode::pipe(), .n = n, .depth = n.dot(s.centre) - reach(c, n)};
  double along = 0;  // of the axis
  const int cap = cosine < 0 ? 0 : 1;
  if (sigma < kAligned) {
    // Lies across a cap: the middle of what is above it.
    t.on_cylinder = FeatureCode::cap(cap);
    const LineOverDisc chord(s.centre, s.e, c.o, c.a, c.rho);
    along = 0.5 * (std::max(-s.half, chord.middle - chord.half) + std::min(s.half, chord.middle + chord.half));
  } else if (std::abs(cosine) < kAligned) {
    t.on_cylinder = FeatureCode::side();
    const Vec3 f = c.a.cross(n);
    const double sine = s.e.dot(f);
    if (std::abs(sine) > kAligned) {
      along = -s.centre.dot(f) / sine;
    } else {
      // Parallel: the middle of the overlap.
      const double cos_ea = s.e.dot(c.a), to_centre = -s.centre.dot(c.a) / cos_ea;
      along = 0.5 * (std::max(-s.half, to_centre - c.h) + std::min(s.half, to_centre + c.h));
    }
  } else {
    t.on_cylinder = FeatureCode::rim(cap);
    const Vec3 u = radial_direction(n, c.a);
    if (sigma < kFlat) {
      // Almost flat over the cap: a rounding error of n decides where the rim's point is. The point of the rim that is
      // closest to the line knows better.
      const LineRim closest = closest_line_rim(s.centre, s.e, c, cap, u, n);
      if (closest.found && std::abs((closest.on_line - s.centre).dot(s.e)) <= s.half) {
        t.n = closest.n;
        t.core = closest.on_line;
        t.depth = closest.gap;
        return t;
      }
    }
    const Vec3 on_rim = c.cap_centre(cap) + c.rho * u;
    along = s.e.dot(on_rim - s.centre);
  }
  t.core = s.centre + std::clamp(along, -s.half, s.half) * s.e;
  return t;
}

class DeepestSearch {
 public:
  explicit DeepestSearch(const Scene& scene)
      : s_(scene),
        c_(scene.cylinder),
        ends_{scene.end(0), scene.end(1)},
        at_{PointInCylinder(c_, ends_[0]), PointInCylinder(c_, ends_[1])},
        end_count_(scene.half > 0 ? 2 : 1),
        tie_(1e-14 * (scene.size() + scene.centre.norm())) {
    best_.depth = -std::numeric_limits<double>::infinity();
  }

  Touch run() {
    if (find_end_outside()) return best_;
    if (s_.half > 0) {
      const Touch pipe = pipe_touch(s_, -rim_circle_maximum(c_, s_.centre, s_.e).n);
      offer(pipe, pipe.depth);
      if (best_.depth > 0) return best_;
    }
    try_caps();
    try_ends_inside();
    try_axis_on_axis();
    return best_;
  }

 private:
  void offer(const Touch& t, double separation) {
    if (!(separation > best_.depth + tie_)) return;
    best_ = t;
    best_.depth = separation;
  }

  // Where the normal of an end separates all of the axis as far, nothing is closer. Where the axes are parallel and side
  // by side, the line does as well, and takes the middle of the overlap.
  bool find_end_outside() {
    const bool parallel = s_.half > 0 && sine_between(s_.e, c_.a) < kAligned;
    for (int k = 0; k < end_count_; ++k) {
      const double distance = at_[k].distance(c_);
      if (distance <= 0) continue;
      best_ = end_outside(s_, k, ends_[k], at_[k]);
      if (parallel && best_.on_cylinder == FeatureCode::side()) continue;
      if (s_.separation(best_.n) >= distance - tie_) return true;
    }
    best_.depth = -std::numeric_limits<double>::infinity();
    return false;
  }

  void try_caps() {
    for (int k = 0; k < 2; ++k) {
      const Vec3 n = c_.cap_normal(k);
      const int end = s_.end_towards(-n);
      if (at_[end].l > c_.rho) continue;
      offer({FeatureCode::end(end), FeatureCode::cap(k), ends_[end], n, 0}, s_.separation(n));
    }
  }

  void try_ends_inside() {
    for (int k = 0; k < end_count_; ++k) {
      const Vec3& u = at_[k].u;
      if (std::abs(at_[k].z) > c_.h || u == Vec3::Zero()) continue;
      const double separation = s_.separation(u);
      if (separation < at_[k].l - c_.rho - tie_) continue;  // the other end is deeper
      offer({FeatureCode::end(k), FeatureCode::side(), ends_[k], u, 0}, separation);
    }
  }

  // Where the axes coincide, every normal across them is as good: the choice is the cylinder's x axis.
  void try_axis_on_axis() {
    const double tiny = 1e-9 * (c_.rho + s_.radius);
    if (at_[0].l > tiny || at_[1].l > tiny) return;
    const double low = std::max(-c_.h, std::min(at_[0].z, at_[1].z));
    const double high = std::min(c_.h, std::max(at_[0].z, at_[1].z));
    if (low > high || -c_.rho < best_.depth - tie_) return;
    best_ = {.on_capsule = s_.half > 0 ? FeatureCode::pipe() : FeatureCode::end(0),
             .on_cylinder = FeatureCode::side(),
             .core = Vec3(0, 0, 0.5 * (low + high)),
             .n = Vec3::UnitX(),
             .depth = s_.separation(Vec3::UnitX()),
             .flags = ContactFlag::normal_by_convention};
  }

  const Scene& s_;
  const SolidCylinder& c_;
  std::array<Vec3, 2> ends_;
  std::array<PointInCylinder, 2> at_;
  int end_count_;
  double tie_;
  Touch best_;
};

Touch deepest_touch(const Scene& scene) { return DeepestSearch(scene).run(); }

// A manifold of at most three points, and the deepest where they miss it.
struct Manifold {
  std::array<Touch, 4> touches;
  int count = 0;
  void add(const Touch& t) { touches[count++] = t; }
  double least_depth() const {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < count; ++i) least = std::min(least, touches[i].depth);
    return least;
  }
  void keep_within(double depth) {
    const auto end = touches.begin() + count;
    count = static_cast<int>(std::remove_if(touches.begin(), end, [&](const Touch& t) { return t.depth > depth; }) -
                             touches.begin());
  }
  // The first ones, and the deepest.
  void reduce_to(int most) {
    if (count <= most) return;
    const auto deepest = std::min_element(touches.begin(), touches.begin() + count,
                                          [](const Touch& s, const Touch& t) { return s.depth < t.depth; });
    if (deepest - touches.begin() >= most) touches[most - 1] = *deepest;
    count = most;
  }
};

Touch from_line_rim(const LineRim& r, FeatureCode on_rim) {
  return {FeatureCode::pipe(), on_rim, r.on_line, r.n, r.gap};
}

bool is_on_axis(const Scene& s, const LineRim& r) {
  return r.found && std::abs((r.on_line - s.centre).dot(s.e)) <= s.half;
}

// Lying on a cap: each end of the axis that is above the disc stands on it, and where the axis leaves the disc, the pipe
// lies on the rim.
void lie_on_cap(const Scene& s, int cap, Manifold& manifold) {
  const SolidCylinder& c = s.cylinder;
  const Vec3 n = c.cap_normal(cap);
  const LineOverDisc chord(s.centre, s.e, c.o, c.a, c.rho);
  if (chord.half < 0) return;
  for (int k = 0; k < 2; ++k) {
    const double leaves = k == 0 ? chord.middle - chord.half : chord.middle + chord.half;
    const double end = k == 0 ? -s.half : s.half;
    const bool above = end >= chord.middle - chord.half && end <= chord.middle + chord.half;
    if (above) {
      const Vec3 x = s.end(k);
      manifold.add({FeatureCode::end(k), FeatureCode::cap(cap), x, n, n.dot(x) - c.h});
    } else if (std::abs(leaves) < s.half) {
      const Vec3 u = across(s.centre + leaves * s.e, c.a).normalized();
      const LineRim r = closest_line_rim(s.centre, s.e, c, cap, u, n);
      if (is_on_axis(s, r)) manifold.add(from_line_rim(r, FeatureCode::cap_side(cap, k)));
    }
  }
}

// Side by side, nearly parallel: both ends of the overlap, and the crossing between them unless it is as good as straight
// there (CrossedLogs: the crossing of two almost parallel lines runs far for a small turn).
void lie_along_side(const Scene& s, const Touch& deepest, Manifold& manifold) {
  const SolidCylinder& c = s.cylinder;
  const double cosine = s.e.dot(c.a);
  double span[2];
  for (int k = 0; k < 2; ++k) {
    const double end = k == 0 ? -s.half : s.half;
    const PointInCylinder at(c, s.end(k));
    if (std::abs(at.z) <= c.h) {
      span[k] = end;
      if (at.u == Vec3::Zero()) continue;
      manifold.add({FeatureCode::end(k), FeatureCode::side(), s.end(k), at.u, at.l - c.rho});
      continue;
    }
    const int rim = at.z < 0 ? 0 : 1;
    span[k] = ((rim == 0 ? -c.h : c.h) - s.centre.dot(c.a)) / cosine;
    const PointInCylinder over(c, s.centre + span[k] * s.e);
    if (std::abs(span[k]) > s.half || over.u == Vec3::Zero()) continue;
    const LineRim r = closest_line_rim(s.centre, s.e, c, rim, over.u, over.u);
    if (is_on_axis(s, r)) manifold.add(from_line_rim(r, FeatureCode::rim(rim)));
  }
  const bool crosses = deepest.on_capsule == FeatureCode::pipe() && deepest.on_cylinder == FeatureCode::side() &&
                       deepest.flags == ContactFlag::none;
  if (!crosses) return;
  const double sine = sine_between(s.e, c.a);
  const double at = (deepest.core - s.centre).dot(s.e);
  const double lateral = std::max(std::abs(span[0] - at), std::abs(span[1] - at)) * sine;
  if (lateral > 0.014 * (s.radius + c.rho)) manifold.add(deepest);
}

// Whether one of a few directions separates the two by more than the margin: cheap, and true means true.
bool is_too_far(const Scene& s, double margin) {
  const SolidCylinder& c = s.cylinder;
  const double least = margin + s.radius;
  const auto separates = [&](const Vec3& v) {
    // v of any length and sign.
    return std::abs(v.dot(s.centre)) - s.half * std::abs(v.dot(s.e)) - reach(c, v) > least * v.norm();
  };
  return separates(s.centre) || separates(c.a) || separates(across(s.centre, c.a)) ||
         separates(across(s.centre, s.e)) || separates(s.e.cross(c.a));
}

}  // namespace

Contact capsule_cylinder_distance(const PairQuery& query) {
  const Scene scene(query);
  return contact_of(scene, deepest_touch(scene));
}

void capsule_cylinder_contacts(const PairQuery& query, std::vector<Contact>& out) {
  constexpr double kFlat = 0.995, kAlong = 0.1;
  const Scene scene(query);
  const double margin = query.bands.margin;
  if (is_too_far(scene, margin)) return;
  const Touch deepest = deepest_touch(scene);
  if (deepest.depth - scene.radius > margin) return;

  Manifold manifold;
  const double cosine = deepest.n.dot(scene.cylinder.a);
  if (scene.half > 0 && query.max_points > 1 && deepest.flags == ContactFlag::none) {
    if (std::abs(cosine) > kFlat) {
      lie_on_cap(scene, cosine < 0 ? 0 : 1, manifold);
    } else if (std::abs(cosine) < kAlong && sine_between(scene.e, scene.cylinder.a) < kAlong) {
      lie_along_side(scene, deepest, manifold);
    }
  }
  manifold.keep_within(margin + scene.radius);
  if (manifold.least_depth() > deepest.depth + 3e-4 * (scene.radius + scene.cylinder.rho)) manifold.add(deepest);
  manifold.reduce_to(query.max_points);
  for (int i = 0; i < manifold.count; ++i) out.push_back(contact_of(scene, manifold.touches[i]));
}

}  // namespace lithe::internal
