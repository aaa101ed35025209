#include "tests/collision/polytope_scenes.h"

#include <fmt/format.h>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/face_manifold.h"
#include "lithe/collision/manifold/polytope_axes.h"
#include "lithe/collision/pairs/pairs.h"
#include "lithe/spatial/rotation.h"

namespace lithe::test {

using namespace internal;

PairQuery PolytopeScene::query(PairBuffers& scratch) const {
  const Pose X_BA = {X_WB.R.transpose() * X_WA.R, X_WB.R.transpose() * (X_WA.p - X_WB.p)};
  return {a, b, X_BA, bands_of(a, b), max_points, scratch};
}

Collider box_collider(double half_x, double half_y, double half_z, int index) {
  Shape shape;
  shape.geometry = Box{Vec3(half_x, half_y, half_z)};
  return make_collider(shape, ShapeIndex(index));
}

Collider cube(int index) { return box_collider(0.5, 0.5, 0.5, index); }

Collider mesh_collider(const std::vector<Vec3>& points, int index) {
  Shape shape;
  shape.geometry = ConvexMesh{points};
  return make_collider(shape, ShapeIndex(index));
}

PolytopeScene stacked(const Collider& a, const Collider& b, double height, double x, double y, const Mat3& R_WA) {
  return {a, b, Pose{R_WA, Vec3(x, y, height)}, Pose{}};
}

std::vector<Contact> generic_contacts(const PolytopeScene& scene) {
  PairBuffers scratch;
  std::vector<Contact> contacts;
  polytope_polytope_contacts(scene.query(scratch), contacts);
  return contacts;
}

std::vector<Contact> all_axes_contacts(const PolytopeScene& scene) {
  PairBuffers scratch;
  std::vector<Contact> contacts;
  const PairQuery query = scene.query(scratch);
  PolytopeScratch& memory = scratch.polytope;
  all_axes(*scene.a.hull, *scene.b.hull, query.X_BA, query.bands.length, memory.search, memory.axes);
  append_manifold(query, memory.axes, memory.manifold, contacts);
  return contacts;
}

std::string kinds(const std::vector<Contact>& contacts) {
  int vertices = 0, crossings = 0, corners = 0, edges = 0;
  for (const Contact& contact : contacts) {
    if (std::holds_alternative<VertexOverFace>(contact.feature)) ++vertices;
    if (std::holds_alternative<EdgeCrossing>(contact.feature)) ++crossings;
    if (std::holds_alternative<CornerUnderFace>(contact.feature)) ++corners;
    if (std::holds_alternative<ClosestFeatures>(contact.feature)) ++edges;
  }
  std::string text;
  const auto append = [&](char letter, int count) {
    if (count > 0) text += fmt::format("{}{}", letter, count);
  };
  append('V', vertices);
  append('X', crossings);
  append('R', corners);
  append('E', edges);
  return text;
}

}  // namespace lithe::test
