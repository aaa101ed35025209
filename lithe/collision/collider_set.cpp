#include "lithe/collision/collider_set.h"

#include <algorithm>
#include <atomic>

namespace lithe {
namespace {

std::uint64_t next_stamp() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::uint64_t body_pair(int a, int b) {
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint64_t>(std::max(a, b));
}

// The group that carries the group of `body`.
int parent_group(const Model& model, BodyIndex body) {
  const int group = model.tree().bodies[body].dof;
  while (body != Model::world() && model.tree().bodies[body].dof == group) body = model.bodies()[body].parent;
  return model.tree().bodies[body].dof;
}

}  // namespace

ColliderSet::ColliderSet(const Model& model)
    : body_count_(static_cast<int>(model.bodies().size())), stamp_(next_stamp()) {
  const std::size_t count = model.shapes().size();
  colliders_.reserve(count);
  rules_.reserve(count);
  fixed_poses_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Shape& shape = model.shapes()[i];
    const DofTree::BodyPlace& place = model.tree().bodies[shape.body];
    colliders_.push_back(make_collider(shape, ShapeIndex(static_cast<int>(i)), &warnings_));
    rules_.push_back({place.dof, parent_group(model, shape.body), shape.filter});
    if (place.dof < 0) fixed_poses_[i] = place.X_JB * shape.placement;
  }
  for (const Model::PairException& e : model.pair_exceptions()) {
    exceptions_.push_back({body_pair(e.a, e.b), e.collide});
  }
  // Of several for the same bodies the last one counts, and a stable sort keeps it last.
  std::ranges::stable_sort(exceptions_, {}, &Exception::bodies);
}

bool ColliderSet::may_touch(ShapeIndex a, ShapeIndex b) const {
  const Rule& x = rules_[a];
  const Rule& y = rules_[b];
  if (x.group == y.group) return false;
  if (!exceptions_.empty()) {
    const std::uint64_t bodies = body_pair(colliders_[a].body, colliders_[b].body);
    const auto after = std::ranges::upper_bound(exceptions_, bodies, {}, &Exception::bodies);
    if (after != exceptions_.begin() && std::prev(after)->bodies == bodies) return std::prev(after)->collide;
  }
  if ((x.filter.groups & y.filter.mask) == 0 || (y.filter.groups & x.filter.mask) == 0) return false;
  const bool related = (x.group >= 0 && y.parent_group == x.group) || (y.group >= 0 && x.parent_group == y.group);
  return !related;
}

}  // namespace lithe
