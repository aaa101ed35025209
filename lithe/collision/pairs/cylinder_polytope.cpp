#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/collision/curved/cap_manifold.h"
#include "lithe/collision/curved/cylinder_hull_search.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/collision/pairs/pairs.h"

namespace lithe::internal {
namespace {

// Where the best normal is a rim's on an edge and this close to the axis (sine), the edge lies across the cap.
constexpr double kEdgeAlongCap = 0.01;

// What the four points of a rim that lies flat may lack of its depth, relative to the radius: (1 − cos 45°)σ.
constexpr double kFlatShort = 0.293 * kFlatSine;

SupportJet jet_of_cylinder(const SolidCylinder& cylinder, FeatureCode code, const Vec3& n, bool on_face) {
  if (code.part() == FeatureCode::Part::rim) {
    const RimSupport rim = rim_support(cylinder, n);
    return SupportJet::rim(rim.t, cylinder.rho, rim.sine);
  }
  if (on_face) return SupportJet::vertex();  // the cap or side slides along the face: its point is a convention
  return code.part() == FeatureCode::Part::side ? SupportJet::line(cylinder.a, cylinder.rho) : SupportJet::face();
}

SupportJet jet_of_hull(const Hull& hull, FeatureCode code, bool on_cap) {
  if (code.part() == FeatureCode::Part::face) return SupportJet::face();
  if (code.part() == FeatureCode::Part::vertex || on_cap) return SupportJet::vertex();
  return SupportJet::line(hull.edges[code.index()].direction);
}

// ∂p > 1000 m per metre or radian: a rim almost flat on a face, two lines almost parallel, a sharp rim on an edge.
bool is_sensitive(const SolidCylinder& cylinder, const HullSeparation& s, const ClosestFeatures& jets) {
  constexpr double kSensitive = 1000;
  if (s.b.part() == FeatureCode::Part::face) return jets.a.bend > kSensitive;
  if (s.a.part() == FeatureCode::Part::side && s.b.part() == FeatureCode::Part::edge) {
    return sine_between(jets.b.direction, cylinder.a) * kSensitive < cylinder.h;
  }
  return false;
}

Contact closest_contact(const SolidCylinder& cylinder, const Hull& hull, const HullSeparation& s) {
  Contact contact;
  contact.code_a = s.a;
  contact.code_b = s.b;
  contact.n = s.n;
  contact.gap = s.gap;
  contact.p = s.x_a - (0.5 * s.gap) * s.n;
  const bool on_face = s.b.part() == FeatureCode::Part::face, on_cap = s.a.part() == FeatureCode::Part::cap;
  const ClosestFeatures jets{jet_of_cylinder(cylinder, s.a, s.n, on_face), jet_of_hull(hull, s.b, on_cap)};
  contact.flags = is_sensitive(cylinder, s, jets) ? ContactFlag::sensitive_point : ContactFlag::none;
  contact.feature = jets;
  return contact;
}

// The cap whose plane the polytope touches with vertices and edges, or −1.
int touched_cap(const SolidCylinder& cylinder, const HullSeparation& s) {
  if (s.b.part() == FeatureCode::Part::face) return -1;
  if (s.a.part() == FeatureCode::Part::cap) return s.a.index();
  const bool edge_along_cap = s.a.part() == FeatureCode::Part::rim && s.b.part() == FeatureCode::Part::edge &&
                              sine_between(s.n, cylinder.a) < kEdgeAlongCap;
  return edge_along_cap ? s.a.index() : -1;
}

// The points on the best face, if the best normal is nearly its own: the cylinder stands or lies on it.
void append_on_face(const PairQuery& query, const SolidCylinder& cylinder, const HullSearchResult& found,
                    std::vector<Contact>& out) {
  const Hull& hull = *query.b.hull;
  const Vec3& n = hull.faces[found.face].normal;
  if (n.dot(found.best.n) < kSameNormal) return;
  if (sine_between(n, cylinder.a) < kStandingSine) {
    // Of face and cap, nearly parallel, the cap is the reference only where it is clearly the better one.
    const bool on_cap = touched_cap(cylinder, found.best) >= 0 && found.best.gap > found.face_gap + query.bands.margin;
    if (!on_cap) cap_on_face(cylinder, hull, found.face, query.bands, out);
  } else if (sine_between(n, cylinder.a) > kSameNormal) {
    side_on_face(cylinder, hull, found.face, query.bands, out);
  }
}

double deepest_gap(const std::vector<Contact>& contacts, std::size_t first) {
  double deepest = std::numeric_limits<double>::infinity();
  for (std::size_t i = first; i < contacts.size(); ++i) deepest = std::min(deepest, contacts[i].gap);
  return deepest;
}

}  // namespace

// The manifold by what the best normal is one of:
//
//   a face, nearly     the cylinder stands or lies on it
//   a cap              the polytope stands on it, or is about to
//   else               one point: the closest features
//
// and if no point of the first is within the margin, the next. Where a manifold misses the deepest point by more than its
// bands explain, the closest features join it.
//
// A rim's point against a vertex, or against an edge along its tangent, has a normal that turns by a radian within the
// margin. Then the best of all other features is taken instead, if it is no farther from there than the margin, in its gap
// and in its point.
void cylinder_polytope_contacts(const PairQuery& query, std::vector<Contact>& out) {
  const SolidCylinder cylinder = cylinder_of(query);
  const Hull& hull = *query.b.hull;
  const double margin = query.bands.margin;
  CylinderHullScratch& scratch = query.scratch.cylinder_hull;
  HullSearchResult found = search_hull(cylinder, hull, {.enough = margin}, scratch);
  if (found.best.gap > margin) return;
  if (found.best.bend < margin) {
    const HullSearchResult other = search_hull(cylinder, hull, {.least_bend = margin}, scratch);
    const bool here = (other.best.x_a - found.best.x_a).norm() <= margin;
    if (here && other.best.gap >= found.best.gap - margin) found = other;
  }

  const std::size_t first = out.size();
  append_on_face(query, cylinder, found, out);
  if (out.size() == first) {
    const int cap = touched_cap(cylinder, found.best);
    if (cap >= 0) hull_on_cap(cylinder, cap, hull, scratch.height.data(), query.bands, out);
  }
  // A manifold as deep as the shapes are, but for what rounds off: otherwise its points are not all.
  const double short_by = std::max(query.bands.edge_tie, kFlatShort * cylinder.rho);
  if (deepest_gap(out, first) > found.best.gap + short_by) out.push_back(closest_contact(cylinder, hull, found.best));
  keep_points(out, first, query.max_points);
}

Contact cylinder_polytope_distance(const PairQuery& query) {
  const SolidCylinder cylinder = cylinder_of(query);
  const Hull& hull = *query.b.hull;
  return closest_contact(cylinder, hull, search_hull(cylinder, hull, {}, query.scratch.cylinder_hull).best);
}

}  // namespace lithe::internal
