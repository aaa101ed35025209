#include "lithe/collision/curved/cylinder_manifold.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/collision/curved/line_rim.h"

namespace lithe::internal {
namespace {

constexpr double kStanding = 0.05;     // sine between axis and normal up to which a cap lies flat
constexpr double kFlatCosine = 0.995;  // cosine above which a cap carries what lies on it
constexpr double kAlong = 0.1;         // cosine below which a side lies flat, sine below which two sides are parallel

// One cylinder's role.
struct CapSide {
  const SolidCylinder& cylinder;
  Vec3 x, y;  // across its axis
  bool is_a;
  Vec3 outward;  // the contact's normal as it leaves this cylinder

  CapSide(const CylinderPair& pair, bool a, const Vec3& n)
      : cylinder(a ? pair.a : pair.b),
        x(a ? pair.x_a : pair.x_b),
        y(a ? pair.y_a : pair.y_b),
        is_a(a),
        outward(a ? Vec3(-n) : n) {}
  int cap() const { return outward.dot(cylinder.a) < 0 ? 0 : 1; }
  // +x, +y, −x, −y.
  Vec3 quarter(int q) const { return q == 0 ? x : q == 1 ? y : q == 2 ? Vec3(-x) : Vec3(-y); }
};

class CylinderManifoldBuilder {
 public:
  CylinderManifoldBuilder(const CylinderPair& pair, const CylinderTouch& deepest, const Bands& bands,
                          CylinderManifold& out)
      : pair_(pair), deepest_(deepest), bands_(bands), out_(out) {}

  void build() {
    const Vec3& n = deepest_.n;
    const double along_a = std::abs(n.dot(pair_.a.a)), along_b = std::abs(n.dot(pair_.b.a));
    if (deepest_.flags == ContactFlag::none) {
      if (sine_between(n, pair_.a.a) < kStanding && sine_between(n, pair_.b.a) < kStanding) {
        cap_on_cap();
      } else if (along_b > kFlatCosine && along_a < kAlong) {
        side_on_cap(CapSide(pair_, true, n), CapSide(pair_, false, n));
      } else if (along_a > kFlatCosine && along_b < kAlong) {
        side_on_cap(CapSide(pair_, false, n), CapSide(pair_, true, n));
      } else if (along_a < kAlong && along_b < kAlong && sine_between(pair_.a.a, pair_.b.a) < kAlong) {
        side_by_side();
      }
    }
    if (least_gap() > deepest_.gap + 3e-4 * (pair_.a.rho + pair_.b.rho)) add(contact_of(pair_, deepest_));
  }

 private:
  double least_gap() const {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < out_.count; ++i) least = std::min(least, out_.points[i].gap);
    return least;
  }

  void add(const Contact& contact) {
    if (contact.gap <= bands_.margin) out_.points[out_.count++] = contact;
  }

  // A point over the reference's cap, whose outward normal is n_r.
  void add(const CapSide& reference, FeatureCode on_reference, FeatureCode on_incident, const Vec3& p, const Vec3& n_r,
           double gap, const ContactFeature& feature, ContactFlag flags = ContactFlag::none) {
    Contact contact;
    contact.code_a = reference.is_a ? on_reference : on_incident;
    contact.code_b = reference.is_a ? on_incident : on_reference;
    contact.flags = flags;
    contact.p = p;
    contact.n = reference.is_a ? Vec3(-n_r) : n_r;
    contact.gap = gap;
    contact.feature = feature;
    add(contact);
  }

  void cap_on_cap() {
    // The smaller radius stands on the other; a on b if they are equal.
    const bool b_is_reference = pair_.a.rho <= pair_.b.rho;
    const CapSide reference(pair_, !b_is_reference, deepest_.n), incident(pair_, b_is_reference, deepest_.n);
    stand_on(incident, reference);
    cross_rim(incident, reference);
    support_from_below(incident, reference);
    // Below this tilt no point of the rim is much deeper than the four.
    if (sine_between(pair_.a.a, pair_.b.a) >= 1e-3) add(contact_of(pair_, deepest_));
  }

