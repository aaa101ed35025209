#pragma once

#include <array>

#include "lithe/collision/contact.h"
#include "lithe/collision/curved/cylinder_support.h"

namespace lithe::internal {

// Two cylinders that touch at a normal n (from b to a): which parts of them do, and where. n alone tells: its support on a
// cylinder is a cap where n is along the axis, a line of the side where it is across, else a point of a rim.
struct CylinderPair {
  SolidCylinder a, b;
  Vec3 x_a, y_a, x_b, y_b;  // the other two axes of the cylinders' frames

  double separation(const Vec3& n) const { return n.dot(a.o - b.o) - reach(a, n) - reach(b, n); }
  double size() const { return a.h + a.rho + b.h + b.rho; }
};

struct CylinderTouch {
  FeatureCode code_a = {}, code_b = {};
  Vec3 p = Vec3::Zero(), n = Vec3::UnitZ();
  double gap = 0;
  ContactFlag flags = ContactFlag::none;
};

// A touch at n, and whether the two parts have points that are gap·n apart: then no normal near n separates more, and if
// the gap is positive, none at all. Where they have none, the rims (and the points of them) that are nearest to doing so:
// the best normal is uphill from n, and there they touch.
struct SupportTouch {
  CylinderTouch touch;
  bool meets = false;
  int rim_a = 0, rim_b = 0;
  Vec3 u_a = Vec3::Zero(), u_b = Vec3::Zero();
};
SupportTouch support_touch(const CylinderPair& pair, const Vec3& n);

// The contact with its jets.
Contact contact_of(const CylinderPair& pair, const CylinderTouch& touch);

}  // namespace lithe::internal
