#include "lithe/collision/curved/cylinder_search.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lithe/collision/curved/rim_arc.h"
#include "lithe/collision/curved/rim_rim.h"

namespace lithe::internal {
namespace {

double sign_of(double x) { return x < 0 ? -1. : 1.; }

// Whether points of the rim p can lie inside the cylinder that the rim q ends, within `depth` of q. outward: of q's cap.
bool may_lie_inside(const Rim& p, const Rim& q, const Vec3& outward, double sine, double depth) {
  const Vec3 d = p.centre - q.centre;
  const double height = d.dot(outward), spread = p.radius * sine;
  if (height - spread > 0 || height + spread < -depth) return false;
  // The distances of p's points from q's centre.
  const double z = d.dot(p.axis), l = sine_between(d, p.axis);
  const double nearest2 = z * z + (l - p.radius) * (l - p.radius), farthest = std::hypot(z, l + p.radius);
  return nearest2 <= q.radius * q.radius && farthest >= q.radius - depth;
}

// Where rim p crosses the plane of q (or comes closest to it), as directions on p and, from there, on q.
struct PlaneCrossings {
  std::array<Vec3, 2> on_p, on_q;
  int count = 0;

  PlaneCrossings(const Rim& p, const Rim& q, double sine) {
    constexpr double kParallelAxes = 1e-9;
    if (sine < kParallelAxes) return;
    const Vec3 v = p.axis.cross(q.axis) / sine, w = v.cross(p.axis);
    const double height = (p.centre - q.centre).dot(q.axis), rise = p.radius * w.dot(q.axis);
    const double y = std::clamp(-height / rise, -1., 1.), x = std::sqrt((1 - y) * (1 + y));
    for (double side : {x, -x}) {
      on_p[count] = (side * v + y * w).normalized();
      on_q[count] = radial_direction(p.centre + p.radius * on_p[count] - q.centre, q.axis);
      ++count;
    }
  }
};

class DeepestPairSearch {
 public:
  explicit DeepestPairSearch(const CylinderPair& pair)
      : pair_(pair),
        size_(pair.size()),
        tie_(1e-14 * (size_ + pair.a.o.norm() + pair.b.o.norm())),
        d_(pair.a.o - pair.b.o),
        sine_(sine_between(pair.a.a, pair.b.a)) {}

  CylinderTouch run() {
    const SupportTouch flat = best_of_caps_and_sides();
    if (flat.meets && best_ > 0) return flat.touch;
    if (flat.meets && is_coaxial(flat.touch)) return side_by_convention();
    // Rims have to win by more than rounding, unless there is nothing else.
    best_ += flat.meets ? 1e-12 * size_ : -tie_;
    if (!flat.meets) try_rims_beside(flat);
    if (!is_proved()) {
      if (best_ > 0) {
        try_every_crossing();
        if (!is_proved()) climb_from_everywhere();
      } else if (try_near_crossings() && best_ < -kDeep * std::min(pair_.a.rho, pair_.b.rho)) {
        climb_from_everywhere();
      }
    }
    return rims_.found ? touch_of(rims_) : flat.touch;
  }

 private:
  static constexpr double kDeep = 0.1;

  // Rims that are gap·n apart, outside: nothing is closer.
  bool is_proved() const { return rims_.found && best_ > 0; }

  SupportTouch best_of_caps_and_sides() {
    // sep(n) − sep(−n) = 2 n·d.
    const std::array<Vec3, 4> normals = {sign_of(pair_.a.a.dot(d_)) * pair_.a.a, sign_of(pair_.b.a.dot(d_)) * pair_.b.a,
                                         rim_circle_maximum(pair_.a, pair_.b.o, pair_.b.a).n,
                                         -rim_circle_maximum(pair_.b, pair_.a.o, pair_.a.a).n};
    std::array<double, 4> separations;
    int best = 0;
    for (int i = 0; i < 4; ++i) {
      separations[i] = pair_.separation(normals[i]);
      if (separations[i] > separations[best] + tie_) best = i;
    }
    n_ = normals[best];
    best_ = separations[best];
    const SupportTouch flat = support_touch(pair_, n_);
    if (flat.meets) return flat;
    // Of normals that are equal up to rounding, one whose parts have points to touch with.
    for (int i = 0; i < 4; ++i) {
      if (i == best || separations[i] < best_ - 1e-12 * size_) continue;
      const SupportTouch other = support_touch(pair_, normals[i]);
      if (other.meets) return other;
    }
    return flat;
  }

