#include "lithe/collision/collide.h"

#include <array>

#include "lithe/collision/pairs/pairs.h"
#include "lithe/core/check.h"

namespace lithe {

using namespace internal;
namespace {

struct PairTest {
  PairContacts contacts = nullptr;
  PairDistance distance = nullptr;
};

using PairTable = std::array<std::array<PairTest, kShapeTypes>, kShapeTypes>;

constexpr PairTable make_table() {
  PairTable table = {};
  const auto set = [&](ShapeType a, ShapeType b, PairContacts contacts, PairDistance distance) {
    table[static_cast<int>(a)][static_cast<int>(b)] = {contacts, distance};
  };
  using enum ShapeType;
  for (ShapeType round : {sphere, capsule}) {
    set(round, box, round_box_contacts, round_box_distance);
    set(round, mesh, round_mesh_contacts, round_mesh_distance);
    set(round, plane, round_plane_contacts, round_plane_distance);
  }
  set(sphere, sphere, round_round_contacts, round_round_distance);
  set(sphere, capsule, round_round_contacts, round_round_distance);
  set(capsule, capsule, round_round_contacts, round_round_distance);
  set(sphere, cylinder, sphere_cylinder_contacts, sphere_cylinder_distance);
  set(capsule, cylinder, capsule_cylinder_contacts, capsule_cylinder_distance);
  set(cylinder, cylinder, cylinder_cylinder_contacts, cylinder_cylinder_distance);
  set(cylinder, box, cylinder_polytope_contacts, cylinder_polytope_distance);
  set(cylinder, mesh, cylinder_polytope_contacts, cylinder_polytope_distance);
  set(cylinder, plane, cylinder_plane_contacts, cylinder_plane_distance);
  set(box, box, box_box_contacts, polytope_polytope_distance);
  set(box, mesh, box_mesh_contacts, polytope_polytope_distance);
  set(box, plane, polytope_plane_contacts, polytope_plane_distance);
  set(mesh, mesh, polytope_polytope_contacts, polytope_polytope_distance);
  set(mesh, plane, polytope_plane_contacts, polytope_plane_distance);
  return table;
}
constexpr PairTable kTable = make_table();

const PairTest& test_of(ShapeType a, ShapeType b) { return kTable[static_cast<int>(a)][static_cast<int>(b)]; }

// Whether the pair test takes (b, a) instead of (a, b): by type, then by number, so that ties break the same way
// whichever shape the caller names first.
bool takes_reversed(const Collider& a, const Collider& b) {
  return a.type != b.type ? a.type > b.type : a.shape > b.shape;
}

Pose relative_pose(const Pose& X_WB, const Pose& X_WA) {
  return {X_WB.R.transpose() * X_WA.R, X_WB.R.transpose() * (X_WA.p - X_WB.p)};
}

void to_world(const PairQuery& query, const Pose& X_WB, bool reversed, Contact& contact) {
  contact.a = query.a.shape;
  contact.b = query.b.shape;
  move_to_frame(X_WB, contact);
  if (reversed) mirror(contact);
}

}  // namespace

void collide(const Collider& a, const Pose& X_WA, const Collider& b, const Pose& X_WB, PairScratch& scratch,
             std::vector<Contact>& out, int max_points) {
  if (takes_reversed(a, b)) {
    const std::size_t first = out.size();
    collide(b, X_WB, a, X_WA, scratch, out, max_points);
    for (std::size_t i = first; i < out.size(); ++i) mirror(out[i]);
    return;
  }
  const PairTest& test = test_of(a.type, b.type);
  if (!test.contacts) return;
  const PairQuery query{a, b, relative_pose(X_WB, X_WA), bands_of(a, b), max_points, scratch.buffers()};
  const std::size_t first = out.size();
  test.contacts(query, out);
  for (std::size_t i = first; i < out.size(); ++i) to_world(query, X_WB, false, out[i]);
}

Contact distance(const Collider& a, const Pose& X_WA, const Collider& b, const Pose& X_WB, PairScratch& scratch) {
  const bool reversed = takes_reversed(a, b);
  const Collider& first = reversed ? b : a;
  const Collider& second = reversed ? a : b;
  const Pose& X_W1 = reversed ? X_WB : X_WA;
  const Pose& X_W2 = reversed ? X_WA : X_WB;
  const PairTest& test = test_of(first.type, second.type);
  LITHE_CHECK(test.distance, "distance: no distance is defined between two planes (shapes {} and {})", int(a.shape),
              int(b.shape));
  const PairQuery query{first,      second,           relative_pose(X_W2, X_W1), bands_of(first, second),
                        kMaxPoints, scratch.buffers()};
  Contact contact = test.distance(query);
  to_world(query, X_W2, reversed, contact);
  return contact;
}

}  // namespace lithe
