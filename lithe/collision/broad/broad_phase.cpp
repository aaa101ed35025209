#include "lithe/collision/broad/broad_phase.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/simd/internal/lane_bits.h"

namespace lithe::internal {
namespace {

// Fat boxes reach this share of the shape's extent further: far enough to be left rarely, near enough to hold few pairs.
constexpr double kFatness = 0.1;
// What moves fast gets room for so many steps, up to its own extent.
constexpr double kStepsAhead = 8;
// So many shapes are held against one another in less time than their fat boxes take.
constexpr std::size_t kFewShapes = 48;

std::uint64_t key(int a, int b) {
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint64_t>(std::max(a, b));
}
BroadPhase::Pair pair_of(std::uint64_t key) {
  return {static_cast<int>(key >> 32), static_cast<int>(key & 0xffffffff)};
}

// A pair's margin is at most the sum of what both shapes grow by (see bands_of()).
double growth_of(const Collider& c) { return std::max(1e-3 * c.length_scale, c.margin); }

Aabb exact_box(const Collider& c, const Pose& X_WG, double growth) {
  return bounds_in_world(X_WG, c.box_centre, c.box_half, growth);
}

double largest_shift(const Aabb& before, const Aabb& after) {
  double largest = 0;
  for (int k = 0; k < 3; ++k) {
    largest =
        std::max({largest, std::abs(after.lower[k] - before.lower[k]), std::abs(after.upper[k] - before.upper[k])});
  }
  return largest;
}

// Bit k is set where lane k is.
LITHE_INLINE std::uint64_t bits_of(PackMask mask) {
#ifdef __AVX__
  return static_cast<std::uint64_t>(__builtin_ia32_movmskpd256(reinterpret_cast<Pack>(mask)));
#else
  std::uint64_t bits = 0;
  for (int k = 0; k < kLanes; ++k) bits |= static_cast<std::uint64_t>(mask[k]) & (1U << static_cast<unsigned>(k));
  return bits;
#endif
}

// Whether the bounding box of `c` reaches below the plane.
bool reaches_plane(const Collider& c, const Pose& X_WG, const Pose& X_WP, double growth) {
  const Vec3 normal = X_WP.R.col(2);
  const Vec3 in_shape = X_WG.R.transpose() * normal;
  const double centre = normal.dot(X_WG.p - X_WP.p) + in_shape.dot(c.box_centre);
  return centre - in_shape.cwiseAbs().dot(c.box_half) <= growth;
}

}  // namespace

const std::vector<BroadPhase::Pair>& BroadPhase::update(const ColliderSet& set, std::span<const Pose> poses) {
  if (stamp_ != set.stamp()) reset(set);
  if (few_.shapes.empty()) {
    find_moved(set, poses);
    if (!moved_.empty()) look_up_moved(set);
  } else {
    place_boxes(set, poses, [&](std::size_t i, const Aabb& box) { few_.set(moving_[i].place, box); });
  }
  collect(set, poses);
  return pairs_;
}

void BroadPhase::reset(const ColliderSet& set) {
  const auto& colliders = set.colliders();
  stamp_ = set.stamp();
  moving_tree_.clear();
  fixed_tree_.clear();
  moving_.clear();
  planes_.clear();
  candidates_.clear();
  plane_candidates_.clear();
  exact_.assign(colliders.size(), Aabb{});
  is_moved_.assign(colliders.size(), 0);
  for (const Collider& c : colliders) {
    if (c.type == ShapeType::plane) {
      planes_.push_back(c.shape);
    } else if (set.is_fixed(c.shape)) {
      exact_[c.shape] = exact_box(c, set.fixed_pose(c.shape), growth_of(c));
      fixed_tree_.insert(exact_[c.shape], c.shape);
    } else {
      moving_.push_back({.shape = c.shape, .place = -1, .leaf = AabbTree::kNone, .growth = growth_of(c)});
    }
  }
  reset_few(set);
  for (int plane : planes_) {
    for (const Collider& c : colliders) {
      if (c.type == ShapeType::plane || !set.may_touch(ShapeIndex(plane), c.shape)) continue;
      plane_candidates_.push_back({plane, c.shape});
    }
  }
}

void BroadPhase::FewBoxes::set(std::size_t place, const Aabb& box) {
  double* at = bounds.data() + place;
  for (int k = 0; k < 3; ++k) {
    at[k * stride] = box.lower[k];
    at[(3 + k) * stride] = box.upper[k];
  }
}

void BroadPhase::reset_few(const ColliderSet& set) {
  few_.shapes.clear();
  for (const Collider& c : set.colliders()) {
    if (c.type != ShapeType::plane) few_.shapes.push_back(c.shape);
  }
  if (few_.shapes.size() > kFewShapes) return few_.shapes.clear();
  const std::size_t count = few_.shapes.size();
  few_.stride = static_cast<int>((count + kLanes - 1) / kLanes * kLanes);
  few_.bounds.assign(6 * static_cast<std::size_t>(few_.stride), 0.0);
  few_.partners.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const ShapeIndex a(few_.shapes[i]);
    few_.set(i, exact_[a]);
    for (std::size_t k = i + 1; k < count; ++k) {
      const ShapeIndex b(few_.shapes[k]);
      const bool both_fixed = set.is_fixed(a) && set.is_fixed(b);
      if (!both_fixed && set.may_touch(a, b)) few_.partners[i] |= std::uint64_t{1} << k;
    }
  }
  for (Tracked& t : moving_) {
    t.place = static_cast<int>(std::ranges::lower_bound(few_.shapes, t.shape) - few_.shapes.begin());
  }
}

