#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/collision/broad/aabb_tree.h"
#include "lithe/collision/collider_set.h"
#include "lithe/simd/lanes.h"

namespace lithe::internal {

// Finds the pairs of shapes that may touch because their bounds overlap.
//
// Moving shapes have fat boxes in one tree and fixed ones exact boxes in another; pairs of overlapping fat boxes are
// kept from call to call, and a shape is looked up again only when it leaves its fat box. So fixed shapes cost
// nothing until something comes near, and a scene at rest costs one box per moving shape. What is remembered only saves
// time: the pairs that come out are those whose exact boxes overlap now, in the order of their numbers.
//
// Where shapes are few, as those of one robot, each is held against all others in every call, four at a time. That takes no longer than to
// know who has left its fat box; and in a batch, where worlds take turns, all have.
//
// Planes have no bounds: each is held against the box of every shape that may touch it.
class BroadPhase {
 public:
  struct Pair {
    int a, b;  // shapes, a < b
  };

  // poses: X_WG per shape; those of fixed shapes are not read.
  const std::vector<Pair>& update(const ColliderSet& set, std::span<const Pose> poses);

 private:
  struct Tracked {
    int shape;
    int place;  // in few_.shapes, if these are few
    int leaf;
    double growth;     // how far contacts reach beyond the shape
    double shift = 0;  // of its box since the last call,
    double speed = 0;  // and the smaller one of the last two: what is set somewhere else does not go on like that
  };

  // The exact boxes of few shapes, coordinate by coordinate.
  struct FewBoxes {
    std::vector<int> shapes;              // ascending; empty: there are too many
    std::vector<std::uint64_t> partners;  // of each, those behind it that it may touch: bit k is shapes[k]
    AlignedBuffer bounds;                 // lower x, y, z, upper x, y, z, `stride` each
    int stride = 0;

    void set(std::size_t place, const Aabb& box);
  };

  void reset(const ColliderSet& set);
  void reset_few(const ColliderSet& set);
  template <class Place>
  void place_boxes(const ColliderSet& set, std::span<const Pose> poses, Place place) const;
  void find_moved(const ColliderSet& set, std::span<const Pose> poses);
  void look_up_moved(const ColliderSet& set);
  void collect(const ColliderSet& set, std::span<const Pose> poses);
  void collect_among_few();

  std::uint64_t stamp_ = 0;
  FewBoxes few_;
  AabbTree moving_tree_, fixed_tree_;
  std::vector<Tracked> moving_;            // bounded shapes that move
  std::vector<int> planes_;                // whether they move or not
  std::vector<Aabb> exact_;                // per shape
  std::vector<int> moved_;                 // entries of moving_ that left their fat boxes
  std::vector<char> is_moved_;             // per shape
  std::vector<std::uint64_t> candidates_;  // a << 32 | b, sorted: pairs of overlapping fat boxes
  std::vector<std::uint64_t> found_, merged_;
  std::vector<Pair> plane_candidates_;  // (plane, other)
  std::vector<Pair> pairs_;
  std::vector<int> stack_;
};

}  // namespace lithe::internal