  void stand_on(const CapSide& incident, const CapSide& reference) {
    const SolidCylinder &c = incident.cylinder, &r = reference.cylinder;
    const int rim = incident.cap(), cap = reference.cap();
    const Vec3 n_r = r.cap_normal(cap), top = r.cap_centre(cap), centre = c.cap_centre(rim);
    for (int q = 0; q < 4; ++q) {
      const Vec3 d = reference.quarter(q), u = radial_direction(d, c.a);
      const Vec3 p = centre + c.rho * u;
      if (across(p - top, r.a).norm() > r.rho + bands_.side) continue;
      add(reference, FeatureCode::cap(cap), FeatureCode::rim_point(rim, q), p, n_r, n_r.dot(p - top),
          RimPoint{reference.is_a, d, c.a.cross(u), c.rho / sine_between(d, c.a)});
    }
  }

  // Where the incident rim goes through the reference's side: two circles' corners, then Newton's method on the rim.
  void cross_rim(const CapSide& incident, const CapSide& reference) {
    constexpr double kTangent = 1e-3;
    const SolidCylinder &c = incident.cylinder, &r = reference.cylinder;
    const int rim = incident.cap(), cap = reference.cap();
    const Vec3 n_r = r.cap_normal(cap), top = r.cap_centre(cap), centre = c.cap_centre(rim);
    const Vec3 w = across(centre - top, r.a);
    const double l = w.norm();
    if (!(l > 0)) return;
    const double x = (r.rho * r.rho - l * l - c.rho * c.rho) / (2 * l * c.rho);
    if (!(std::abs(x) < 1)) return;
    const Vec3 along = w / l, aside = r.a.cross(along);
    for (int which = 0; which < 2; ++which) {
      const double y = (which == 0 ? 1 : -1) * std::sqrt((1 - x) * (1 + x));
      Vec3 u = radial_direction(x * along + y * aside, c.a), e, m, p;
      bool settled = false;
      for (int i = 0; i < 10 && !settled; ++i) {
        p = centre + c.rho * u;
        e = c.a.cross(u);
        m = across(p - top, r.a);
        const double distance = m.norm();
        if (!(distance > 0)) break;
        m /= distance;
        const double step = (r.rho - distance) / (c.rho * m.dot(e));
        if (!(std::abs(step) < 0.5)) break;
        settled = std::abs(step) < 1e-14;
        if (!settled) u = (u + step * e).normalized();
      }
      const double across_side = std::abs(m.dot(e));
      if (!settled || across_side < kTangent) continue;
      add(reference, FeatureCode::cap_side(cap, which), FeatureCode::rim_crossing(rim, which), p, n_r, n_r.dot(p - top),
          EdgeCrossing{reference.is_a, e, m});
    }
  }

  // The reference's own rim under the other's cap: without it a can that overhangs would stand on half a lens.
  void support_from_below(const CapSide& incident, const CapSide& reference) {
    const SolidCylinder &c = incident.cylinder, &r = reference.cylinder;
    const int rim = incident.cap(), cap = reference.cap();
    const Vec3 n_r = r.cap_normal(cap), n_f = c.cap_normal(rim), centre = c.cap_centre(rim);
    const int others = out_.count;
    for (int q = 0; q < 4; ++q) {
      const Vec3 p = r.cap_centre(cap) + r.rho * reference.quarter(q);
      const double gap = n_f.dot(centre - p) / n_f.dot(n_r);
      if (across(p + gap * n_r - centre, c.a).norm() > c.rho + bands_.side) continue;
      const bool taken = std::any_of(out_.points.begin(), out_.points.begin() + others, [&](const Contact& other) {
        return across(other.p - p, r.a).norm() < 3 * bands_.side;
      });
      if (taken) continue;
      add(reference, FeatureCode::rim_point(cap, q), FeatureCode::cap(rim), p, n_r, gap,
          CornerUnderFace{reference.is_a, n_f});
    }
  }

  // outward: from `base` to the other cylinder.
  void add_touch(const CapSide& base, FeatureCode on_base, FeatureCode on_other, const Vec3& on_surface,
                 bool surface_is_base, const Vec3& outward, double gap) {
    CylinderTouch touch;
    touch.code_a = base.is_a ? on_base : on_other;
    touch.code_b = base.is_a ? on_other : on_base;
    touch.n = base.is_a ? Vec3(-outward) : outward;
    touch.gap = gap;
    touch.p = on_surface + (surface_is_base ? 0.5 : -0.5) * gap * outward;
    add(contact_of(pair_, touch));
  }

