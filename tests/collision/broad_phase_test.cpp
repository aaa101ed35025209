#include "lithe/collision/broad/broad_phase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <utility>

#include "lithe/model/model_builder.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/error_text.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

using PairSet = std::set<std::pair<int, int>>;

Aabb box_at(const Vec3& centre, const Vec3& half) {
  return bounds_in_world(Pose::translation(centre), Vec3::Zero(), half, 0);
}

TEST(Aabb, BoundsATurnedBox) {
  const double s = std::sqrt(0.5);
  const Aabb box = bounds_in_world({rotation_about(Vec3::UnitZ(), std::numbers::pi / 4), Vec3(1, 2, 3)}, Vec3(0, 0, 1),
                                   Vec3(1, 1, 2), 0.5);
  const Vec3 centre(1, 2, 4);
  const Vec3 half(2 * s + 0.5, 2 * s + 0.5, 2.5);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(box.lower[k], centre[k] - half[k], 1e-15);
    EXPECT_NEAR(box.upper[k], centre[k] + half[k], 1e-15);
  }
}

TEST(AabbTree, FindsWhatBruteForceFindsWhileItChanges) {
  for_random_cases(20, [](std::mt19937_64& random) {
    AabbTree tree;
    std::vector<std::pair<int, Aabb>> leaves;  // leaf number, box
    std::vector<int> stack;
    for (int round = 0; round < 300; ++round) {
      if (leaves.empty() || chance(random, 0.6)) {
        const Aabb box = box_at(random_vec3(random, 3), random_vec3(random).cwiseAbs());
        const int item = round;
        leaves.emplace_back(tree.insert(box, item), box);
      } else {
        const int i = uniform_int(random, 0, static_cast<int>(leaves.size()) - 1);
        tree.remove(leaves[i].first);
        leaves.erase(leaves.begin() + i);
      }
      const Aabb probe = box_at(random_vec3(random, 3), random_vec3(random).cwiseAbs());
      std::size_t expected = 0;
      for (const auto& [leaf, box] : leaves) expected += overlap(box, probe);
      std::set<int> found;
      tree.query(probe, stack, [&](int item) { EXPECT_TRUE(found.insert(item).second) << "found twice"; });
      ASSERT_EQ(found.size(), expected);
    }
  });
}

TEST(AabbTree, StaysShallow) {
  AabbTree tree;
  constexpr int kLeaves = 4096;
  for (int i = 0; i < kLeaves; ++i)
    tree.insert(box_at(Vec3(i, 0, 0), Vec3::Constant(0.4)), i);  // in order: the worst case
  EXPECT_LE(tree.height(), 2 * 12);
}

// Balls, boxes and planes, some fixed, some on bodies with two shapes.
Model cloud(std::mt19937_64& random, int bodies) {
  ModelBuilder builder;
  for (int i = 0; i < bodies; ++i) {
    const std::string name = "body_" + std::to_string(i);
    if (chance(random, 0.3)) {
      builder.add_body("world", {.name = name, .placement = {random_rotation(random), random_vec3(random, 2)}});
    } else {
      builder.add_body("world", {.name = name, .inertia = SpatialInertia::sphere(1, 0.1)}, free_joint(name));
    }
    for (int k = uniform_int(random, 0, 2); k > 0; --k) {
      const std::string shape = name + "_" + std::to_string(k);
      const Geometry geometry = chance(random, 0.5) ? Geometry(Sphere{uniform(random, 0.05, 0.5)})
                                                    : Geometry(Box{random_vec3(random, 0.4).cwiseAbs()});
      builder.add_shape(name, {.name = shape, .geometry = geometry, .placement = random_pose(random)});
    }
    if (chance(random, 0.05)) builder.add_shape(name, {.name = name + "_plane", .geometry = Plane{}});
  }
  return builder.build();
}

std::vector<Pose> shape_poses(const ColliderSet& set, const std::vector<Pose>& X_WB) {
  std::vector<Pose> poses;
  for (const Collider& c : set.colliders()) {
    poses.push_back(set.is_fixed(c.shape) ? set.fixed_pose(c.shape) : X_WB[c.body] * c.placement);
  }
  return poses;
}

// Pairs whose true bounds come within the margin; every correct broad phase has these.
PairSet must_find(const ColliderSet& set, const std::vector<Pose>& poses) {
  PairSet pairs;
  const auto& colliders = set.colliders();
  for (std::size_t i = 0; i < colliders.size(); ++i) {
    for (std::size_t j = i + 1; j < colliders.size(); ++j) {
      const Collider& a = colliders[i];
      const Collider& b = colliders[j];
      if (!set.may_touch(a.shape, b.shape)) continue;
      const bool plane_a = a.type == ShapeType::plane;
      const bool plane_b = b.type == ShapeType::plane;
      if (plane_a && plane_b) continue;
      const double margin = bands_of(a, b).margin;
      bool near = true;
      if (plane_a || plane_b) {
        const Pose& X_WP = poses[plane_a ? i : j];
        const Pose& X_WG = poses[plane_a ? j : i];
        const Collider& c = plane_a ? b : a;
        double lowest = std::numeric_limits<double>::infinity();
        for (int corner = 0; corner < 8; ++corner) {
          const Vec3 sign(corner & 1 ? 1 : -1, corner & 2 ? 1 : -1, corner & 4 ? 1 : -1);
          const Vec3 x = X_WG * Vec3(c.box_centre + sign.cwiseProduct(c.box_half));
          lowest = std::min(lowest, X_WP.R.col(2).dot(x - X_WP.p));
        }
        near = lowest <= margin;
      } else {
        near = overlap(bounds_in_world(poses[i], a.box_centre, a.box_half, margin),
                       bounds_in_world(poses[j], b.box_centre, b.box_half, 0));
      }
      if (near) pairs.emplace(static_cast<int>(i), static_cast<int>(j));
    }
  }
  return pairs;
}

