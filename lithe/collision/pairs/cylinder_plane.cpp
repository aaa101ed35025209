#include <cmath>

#include "lithe/collision/curved/cap_manifold.h"
#include "lithe/collision/pairs/pairs.h"

// A cylinder over the half-space z ≤ 0 of b's frame: n = z, and σ = |n × axis| is all that the pose decides.
namespace lithe::internal {
namespace {

// Below this σ a cap is parallel to the plane, up to rounding.
constexpr double kAxisAlongNormal = 1e-14;

const FacePlane kPlane{Vec3::UnitZ(), 0, FeatureCode::face(0)};

Contact cap_over_plane(const SolidCylinder& cylinder, int cap) {
  Contact contact;
  contact.code_a = FeatureCode::cap(cap);
  contact.code_b = kPlane.code;
  const Vec3 x = cylinder.cap_centre(cap);
  contact.gap = x.z();
  contact.p = Vec3(x.x(), x.y(), 0.5 * x.z());
  contact.n = kPlane.n;
  contact.feature = ClosestFeatures{SupportJet::vertex(), SupportJet::face()};
  return contact;
}

}  // namespace

// Standing: four points of the rim, and the deepest (cap_manifold.h). Otherwise, the lowest points of both rims: so a
// cylinder that lies has two, without asking how flat, and one that leans has one. Two rims that coincide are one.
void cylinder_plane_contacts(const PairQuery& query, std::vector<Contact>& out) {
  const SolidCylinder cylinder = cylinder_of(query);
  const RimSupport lowest = rim_support_along_z(cylinder);
  const double margin = query.bands.margin;
  if (cylinder.o.z() - cylinder.h * std::abs(cylinder.a.z()) - cylinder.rho * lowest.sine > margin) return;
  const std::size_t first = out.size();
  if (lowest.sine < kStandingSine) {
    const int cap = facing_cap(cylinder, kPlane.n);
    append_rim_points(cylinder, cap, Vec3::UnitX(), Vec3::UnitY(), kPlane, margin, out);
    if (lowest.sine >= kFlatSine) append_rim_over_plane(cylinder, lowest, cap, kPlane, margin, out);
  } else {
    append_rim_over_plane(cylinder, lowest, 0, kPlane, margin, out);
    if (2 * cylinder.h > query.bands.face_tie) append_rim_over_plane(cylinder, lowest, 1, kPlane, margin, out);
  }
  keep_points(out, first, query.max_points);
}

Contact cylinder_plane_distance(const PairQuery& query) {
  const SolidCylinder cylinder = cylinder_of(query);
  const int cap = facing_cap(cylinder, kPlane.n);
  const RimSupport lowest = rim_support_along_z(cylinder);
  return lowest.sine > kAxisAlongNormal ? rim_over_plane(cylinder, lowest, cap, kPlane) : cap_over_plane(cylinder, cap);
}

}  // namespace lithe::internal