// place(i, box) for the exact box of every entry of moving_.
template <class Place>
void BroadPhase::place_boxes(const ColliderSet& set, std::span<const Pose> poses, Place place) const {
  const auto check_finite = [&](bool finite, int shape) {
    LITHE_CHECK(finite, "detect_contacts: the pose of body {}, which carries shape {}, is not finite",
                int(set.colliders()[shape].body), shape);
  };
  for (int plane : planes_) {
    if (!set.is_fixed(ShapeIndex(plane))) check_finite(poses[plane].R.allFinite() && poses[plane].p.allFinite(), plane);
  }
  for (std::size_t i = 0; i < moving_.size(); ++i) {
    const Tracked& t = moving_[i];
    const Aabb box = exact_box(set.colliders()[t.shape], poses[t.shape], t.growth);
    check_finite(std::isfinite(box.upper[0] - box.lower[0] + box.upper[1] - box.lower[1] + box.upper[2] - box.lower[2]),
                 t.shape);
    place(i, box);
  }
}

void BroadPhase::find_moved(const ColliderSet& set, std::span<const Pose> poses) {
  moved_.clear();
  place_boxes(set, poses, [&](std::size_t i, const Aabb& box) {
    Tracked& t = moving_[i];
    const bool is_new = t.leaf == AabbTree::kNone;
    const double shift = is_new ? 0.0 : largest_shift(exact_[t.shape], box);
    t.speed = std::min(shift, t.shift);
    t.shift = shift;
    if (is_new || !contains(moving_tree_.box(t.leaf), box)) moved_.push_back(static_cast<int>(i));
    exact_[t.shape] = box;
  });
}

void BroadPhase::look_up_moved(const ColliderSet& set) {
  for (int i : moved_) {
    Tracked& t = moving_[i];
    is_moved_[t.shape] = 1;
    if (t.leaf != AabbTree::kNone) moving_tree_.remove(t.leaf);
    const Aabb& box = exact_[t.shape];
    const double extent = largest_extent(box);
    t.leaf = moving_tree_.insert(grown(box, std::clamp(kStepsAhead * t.speed, kFatness * extent, extent)), t.shape);
  }
  std::erase_if(candidates_, [&](std::uint64_t k) { return is_moved_[pair_of(k).a] || is_moved_[pair_of(k).b]; });

  found_.clear();
  for (int i : moved_) {
    const int shape = moving_[i].shape;
    const Aabb& fat = moving_tree_.box(moving_[i].leaf);
    const auto add = [&](int other) {
      // Two shapes that both moved find each other twice.
      if (other == shape || (is_moved_[other] && other < shape)) return;
      if (set.may_touch(ShapeIndex(shape), ShapeIndex(other))) found_.push_back(key(shape, other));
    };
    moving_tree_.query(fat, stack_, add);
    fixed_tree_.query(fat, stack_, add);
  }
  for (int i : moved_) is_moved_[moving_[i].shape] = 0;

  std::ranges::sort(found_);
  merged_.resize(candidates_.size() + found_.size());
  std::ranges::merge(candidates_, found_, merged_.begin());
  candidates_.swap(merged_);
}

void BroadPhase::collect_among_few() {
  constexpr std::uint64_t kAll = (1U << kLanes) - 1;
  const int stride = few_.stride;
  const double* bounds = few_.bounds.data();
  for (std::size_t i = 0; i < few_.shapes.size(); ++i) {
    const std::uint64_t partners = few_.partners[i];
    Pack lower[3], upper[3];
    for (int k = 0; k < 3; ++k) {
      lower[k] = broadcast(bounds[k * stride + static_cast<int>(i)]);
      upper[k] = broadcast(bounds[(3 + k) * stride + static_cast<int>(i)]);
    }
    for (int first = 0; first < stride; first += kLanes) {
      const std::uint64_t wanted = partners >> static_cast<unsigned>(first) & kAll;
      if (wanted == 0) continue;
      PackMask hit = lower[0] <= as_pack(bounds + 3 * stride + first);
      for (int k = 1; k < 3; ++k) hit &= lower[k] <= as_pack(bounds + (3 + k) * stride + first);
      for (int k = 0; k < 3; ++k) hit &= as_pack(bounds + k * stride + first) <= upper[k];
      for (std::uint64_t found = bits_of(hit) & wanted; found != 0; found &= found - 1) {
        pairs_.push_back({few_.shapes[i], few_.shapes[first + std::countr_zero(found)]});
      }
    }
  }
}

void BroadPhase::collect(const ColliderSet& set, std::span<const Pose> poses) {
  pairs_.clear();
  if (!few_.shapes.empty()) collect_among_few();
  for (std::uint64_t k : candidates_) {
    const Pair pair = pair_of(k);
    if (overlap(exact_[pair.a], exact_[pair.b])) pairs_.push_back(pair);
  }
  const std::size_t bounded = pairs_.size();
  for (const Pair& candidate : plane_candidates_) {
    const auto [plane, other] = candidate;
    const auto pose = [&](int shape) -> const Pose& {
      return set.is_fixed(ShapeIndex(shape)) ? set.fixed_pose(ShapeIndex(shape)) : poses[shape];
    };
    const Collider& c = set.colliders()[other];
    const double growth = growth_of(c) + set.colliders()[plane].margin;
    if (reaches_plane(c, pose(other), pose(plane), growth)) {
      pairs_.push_back({std::min(plane, other), std::max(plane, other)});
    }
  }
  if (bounded != pairs_.size()) {
    std::ranges::sort(pairs_, {}, [](const Pair& p) { return key(p.a, p.b); });
  }
}

}  // namespace lithe::internal
