#include <algorithm>
#include <cmath>

#include "lithe/collision/pairs/pairs.h"

namespace lithe::internal {
namespace {

// The rim is met only where the centre is outside both the side and the cap by more than this, relative to the
// cylinder: ρ/σ stays finite.
constexpr double kOnSurface = 1e-12;
// Closer than this to a line or point, relative to the radius, a centre is on it.
constexpr double kCoresMeet = 1e-9;

// What the cylinder has closest to the centre of the sphere. In its frame, with l = distance from the axis:
//
//   rim    outside both: l > ρ and |z| > h
//   side   otherwise, where l − ρ > |z| − h
//   cap    otherwise
//
// The distance `core` to the centre is the larger of l − ρ and |z| − h for the last two, inside as outside. For a centre
// on the axis, and nearer to the side, every radial normal is as good: x is taken.
struct NearestOnCylinder {
  enum class Kind { rim, side, cap } kind;
  double core;   // signed distance of the centre
  double l;      // its distance from the axis
  double out;    // l − ρ
  Vec3 u;        // unit, radial
  double up;     // ±1: which cap
  bool on_axis;  // u is a convention
};

NearestOnCylinder nearest(const PairQuery& query) {
  const Vec3& c = query.X_BA.p;
  const double rho = query.b.radius, h = query.b.half_length;
  NearestOnCylinder near;
  near.l = std::sqrt(c.x() * c.x() + c.y() * c.y());
  near.on_axis = near.l <= kCoresMeet * rho;
  near.u = near.on_axis ? Vec3::UnitX() : Vec3(c.x() / near.l, c.y() / near.l, 0);
  near.up = c.z() < 0 ? -1 : 1;
  near.out = near.l - rho;
  const double above = std::abs(c.z()) - h;
  const double tiny = kOnSurface * (rho + h);
  near.kind = near.out > above ? NearestOnCylinder::Kind::side : NearestOnCylinder::Kind::cap;
  near.core = std::max(near.out, above);
  if (near.out > tiny && above > tiny) {
    const double from_rim = std::sqrt(near.out * near.out + above * above);
    if (from_rim > kCoresMeet * query.a.radius) {
      near.kind = NearestOnCylinder::Kind::rim;
      near.core = from_rim;
    }
  }
  return near;
}

void set_contact(const PairQuery& query, const NearestOnCylinder& near, Contact& contact) {
  const Vec3& c = query.X_BA.p;
  const double radius = query.a.radius, rho = query.b.radius;
  const int top = near.up > 0 ? 1 : 0;
  contact.code_a = FeatureCode::end(0);
  ClosestFeatures& feature = contact.feature.emplace<ClosestFeatures>();
  feature = {SupportJet::vertex(radius), SupportJet::face()};
  switch (near.kind) {
    case NearestOnCylinder::Kind::rim: {
      const Vec3 t(-near.u.y(), near.u.x(), 0);
      contact.code_b = FeatureCode::rim(top);
      contact.n = (c - rho * near.u - Vec3(0, 0, near.up * query.b.half_length)) / near.core;
      feature.b = SupportJet::rim(t, rho, near.out / near.core);
      break;
    }
    case NearestOnCylinder::Kind::side:
      contact.code_b = FeatureCode::side();
      contact.n = near.u;
      if (near.on_axis) {
        contact.flags = ContactFlag::normal_by_convention;
        feature.a = SupportJet::vertex();
      } else {
        feature.b = SupportJet::line(Vec3::UnitZ(), rho);
      }
      break;
    case NearestOnCylinder::Kind::cap:
      contact.code_b = FeatureCode::cap(top);
      contact.n = Vec3(0, 0, near.up);
      break;
  }
  contact.gap = near.core - radius;
  contact.p = c - 0.5 * (near.core + radius) * contact.n;
}

}  // namespace

void sphere_cylinder_contacts(const PairQuery& query, std::vector<Contact>& out) {
  const NearestOnCylinder near = nearest(query);
  if (near.core - query.a.radius <= query.bands.margin) set_contact(query, near, out.emplace_back());
}

Contact sphere_cylinder_distance(const PairQuery& query) {
  Contact contact;
  set_contact(query, nearest(query), contact);
  return contact;
}

}  // namespace lithe::internal
