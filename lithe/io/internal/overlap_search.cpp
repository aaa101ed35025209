#include "lithe/io/internal/overlap_search.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lithe/collision/hull/hull.h"
#include "lithe/dynamics/body_motion.h"

namespace lithe::internal {

namespace {

constexpr int kPrismSides = 24;
// A cylinder whose radius is less than this share of its half length counts as a wire, since qhull would see a line.
constexpr double kThinnest = 1e-4;

// A prism that stands for a cylinder. Its corners lie as far outside the circle as the middles of its sides lie inside.
Hull prism(double radius, double half_length) {
  const double half_angle = std::numbers::pi / kPrismSides;
  const double corner = 2 * radius / (1 + std::cos(half_angle));
  std::vector<Vec3> points;
  for (int k = 0; k < kPrismSides; ++k) {
    const double angle = 2 * half_angle * k;
    for (const double z : {-half_length, half_length}) {
      points.emplace_back(corner * std::cos(angle), corner * std::sin(angle), z);
    }
  }
  return build_hull(points, "cylinder").hull;
}

// How far a shape reaches beyond its core: a sphere is a point and a capsule is a segment, each with a coat.
double coat(const Collider& c) { return c.type == ShapeType::sphere || c.type == ShapeType::capsule ? c.radius : 0; }

// The pose of A in B, from both poses in the world.
Pose in_frame(const Pose& X_WB, const Pose& X_WA) {
  return {X_WB.R.transpose() * X_WA.R, X_WB.R.transpose() * (X_WA.p - X_WB.p)};
}

}  // namespace

std::uint64_t pair_key(int a, int b) {
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint64_t>(std::max(a, b));
}

BodyPair bodies_of(std::uint64_t key) {
  return {BodyIndex(static_cast<int>(key >> 32)), BodyIndex(static_cast<int>(key & 0xffffffff))};
}

OverlapSearch::OverlapSearch(const Model& model) : model_(model), set_(model), shapes_of_(model.bodies().size()) {
  for (const Collider& c : set_.colliders()) {
    // Planes and shapes of the world are grounds, which every link may touch.
    if (c.type == ShapeType::plane || c.body == Model::world()) continue;
    shapes_.push_back(c.shape);
    shapes_of_[c.body].push_back(c.shape);
  }
  order_ = shapes_;
  poses_.resize(model.shapes().size());
  boxes_.resize(model.shapes().size());
}

void OverlapSearch::place(const VecX& q) {
  spend(kPlaceWork * static_cast<std::int64_t>(shapes_.size() + model_.bodies().size() + model_.joints().size()));
  if (is_exhausted()) return;
  kinematics(model_, q, kin_);
  body_poses(model_, kin_, bodies_);
  for (const int shape : shapes_) {
    const Collider& c = set_.colliders()[shape];
    poses_[shape] = bodies_[c.body] * c.placement;
    // A pair's margin is at most the sum of what both grow by.
    boxes_[shape] = bounds_in_world(poses_[shape], c.box_centre, c.box_half, std::max(1e-3 * c.length_scale, c.margin));
  }
  // Shapes whose bounds begin at the same place are sorted by their numbers, so that the order is the same on every
  // machine.
  std::ranges::sort(order_, {}, [&](int shape) { return std::pair(double(boxes_[shape].lower[0]), shape); });
}

// The core of a shape for GJK. Prisms are built where they are needed, since most cylinders are in nobody's way.
Core OverlapSearch::core_of(const Collider& c) {
  if (c.type == ShapeType::sphere) return Core::point();
  const bool is_wire = c.type == ShapeType::cylinder && c.radius <= kThinnest * c.half_length;
  if (c.type == ShapeType::capsule || is_wire) return Core::segment(c.half_length);
  if (c.type != ShapeType::cylinder) return Core::hull(*c.hull);
  const std::pair size(c.radius, c.half_length);
  auto known = prisms_.find(size);
  if (known == prisms_.end()) {
    spend(kPrismWork);
    known = prisms_.emplace(size, prism(c.radius, c.half_length)).first;
  }
  return Core::hull(known->second);
}

bool OverlapSearch::touch(int a, int b) {
  spend(kBoundsWork);
  if (is_exhausted() || !overlap(boxes_[a], boxes_[b])) return false;
  const Collider& x = set_.colliders()[a];
  const Collider& y = set_.colliders()[b];
  // A step finds contacts within this distance, so shapes that are so close count as touching.
  const double reach = bands_of(x, y).margin;
  spend(kTouchWork);
  const double far = reach + coat(x) + coat(y);
  const GjkResult found = gjk(core_of(x), core_of(y), in_frame(poses_[b], poses_[a]), far);
  return found.status == GjkStatus::overlapping || (found.status == GjkStatus::separated && found.distance <= far);
}

bool OverlapSearch::touch(const BodyPair& bodies) {
  // One contact is enough. Where the work is used up, the answer means nothing.
  for (const int a : shapes_of_[bodies.a]) {
    for (const int b : shapes_of_[bodies.b]) {
      if (set_.may_touch(ShapeIndex(a), ShapeIndex(b)) && touch(a, b)) return true;
      if (is_exhausted()) return false;
    }
  }
  return false;
}

double OverlapSearch::overlap_depth(int a, int b) {
  const Collider& x = set_.colliders()[a];
  const Collider& y = set_.colliders()[b];
  // A prism could hide that its cylinder is a little inside the other.
  const bool exact = x.type != ShapeType::cylinder && y.type != ShapeType::cylinder;
  if (exact && !touch(a, b)) return 0;
  spend(kDepthWork);
  if (is_exhausted()) return 0;
  const double depth = -distance(x, poses_[a], y, poses_[b], scratch_).gap;
  return depth > 1e-3 * bands_of(x, y).length ? depth : 0;
}

}  // namespace lithe::internal
