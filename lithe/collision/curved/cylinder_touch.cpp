#include "lithe/collision/curved/cylinder_touch.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "lithe/collision/curved/line_rim.h"

namespace lithe::internal {
namespace {

using Part = FeatureCode::Part;

// Sine of an angle below which directions are taken to be parallel: rounding alone.
constexpr double kAlignedAxes = 1e-12;

// The part of a cylinder furthest along d.
struct Support {
  FeatureCode code;
  Vec3 x;  // rim: the point; cap: its centre; side: the middle of the line

  Support(const SolidCylinder& c, const Vec3& d) {
    const double cosine = d.dot(c.a), sigma = sine_between(d, c.a);
    const int k = cosine < 0 ? 0 : 1;
    if (sigma < kAlignedAxes) {
      code = FeatureCode::cap(k);
      x = c.cap_centre(k);
      return;
    }
    const Vec3 radial = c.rho * radial_direction(d, c.a);
    if (std::abs(cosine) < kAlignedAxes) {
      code = FeatureCode::side();
      x = c.o + radial;
    } else {
      code = FeatureCode::rim(k);
      x = c.cap_centre(k) + radial;
    }
  }
};

// Interval of numbers, possibly empty.
struct Span {
  double low, high;
  double middle() const { return 0.5 * (low + high); }
  bool holds(double slack) const { return low <= high + slack; }
};
Span intersection(Span s, Span t) { return {std::max(s.low, t.low), std::min(s.high, t.high)}; }

// A point that two parts have in common, of which neither is a point, as seen along n; x is on the first part. Where they
// have none: where they come closest to it.
struct Common {
  Vec3 x;
  bool exists;
};

Common disc_and_disc(const Vec3& centre_a, double rho_a, const Vec3& centre_b, double rho_b, const Vec3& n,
                     double slack) {
  const Vec3 w = across(centre_b - centre_a, n);
  const double l = w.norm();
  const Span span = intersection({-rho_a, rho_a}, {l - rho_b, l + rho_b});
  const Vec3 along = l > 0 ? Vec3(w / l) : Vec3::Zero();
  return {centre_a + span.middle() * along, span.holds(slack)};
}

Common line_and_disc(const Vec3& middle, const Vec3& e, double half, const Vec3& centre, double rho, const Vec3& n,
                     double slack) {
  const LineOverDisc chord(middle, e, centre, n, rho + slack);
  const Span span = intersection({-half, half}, {chord.middle - chord.half, chord.middle + chord.half});
  if (chord.half >= 0 && span.holds(slack)) return {middle + std::clamp(span.middle(), -half, half) * e, true};
  return {middle + std::clamp(chord.middle, -half, half) * e, false};
}

Common line_and_line(const Vec3& x, const Vec3& e, double half_x, const Vec3& y, const Vec3& f, double half_y,
                     const Vec3& n, double slack) {
  const double sine = n.dot(e.cross(f));
  const Vec3 d = y - x;
  if (std::abs(sine) < kAlignedAxes) {
    const double shift = d.dot(e);
    const Span span = intersection({-half_x, half_x}, {shift - half_y, shift + half_y});
    return {x + span.middle() * e, span.holds(slack)};
  }
  // x + s e = y + t f in the plane.
  const double s = n.dot(d.cross(f)) / sine, t = n.dot(d.cross(e)) / sine;
  return {x + s * e, std::abs(s) <= half_x + slack && std::abs(t) <= half_y + slack};
}

// Whether a point, moved along n onto a cylinder's cap or side line, is on it.
bool holds_point(const SolidCylinder& c, FeatureCode code, const Vec3& x, double slack) {
  return code.part() == Part::cap ? across(x - c.o, c.a).norm() <= c.rho + slack
                                  : std::abs((x - c.o).dot(c.a)) <= c.h + slack;
}

Common common_point(const CylinderPair& pair, const Support& a, const Support& b, const Vec3& n, double slack) {
  const Part part_a = a.code.part(), part_b = b.code.part();
  if (part_a == Part::cap && part_b == Part::cap) {
    return disc_and_disc(a.x, pair.a.rho, b.x, pair.b.rho, n, slack);
  }
  if (part_a == Part::side && part_b == Part::side) {
    return line_and_line(a.x, pair.a.a, pair.a.h, b.x, pair.b.a, pair.b.h, n, slack);
  }
  if (part_a == Part::cap) return line_and_disc(b.x, pair.b.a, pair.b.h, a.x, pair.a.rho, n, slack);
  return line_and_disc(a.x, pair.a.a, pair.a.h, b.x, pair.b.rho, n, slack);
}

// A side that lies almost flat over a cap, on its rim: a rounding error of n decides where the rim's point is. The point
// of the rim that is closest to the side's line knows better. outward: from the rim's cylinder.
bool lies_on_rim(const SolidCylinder& side, FeatureCode side_code, const SolidCylinder& c, const Support& rim,
                 const Vec3& outward, CylinderTouch& touch) {
  constexpr double kFlatTouch = 1e-3;
  if (side_code.part() != Part::side || sine_between(outward, c.a) > kFlatTouch) return false;
  const int k = rim.code.index();
  const Vec3 u = across(rim.x - c.o, c.a).normalized();
  const LineRim closest = closest_line_rim(side.o, side.a, c, k, u, outward);
  if (!closest.found) return false;
  touch.gap = closest.gap - side.rho;
  touch.p = closest.on_rim + (0.5 * touch.gap) * closest.n;
  touch.n = touch.n.dot(closest.n) > 0 ? closest.n : Vec3(-closest.n);
  return true;
}

// x: the point of the cylinder's surface; outward: the normal there.
SupportJet jet_of(const SolidCylinder& c, FeatureCode code, const Vec3& x, const Vec3& outward, bool other_is_face) {
  switch (code.part()) {
    case Part::cap: return other_is_face ? SupportJet::vertex() : SupportJet::face();
    case Part::side: return other_is_face ? SupportJet::vertex() : SupportJet::line(c.a, c.rho);
    default: return rim_jet(c, x, outward);
  }
}

// The rim, and its point, through which a part would touch y, which it does not reach.
struct RimTowards {
  int k;
  Vec3 u;