  // Where a rim lies on the other's side. Whether the side reaches that far.
  bool add_line_rim(const CapSide& side, const CapSide& rim_of, int rim, FeatureCode on_rim, const Vec3& u,
                    const Vec3& outward) {
    const SolidCylinder& s = side.cylinder;
    const LineRim r = closest_line_rim(s.o, s.a, rim_of.cylinder, rim, u, outward);
    if (!r.found || std::abs((r.on_line - s.o).dot(s.a)) > s.h + bands_.side) return false;
    add_touch(rim_of, on_rim, FeatureCode::side(), r.on_rim, true, r.n, r.gap - s.rho);
    return true;
  }

  void side_on_cap(const CapSide& lying, const CapSide& base) {
    const SolidCylinder &s = lying.cylinder, &c = base.cylinder;
    const int cap = base.cap();
    const Vec3 n = c.cap_normal(cap), top = c.cap_centre(cap);
    const Vec3 down = s.rho * radial_direction(-n, s.a);
    const LineOverDisc chord(s.o + down, s.a, top, c.a, c.rho);
    if (chord.half < 0) return;
    for (int k = 0; k < 2; ++k) {
      const Vec3 x = s.cap_centre(k) + down;
      const double leaves = k == 0 ? chord.middle - chord.half : chord.middle + chord.half;
      if (across(x - top, c.a).norm() <= c.rho) {
        add_touch(base, FeatureCode::cap(cap), FeatureCode::rim(k), x, false, n, n.dot(x - top));
      } else if (std::abs(leaves) < s.h) {
        const Vec3 u = radial_direction(s.o + down + leaves * s.a - top, c.a);
        add_line_rim(lying, base, cap, FeatureCode::cap_side(cap, k), u, n);
      }
    }
  }

  void side_by_side() {
    const CapSide a(pair_, true, deepest_.n), b(pair_, false, deepest_.n);
    // Along b's axis, from its centre: where the overlap ends, and whether because a does.
    const double cosine = pair_.a.a.dot(pair_.b.a), centre = (pair_.a.o - pair_.b.o).dot(pair_.b.a);
    const double half = pair_.a.h * std::abs(cosine);
    const bool a_ends[2] = {centre - half >= -pair_.b.h, centre + half <= pair_.b.h};
    const double span[2] = {a_ends[0] ? centre - half : -pair_.b.h, a_ends[1] ? centre + half : pair_.b.h};
    if (span[0] > span[1]) return;
    const auto add_end_of = [&](const CapSide& shorter, const CapSide& longer, int end) {
      const int rim = shorter.is_a && cosine < 0 ? 1 - end : end;
      const Vec3 u = radial_direction(shorter.outward, shorter.cylinder.a);
      return add_line_rim(longer, shorter, rim, FeatureCode::rim(rim), u, shorter.outward);
    };
    for (int end = 0; end < 2; ++end) {
      // Where they end together, a tilt may put either rim outside.
      const bool added = a_ends[end] ? add_end_of(a, b, end) : add_end_of(b, a, end);
      if (!added) a_ends[end] ? add_end_of(b, a, end) : add_end_of(a, b, end);
    }
    if (deepest_.code_a != FeatureCode::side() || deepest_.code_b != FeatureCode::side()) return;
    const double at = (deepest_.p - pair_.b.o).dot(pair_.b.a);
    const double aside = std::max(at - span[0], span[1] - at) * sine_between(pair_.a.a, pair_.b.a);
    if (aside > 0.014 * (pair_.a.rho + pair_.b.rho)) add(contact_of(pair_, deepest_));
  }

  const CylinderPair& pair_;
  const CylinderTouch& deepest_;
  const Bands& bands_;
  CylinderManifold& out_;
};

}  // namespace

void find_manifold(const CylinderPair& pair, const CylinderTouch& deepest, const Bands& bands,
                   CylinderManifold& manifold) {
  CylinderManifoldBuilder(pair, deepest, bands, manifold).build();
}

}  // namespace lithe::internal
