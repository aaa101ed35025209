#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lithe/collision/broad/aabb.h"
#include "lithe/collision/collide.h"
#include "lithe/collision/collider_set.h"
#include "lithe/collision/distance/gjk.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/dynamics/kinematics.h"

namespace lithe::internal {

// A pair of bodies as one number, which is the same whichever comes first. bodies_of() gives the two back.
std::uint64_t pair_key(int a, int b);
struct BodyPair {
  BodyIndex a, b;
};
BodyPair bodies_of(std::uint64_t key);

// Finds which bodies of a model meet in one pose after another: by bounding boxes first, then by GJK. Planes and shapes
// of the world are left out.
//
// The search counts its work, in units of about 4 ns that depend on nothing but the model and the poses, and is
// exhausted after kMostWork. From then on all answers are "no", and is_exhausted() tells. So no machine finds more than
// another.
class OverlapSearch {
 public:
  static constexpr std::int64_t kMostWork = 64'000'000;

  // Throws as ColliderSet does. The model must outlive this.
  explicit OverlapSearch(const Model& model);

  bool is_exhausted() const { return work_left_ < 0; }

  // Puts everything where q says. The other questions are about this pose.
  void place(const VecX& q);

  // Calls visit(a, b), shapes with a < b, for all that may touch and whose bounds do.
  template <class Visit>
  void for_near_shapes(Visit visit);

  // Whether a step would find a contact between two shapes. Their bounds are looked at first. A prism of 24 sides
  // stands for a cylinder; it is within 0.5 % of the radius.
  bool touch(int a, int b);
  // Whether any two shapes of the two bodies touch that may touch.
  bool touch(const BodyPair& bodies);
  // How deep one shape is in the other, m; 0 where that is less than contacts' own tolerance, 1e-3 of the smaller
  // shape: then the two merely touch.
  double overlap_depth(int a, int b);

  BodyIndex body_of(int shape) const { return set_.colliders()[shape].body; }

 private:
  void spend(std::int64_t work) { work_left_ -= work; }
  Core core_of(const Collider& collider);

  // The work for a shape, body or joint that is placed, a pair of bounds, a call of GJK, an exact distance, and a
  // prism.
  static constexpr std::int64_t kPlaceWork = 64, kBoundsWork = 1, kTouchWork = 400, kDepthWork = 5'000,
                                kPrismWork = 100'000;

  const Model& model_;
  ColliderSet set_;
  std::vector<int> shapes_;                  // all that count
  std::vector<std::vector<int>> shapes_of_;  // per body
  std::vector<int> order_;                   // shapes_ by lower bound along x
  Kinematics kin_;
  std::vector<Pose> bodies_, poses_;                  // X_WB; X_WG per shape
  std::vector<Aabb> boxes_;                           // per shape
  std::map<std::pair<double, double>, Hull> prisms_;  // by radius and half length, as they are needed
  PairScratch scratch_;
  std::int64_t work_left_ = kMostWork;
};

template <class Visit>
void OverlapSearch::for_near_shapes(Visit visit) {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Aabb& box = boxes_[order_[i]];
    for (std::size_t k = i + 1; k < order_.size(); ++k) {
      const Aabb& other = boxes_[order_[k]];
      if (other.lower[0] > box.upper[0]) break;
      spend(kBoundsWork);
      if (is_exhausted()) return;
      if (!overlap(box, other)) continue;
      const int a = std::min(order_[i], order_[k]), b = std::max(order_[i], order_[k]);
      spend(8 * kBoundsWork);
      if (set_.may_touch(ShapeIndex(a), ShapeIndex(b))) visit(a, b);
    }
  }
}

}  // namespace lithe::internal
