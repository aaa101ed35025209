#include "lithe/collision/pairs/pairs.h"

namespace lithe::internal {
namespace {

// The ball around the point c, an end of a, over the half-space z ≤ 0: x_a = c − r e_z, x_b its foot on the plane.
void set_contact(int end, const Vec3& c, double radius, Contact& contact) {
  contact.code_a = FeatureCode::end(end);
  contact.code_b = FeatureCode::face(0);
  contact.gap = c.z() - radius;
  contact.n = Vec3::UnitZ();
  contact.p = Vec3(c.x(), c.y(), 0.5 * contact.gap);
  ClosestFeatures& feature = contact.feature.emplace<ClosestFeatures>();
  feature.a.round = radius;
  feature.b.freedom = SupportJet::Freedom::face;
}

}  // namespace

// A capsule has both its ends tested, each by its own gap: the pipe between them is never lower than the lower one, and
// no angle decides whether it "lies". A sphere, or a capsule of no length, is end 0.
void round_plane_contacts(const PairQuery& query, std::vector<Contact>& out) {
  const double radius = query.a.radius, h = query.a.half_length;
  const Vec3& o = query.X_BA.p;
  if (h == 0) {
    if (o.z() - radius <= query.bands.margin) set_contact(0, o, radius, out.emplace_back());
    return;
  }
  const Vec3 arm = h * query.X_BA.R.col(2);
  if (query.max_points < 2) {
    const Contact deepest = round_plane_distance(query);
    if (deepest.gap <= query.bands.margin) out.push_back(deepest);
    return;
  }
  const double limit = query.bands.margin + radius;
  if (o.z() - arm.z() <= limit) set_contact(0, o - arm, radius, out.emplace_back());
  if (o.z() + arm.z() <= limit) set_contact(1, o + arm, radius, out.emplace_back());
}

Contact round_plane_distance(const PairQuery& query) {
  const Vec3 arm = query.a.half_length * query.X_BA.R.col(2);
  const int end = arm.z() < 0 ? 1 : 0;
  Contact contact;
  set_contact(end, end == 1 ? Vec3(query.X_BA.p + arm) : Vec3(query.X_BA.p - arm), query.a.radius, contact);
  return contact;
}

}  // namespace lithe::internal