  // Where the axes coincide, every normal across them is as good: the choice is b's x axis.
  bool is_coaxial(const CylinderTouch& touch) const {
    return touch.code_a == FeatureCode::side() && touch.code_b == FeatureCode::side() && sine_ < 1e-12 &&
           across(d_, pair_.b.a).norm() <= 1e-9 * (pair_.a.rho + pair_.b.rho);
  }
  CylinderTouch side_by_convention() const {
    CylinderTouch touch = support_touch(pair_, radial_direction(pair_.x_b, pair_.b.a)).touch;
    touch.flags = ContactFlag::normal_by_convention;
    return touch;
  }

  // Which rims have n as an outward normal, of b, and of a its opposite.
  int rim_a(const Vec3& n) const { return n.dot(pair_.a.a) > 0 ? 0 : 1; }
  int rim_b(const Vec3& n) const { return n.dot(pair_.b.a) > 0 ? 1 : 0; }
  RimPair rims_of(int ka, int kb) const {
    return {{pair_.a.cap_centre(ka), pair_.a.a, pair_.a.rho}, {pair_.b.cap_centre(kb), pair_.b.a, pair_.b.rho}};
  }
  CylinderTouch touch_of(const RimRim& r) const {
    return {FeatureCode::rim(rim_a(r.n)),
            FeatureCode::rim(rim_b(r.n)),
            0.5 * (r.x_a + r.x_b),
            r.n,
            r.gap,
            ContactFlag::none};
  }

  void accept(const RimRim& r) {
    if (!r.found) return;
    const double separation = pair_.separation(r.n);
    // Another part may reach further along n, or the points may be the furthest and not the closest.
    if (std::abs(separation - r.gap) > 1e-12 * size_ || !(separation > best_)) return;
    best_ = separation;
    n_ = r.n;
    rims_ = r;
  }

  // From the points of the rims next to a peak or ridge that is not a maximum.
  void try_rims_beside(const SupportTouch& flat) {
    const RimPair rims = rims_of(flat.rim_a, flat.rim_b);
    accept(polish(rims, {flat.u_a, flat.u_b}, n_));
    if (is_proved()) return;
    const Vec3 g = rims.a.centre + rims.a.radius * flat.u_a - rims.b.centre - rims.b.radius * flat.u_b;
    climb(sign_of(g.dot(flat.touch.n)) * g);
  }

  void try_crossings(const RimPair& rims) {
    const PlaneCrossings of_b(rims.b, rims.a, sine_), of_a(rims.a, rims.b, sine_);
    for (int i = 0; i < of_b.count; ++i) try_from(rims, {of_b.on_q[i], of_b.on_p[i]});
    for (int i = 0; i < of_a.count; ++i) try_from(rims, {of_a.on_p[i], of_a.on_q[i]});
    if (sine_ < 0.1) try_corners_of_lens(rims);
  }

  // Two caps that lie almost flat on each other overlap in a lens; at its corners the rims cross.
  void try_corners_of_lens(const RimPair& rims) {
    const Vec3 w = across(rims.b.centre - rims.a.centre, rims.a.axis);
    const double l = w.norm(), rho_a = rims.a.radius, rho_b = rims.b.radius;
    if (!(l > 1e-9 * size_)) return;
    const double x = std::clamp((l * l + rho_a * rho_a - rho_b * rho_b) / (2 * l * rho_a), -1., 1.);
    const Vec3 along = w / l, aside = rims.a.axis.cross(along);
    for (double y : {1., -1.}) {
      const Vec3 u = (x * along + y * std::sqrt((1 - x) * (1 + x)) * aside).normalized();
      try_from(rims, {u, radial_direction(rims.a.centre + rho_a * u - rims.b.centre, rims.b.axis)});
    }
  }