TEST(BroadPhase, MissesNothingAndForgetsItsHistory) {
  int found = 0;
  for_random_cases(30, [&](std::mt19937_64& random) {
    const Model model = cloud(random, chance(random, 0.3) ? 10 : 40);
    const ColliderSet set(model);
    BroadPhase used;
    std::vector<Pose> X_WB(model.bodies().size());
    for (Pose& X : X_WB) X = {random_rotation(random), random_vec3(random, 2)};
    for (int step = 0; step < 30; ++step) {
      // Creep, and now and then jump.
      for (Pose& X : X_WB) X.p += random_vec3(random, chance(random, 0.05) ? 2 : 0.01);
      const std::vector<Pose> poses = shape_poses(set, X_WB);
      const auto& pairs = used.update(set, poses);

      PairSet unique;
      for (const auto& [a, b] : pairs) {
        ASSERT_LT(a, b);
        ASSERT_TRUE(unique.empty() || *unique.rbegin() < std::make_pair(a, b)) << "not sorted, or twice";
        unique.emplace(a, b);
        ASSERT_TRUE(set.may_touch(ShapeIndex(a), ShapeIndex(b)));
      }
      for (const auto& pair : must_find(set, poses)) ASSERT_TRUE(unique.contains(pair));

      BroadPhase fresh;
      const auto& again = fresh.update(set, poses);
      ASSERT_EQ(again.size(), pairs.size());
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        ASSERT_EQ(again[i].a, pairs[i].a);
        ASSERT_EQ(again[i].b, pairs[i].b);
      }
      found += static_cast<int>(pairs.size());
    }
  });
  if (few_cases()) return;
  EXPECT_GT(found, 1000);
}

// Few pairs are all looked at, many are found by their fat boxes.
TEST(BroadPhase, FindsTheSamePairsAmongFewShapesAsAmongMany) {
  int found = 0;
  for_random_cases(30, [&](std::mt19937_64& random) {
    const std::uint64_t seed = random();
    std::mt19937_64 one(seed), other(seed);  // the large cloud begins with the small one
    const Model small = cloud(one, 10), large = cloud(other, 60);
    const ColliderSet few(small), many(large);
    const int shapes = static_cast<int>(few.colliders().size());
    BroadPhase of_few, of_many;
    std::vector<Pose> X_WB(large.bodies().size());
    for (int step = 0; step < 10; ++step) {
      for (Pose& X : X_WB) X = {random_rotation(random), random_vec3(random, 1)};
      PairSet among_few, among_many;
      for (const auto& [a, b] : of_few.update(few, shape_poses(few, X_WB))) among_few.emplace(a, b);
      for (const auto& [a, b] : of_many.update(many, shape_poses(many, X_WB))) {
        if (b < shapes) among_many.emplace(a, b);
      }
      ASSERT_EQ(among_few, among_many);
      found += static_cast<int>(among_few.size());
    }
  });
  if (few_cases()) return;
  EXPECT_GT(found, 100);
}

TEST(BroadPhase, StartsAfreshForAnotherSet) {
  std::mt19937_64 random(1);
  const Model first = cloud(random, 20);
  const Model second = cloud(random, 10);
  const ColliderSet set_1(first), set_2(second);
  std::vector<Pose> X_WB(first.bodies().size());
  for (Pose& X : X_WB) X = random_pose(random);
  BroadPhase used, fresh;
  used.update(set_1, shape_poses(set_1, X_WB));
  X_WB.resize(second.bodies().size());
  const std::vector<Pose> poses = shape_poses(set_2, X_WB);
  EXPECT_EQ(used.update(set_2, poses).size(), fresh.update(set_2, poses).size());
}

TEST(BroadPhase, WarmUpdatesAllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  const Model model = cloud(random, 60);
  const ColliderSet set(model);
  BroadPhase broad_phase;
  std::vector<std::vector<Pose>> frames;
  std::vector<Pose> X_WB(model.bodies().size());
  for (int i = 0; i < 20; ++i) {
    for (Pose& X : X_WB) X = random_pose(random);
    frames.push_back(shape_poses(set, X_WB));
  }
  // Twice: in another order of insertion the tree and its lists may need a little more room.
  for (int round = 0; round < 2; ++round) {
    for (const auto& poses : frames) broad_phase.update(set, poses);
  }
  const AllocationGuard guard;
  for (const auto& poses : frames) broad_phase.update(set, poses);
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

TEST(BroadPhase, NamesTheBodyWhosePoseIsNotFinite) {
  std::mt19937_64 random(1);
  const Model model =
      ModelBuilder()
          .add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(1, 0.1)}, free_joint("j"))
          .add_shape("ball", {.name = "ball", .geometry = Sphere{0.1}})
          .build();
  const ColliderSet set(model);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<Pose> poses(1);
    poses[0].p.y() = bad;
    BroadPhase broad_phase;
    expect_error([&] { broad_phase.update(set, poses); }, "the pose of body 1, which carries shape 0, is not finite");
  }
}

}  // namespace
}  // namespace lithe::test
