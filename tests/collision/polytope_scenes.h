#pragma once

#include <string>
#include <vector>

#include "lithe/collision/collider.h"
#include "lithe/collision/contact.h"
#include "lithe/collision/pairs/pair_query.h"
#include "tests/collision/turns.h"

namespace lithe::test {

using namespace internal;

// Two polytopes, for tests of their manifolds.
struct PolytopeScene {
  Collider a, b;
  Pose X_WA, X_WB;
  int max_points = 1000;  // all of them, unless a test says otherwise

  PairQuery query(PairBuffers& scratch) const;
};

// The n-th shape of a scene.
Collider box_collider(double half_x, double half_y, double half_z, int index);
Collider cube(int index);  // of edge 1
Collider mesh_collider(const std::vector<Vec3>& points, int index);

// a on top of b, which is at the origin: their middles `height` apart, and a shifted and turned.
PolytopeScene stacked(const Collider& a, const Collider& b, double height, double x = 0, double y = 0,
                      const Mat3& R_WA = Mat3::Identity());

// The pair test itself, whatever closed form the two types have: contacts in b's frame.
std::vector<Contact> generic_contacts(const PolytopeScene& scene);
// The same from every axis there is.
std::vector<Contact> all_axes_contacts(const PolytopeScene& scene);

// How many points of each kind, as in "V1X2R1".
std::string kinds(const std::vector<Contact>& contacts);

}  // namespace lithe::test