  void try_from(const RimPair& rims, const RimDirections& u) { accept(polish(rims, u, Vec3(u.b - u.a))); }

  void try_every_crossing() {
    for (int k = 0; k < 4 && !is_proved(); ++k) try_crossings(rims_of(k & 1, k >> 1));
  }

  // Only of rims that could beat the best so far. Whether there are any.
  bool try_near_crossings() {
    bool any = false;
    for (int k = 0; k < 4; ++k) {
      const int ka = k & 1, kb = k >> 1;
      const RimPair rims = rims_of(ka, kb);
      if (!may_lie_inside(rims.a, rims.b, pair_.b.cap_normal(kb), sine_, -best_) ||
          !may_lie_inside(rims.b, rims.a, pair_.a.cap_normal(ka), sine_, -best_)) {
        continue;
      }
      any = true;
      try_crossings(rims);
    }
    return any;
  }

  void climb_from_everywhere() {
    const Vec3 to_a = d_.norm() > 1e-12 * size_ ? Vec3(d_.normalized()) : pair_.x_b;
    const Vec3 cap_a = sign_of(pair_.a.a.dot(d_)) * pair_.a.a, cap_b = sign_of(pair_.b.a.dot(d_)) * pair_.b.a;
    for (const Vec3& n :
         {Vec3(n_ + 0.05 * to_a), to_a, Vec3(cap_a + cap_b), Vec3(cap_a + 0.3 * to_a), Vec3(cap_b + 0.3 * to_a)}) {
      climb(n);
      if (is_proved()) return;
    }
    constexpr double kHalf = 0.5, kRoot = 0.86602540378443865;
    const Vec3 centre = n_, t = centre.unitOrthogonal(), u = centre.cross(t);
    for (double side : {0.5, -0.5}) {
      climb(centre + side * t);
      climb(centre + side * (kHalf * t + kRoot * u));
      climb(centre + side * (kHalf * t - kRoot * u));
    }
  }

  // Newton's method on the sphere, uphill only.
  void climb(const Vec3& start) {
    const double length = start.norm();
    if (!(length > 1e-9)) return;
    Vec3 n = start / length;
    double separation = pair_.separation(n);
    for (int i = 0; i < 25; ++i) {
      const Vec3 step = newton_direction(rims_of(rim_a(n), rim_b(n)), n);
      const double angle = step.norm();
      if (angle < 1e-6 || !rise(step, angle, n, separation)) break;
    }
    const RimPair rims = rims_of(rim_a(n), rim_b(n));
    accept(polish(rims, rim_directions(rims, n), n));
  }

  bool rise(const Vec3& step, double angle, Vec3& n, double& separation) const {
    double scale = angle > 0.5 ? 0.5 / angle : 1;
    for (int i = 0; i < 6; ++i, scale *= 0.4) {
      const Vec3 next = (n + scale * step).normalized();
      const double there = pair_.separation(next);
      if (there <= separation) continue;
      n = next;
      separation = there;
      return true;
    }
    return false;
  }

  const CylinderPair& pair_;
  double size_, tie_;
  Vec3 d_;
  double sine_;  // of the angle between the axes
  double best_ = -std::numeric_limits<double>::infinity();
  Vec3 n_ = Vec3::UnitZ();
  RimRim rims_;
};

}  // namespace

CylinderTouch deepest_touch(const CylinderPair& pair) { return DeepestPairSearch(pair).run(); }

bool separated_by_more_than(const CylinderPair& pair, double margin) {
  const Vec3 d = pair.a.o - pair.b.o;
  const auto separates = [&](const Vec3& v) {
    // v of any length and sign.
    return std::abs(v.dot(d)) - reach(pair.a, v) - reach(pair.b, v) > margin * v.norm();
  };
  return separates(d) || separates(pair.a.a) || separates(pair.b.a) || separates(across(d, pair.b.a)) ||
         separates(across(d, pair.a.a)) || separates(pair.a.a.cross(pair.b.a));
}

}  // namespace lithe::internal
