#include <algorithm>

#include "lithe/collision/curved/cylinder_manifold.h"
#include "lithe/collision/curved/cylinder_search.h"
#include "lithe/collision/pairs/pairs.h"

namespace lithe::internal {
namespace {

CylinderPair pair_of(const PairQuery& query) {
  const Mat3& R = query.X_BA.R;
  return {.a = {query.X_BA.p, R.col(2), query.a.half_length, query.a.radius},
          .b = {Vec3::Zero(), Vec3::UnitZ(), query.b.half_length, query.b.radius},
          .x_a = R.col(0),
          .y_a = R.col(1),
          .x_b = Vec3::UnitX(),
          .y_b = Vec3::UnitY()};
}

// In their order, and if there are too many the first ones and the deepest.
void append(const CylinderManifold& manifold, int max_points, std::vector<Contact>& out) {
  const auto first = manifold.points.begin(), last = first + manifold.count;
  if (manifold.count <= max_points) {
    out.insert(out.end(), first, last);
    return;
  }
  const auto deepest = std::min_element(first, last, [](const Contact& x, const Contact& y) { return x.gap < y.gap; });
  out.insert(out.end(), first, first + (max_points - 1));
  out.push_back(deepest - first < max_points - 1 ? first[max_points - 1] : *deepest);
}

}  // namespace

Contact cylinder_cylinder_distance(const PairQuery& query) {
  const CylinderPair pair = pair_of(query);
  return contact_of(pair, deepest_touch(pair));
}

void cylinder_cylinder_contacts(const PairQuery& query, std::vector<Contact>& out) {
  const CylinderPair pair = pair_of(query);
  if (separated_by_more_than(pair, query.bands.margin)) return;
  const CylinderTouch deepest = deepest_touch(pair);
  if (deepest.gap > query.bands.margin) return;
  CylinderManifold manifold;
  find_manifold(pair, deepest, query.bands, manifold);
  append(manifold, query.max_points, out);
}

}  // namespace lithe::internal
