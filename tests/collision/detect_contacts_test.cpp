#include "lithe/collision/detect_contacts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "lithe/collision/broad/place_shapes.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "lithe/model/model_builder.h"
#include "lithe/scenes/robots/humanoid.h"
#include "lithe/scenes/solids/free_bodies.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/error_text.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

std::vector<Pose> poses_at(const Model& model, const VecX& q) {
  Kinematics kin;
  kinematics(model, q, VecX::Zero(model.nv()), kin);
  std::vector<Pose> X_WB;
  body_poses(model, kin, X_WB);
  return X_WB;
}

ContactSet detect(const Model& model, const VecX& q) {
  DetectionWorkspace workspace;
  ContactSet contacts;
  detect_contacts(ColliderSet(model), poses_at(model, q), workspace, contacts);
  return contacts;
}

// Everything that makes a contact, bit by bit.
bool same_bits(const Contact& x, const Contact& y) {
  const auto same = [](const Vec3& u, const Vec3& v) { return std::memcmp(u.data(), v.data(), sizeof(Vec3)) == 0; };
  return x.a == y.a && x.b == y.b && x.id() == y.id() && same(x.p, y.p) && same(x.n, y.n) &&
         std::memcmp(&x.gap, &y.gap, sizeof(double)) == 0;
}
bool same_bits(const ContactSet& x, const ContactSet& y) {
  return std::ranges::equal(x.contacts, y.contacts, [](const Contact& u, const Contact& v) { return same_bits(u, v); });
}

ModelBuilder boxes_on_plane(int n) {
  ModelBuilder builder = boxes(n);
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}});
  return builder;
}

// Free bodies of every shape in a heap over the ground, two shapes to a body.
Model heap(std::mt19937_64& random, int bodies) {
  ModelBuilder builder;
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}, .placement = Pose::translation(0, 0, -0.5)});
  const auto size = [&] { return uniform(random, 0.1, 0.4); };
  for (int i = 0; i < bodies; ++i) {
    const std::string name = "body_" + std::to_string(i);
    builder.add_body("world", {.name = name, .inertia = SpatialInertia::sphere(1, 0.1)}, free_joint(name));
    for (int k = 0; k < 2; ++k) {
      ConvexMesh mesh;
      for (int p = 0; p < 20; ++p) mesh.points.push_back(random_vec3(random, 0.2));
      const Geometry geometries[] = {Sphere{size()}, Capsule{size(), size()}, Cylinder{size(), size()},
                                     Box{{size(), size(), size()}}, std::move(mesh)};
      builder.add_shape(name, {.name = name + "_" + std::to_string(k),
                               .geometry = geometries[uniform_int(random, 0, 4)],
                               .placement = random_pose(random)});
    }
  }
  return builder.build();
}

TEST(DetectContacts, BoxesOnAPlaneTouchAtFourCornersEach) {
  const Model model = boxes_on_plane(9).build();
  const ContactSet set = detect(model, neutral_configuration(model));
  ASSERT_EQ(set.contacts.size(), 36u);
  for (const Contact& c : set.contacts) {
    EXPECT_EQ(c.b, model.shape("ground"));
    EXPECT_TRUE(c.n.isApprox(Vec3::UnitZ(), 1e-15));
    EXPECT_NEAR(c.gap, 0, 1e-15);
  }
}

TEST(DetectContacts, ComesInTheOrderOfTheShapes) {
  std::mt19937_64 random(1);
  const Model model = heap(random, 12);
  const ContactSet set = detect(model, random_configuration(model, random));
  ASSERT_GT(set.contacts.size(), 10u);
  for (std::size_t i = 0; i < set.contacts.size(); ++i) {
    const Contact& c = set.contacts[i];
    EXPECT_LT(c.a, c.b);
    if (i > 0) {
      EXPECT_LE(std::pair(int(set.contacts[i - 1].a), int(set.contacts[i - 1].b)), std::pair(int(c.a), int(c.b)));
    }
  }
}

TEST(DetectContacts, FindsWhatEveryPairAloneFinds) {
  std::size_t total = 0;
  for_random_cases(100, [&](std::mt19937_64& random) {
    const Model model = heap(random, 8);
    const ColliderSet colliders(model);
    const std::vector<Pose> X_WB = poses_at(model, random_configuration(model, random));
    DetectionWorkspace workspace;
    ContactSet set;
    detect_contacts(colliders, X_WB, workspace, set);

    ContactSet alone;
    PairScratch scratch;
    const auto& all = colliders.colliders();
    std::vector<Pose> X_WG;
    place_shapes(colliders, X_WB, X_WG);
    for (const Collider& a : all) {
      for (const Collider& b : all) {
        if (a.shape >= b.shape || !colliders.may_touch(a.shape, b.shape)) continue;
        collide(a, X_WG[a.shape], b, X_WG[b.shape], scratch, alone.contacts);
      }
    }
    ASSERT_TRUE(same_bits(set, alone)) << set.contacts.size() << " and " << alone.contacts.size() << " contacts";
    total += set.contacts.size();
  });
  if (few_cases()) return;
  EXPECT_GT(total, 1000u);
}