  RimTowards(const SolidCylinder& c, const Support& part, const Vec3& outward, const Vec3& y) {
    const Vec3 d = y - c.o;
    k = part.code.part() == Part::side ? (d.dot(c.a) < 0 ? 0 : 1) : part.code.index();
    u = radial_direction(part.code.part() == Part::cap ? d : outward, c.a);
  }
};

}  // namespace

SupportTouch support_touch(const CylinderPair& pair, const Vec3& n) {
  const Support a(pair.a, -n), b(pair.b, n);
  const bool rim_on_a = a.code.part() == Part::rim, rim_on_b = b.code.part() == Part::rim;
  const double slack = 1e-13 * pair.size();
  SupportTouch result;
  CylinderTouch& touch = result.touch;
  touch.code_a = a.code;
  touch.code_b = b.code;
  touch.n = n;
  touch.gap = pair.separation(n);
  Vec3 on_a = a.x, on_b = b.x;  // what the other one would have to reach
  if (rim_on_a && rim_on_b) {
    touch.p = 0.5 * (a.x + b.x);
    result.meets = (a.x - b.x - touch.gap * n).norm() <= slack;
  } else if ((rim_on_b && lies_on_rim(pair.a, a.code, pair.b, b, n, touch)) ||
             (rim_on_a && lies_on_rim(pair.b, b.code, pair.a, a, -n, touch))) {
    result.meets = rim_on_b ? holds_point(pair.a, a.code, touch.p, slack) : holds_point(pair.b, b.code, touch.p, slack);
    (rim_on_b ? on_b : on_a) = touch.p;
  } else if (rim_on_b) {
    touch.p = b.x + (0.5 * touch.gap) * n;
    result.meets = holds_point(pair.a, a.code, b.x, slack);
  } else if (rim_on_a) {
    touch.p = a.x - (0.5 * touch.gap) * n;
    result.meets = holds_point(pair.b, b.code, a.x, slack);
  } else {
    const Common common = common_point(pair, a, b, n, slack);
    touch.p = common.x + (n.dot(0.5 * (a.x + b.x) - common.x)) * n;
    result.meets = common.exists;
    const bool discs = a.code.part() == Part::cap && b.code.part() == Part::cap;
    if (!discs) on_a = on_b = common.x;
  }
  if (!result.meets) {
    const RimTowards towards_b(pair.a, a, -n, on_b), towards_a(pair.b, b, n, on_a);
    result.rim_a = towards_b.k;
    result.rim_b = towards_a.k;
    result.u_a = towards_b.u;
    result.u_b = towards_a.u;
  }
  return result;
}

Contact contact_of(const CylinderPair& pair, const CylinderTouch& touch) {
  Contact contact;
  contact.code_a = touch.code_a;
  contact.code_b = touch.code_b;
  contact.flags = touch.flags;
  contact.p = touch.p;
  contact.n = touch.n;
  contact.gap = touch.gap;
  if (has(touch.flags, ContactFlag::normal_by_convention)) {
    contact.feature = ClosestFeatures{SupportJet::vertex(), SupportJet::face()};
    return contact;
  }
  const bool face_on_b = touch.code_b.part() == Part::cap;
  const bool face_on_a = touch.code_a.part() == Part::cap && !face_on_b;
  contact.feature = ClosestFeatures{jet_of(pair.a, touch.code_a, contact.point_on_a(), -touch.n, face_on_b),
                                    jet_of(pair.b, touch.code_b, contact.point_on_b(), touch.n, face_on_a)};
  return contact;
}

}  // namespace lithe::internal