TEST(DetectContacts, DependsOnThePosesAloneNotOnTheWorkspace) {
  for_random_cases(20, [&](std::mt19937_64& random) {
    const Model model = heap(random, 10);
    const ColliderSet colliders(model);
    DetectionWorkspace used;
    ContactSet set;
    VecX q = random_configuration(model, random);
    for (int step = 0; step < 20; ++step) {
      q = retract(model, q, random_vector(random, model.nv(), chance(random, 0.1) ? 1 : 0.01));
      const std::vector<Pose> X_WB = poses_at(model, q);
      detect_contacts(colliders, X_WB, used, set);
      DetectionWorkspace fresh;
      ContactSet again;
      detect_contacts(colliders, X_WB, fresh, again);
      ASSERT_TRUE(same_bits(set, again));
    }
  });
}

TEST(DetectContacts, WarmCallsAllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(3);
  const Model model = heap(random, 12);
  const ColliderSet colliders(model);
  std::vector<std::vector<Pose>> frames;
  for (int i = 0; i < 20; ++i) frames.push_back(poses_at(model, random_configuration(model, random)));
  DetectionWorkspace workspace;
  ContactSet set;
  for (int round = 0; round < 2; ++round) {
    for (const auto& X_WB : frames) detect_contacts(colliders, X_WB, workspace, set);
  }
  std::size_t contacts = 0;
  const AllocationGuard guard;
  for (const auto& X_WB : frames) {
    detect_contacts(colliders, X_WB, workspace, set);
    contacts += set.contacts.size();
  }
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
  EXPECT_GT(contacts, 100u);
}

TEST(DetectContacts, TheHumanoidStandsOnTwelvePoints) {
  ModelBuilder builder = humanoid();
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}});
  const Model model = builder.build();
  const ContactSet set = detect(model, neutral_configuration(model));
  EXPECT_EQ(set.contacts.size(), 12u);
  for (const Contact& c : set.contacts) EXPECT_TRUE(std::holds_alternative<VertexOverFace>(c.feature));
}

TEST(DetectContacts, MarginsLetContactsExistBeforeTheyTouch) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(1, 0.1)}, free_joint("j"));
  builder.add_shape("ball", {.name = "ball", .geometry = Sphere{0.1}, .margin = 0.05});
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}});
  const Model model = builder.build();
  VecX q = neutral_configuration(model);
  q[2] = 0.149;
  ASSERT_EQ(detect(model, q).contacts.size(), 1u);
  EXPECT_NEAR(detect(model, q).contacts[0].gap, 0.049, 1e-15);
  q[2] = 0.151;
  EXPECT_TRUE(detect(model, q).contacts.empty());
}

TEST(DetectContacts, KeepsNoMorePointsThanAskedFor) {
  const Model model = boxes_on_plane(1).build();
  DetectionWorkspace workspace;
  ContactSet set;
  detect_contacts(ColliderSet(model), poses_at(model, neutral_configuration(model)), workspace, set, {.max_points = 3});
  EXPECT_EQ(set.contacts.size(), 3u);
}

TEST(DetectContacts, RefusesWrongArguments) {
  const Model model = boxes_on_plane(1).build();
  const ColliderSet colliders(model);
  DetectionWorkspace workspace;
  ContactSet set;
  std::vector<Pose> X_WB = poses_at(model, neutral_configuration(model));
  expect_error([&] { detect_contacts(colliders, X_WB, workspace, set, {.max_points = 0}); }, "max_points is 0");
  X_WB.pop_back();
  expect_error([&] { detect_contacts(colliders, X_WB, workspace, set); }, "1 poses for 2 bodies");
}

TEST(Distance, RefusesTwoPlanes) {
  const Collider a = make_collider({.name = "a", .geometry = Plane{}}, ShapeIndex(0));
  const Collider b = make_collider({.name = "b", .geometry = Plane{}}, ShapeIndex(1));
  PairScratch scratch;
  expect_error([&] { distance(a, {}, b, {}, scratch); }, "between two planes");
  std::vector<Contact> contacts;
  collide(a, {}, b, {}, scratch, contacts);
  EXPECT_TRUE(contacts.empty());
}

}  // namespace
}  // namespace lithe::test
