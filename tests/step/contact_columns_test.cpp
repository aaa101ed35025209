#include "lithe/step/contact_columns.h"

#include <gtest/gtest.h>

#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "lithe/model/model_builder.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

// So small that features seldom change on the way (a metre from a joint, 1e-6 rad are a thousandth of a margin), and
// large enough for nine digits of a sixth-order difference.
constexpr double kStep = 1e-6;

enum class Arrangement {
  two_arms,   // both bodies move and share the joints above them
  two_trees,  // both move and share nothing
  fixed,      // b is fixed to the world
};

// A trunk on a free joint with two arms of three joints each, and a separate free body: somewhere for a shape to be.
ModelBuilder two_armed_robot(std::mt19937_64& random) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "trunk", .inertia = random_inertia(random)}, free_joint("root"));
  for (const std::string side : {"left", "right"}) {
    const auto joint = [&](const char* name) { return side + "_" + name; };
    builder.add_body("trunk", {.name = joint("upper"), .inertia = random_inertia(random)},
                     ball(joint("shoulder"), random_pose(random)));
    builder.add_body(joint("upper"), {.name = joint("lower"), .inertia = random_inertia(random)},
                     revolute(joint("elbow"), random_axis(random), random_pose(random)));
    builder.add_body(joint("lower"), {.name = joint("hand"), .inertia = random_inertia(random)},
                     prismatic(joint("wrist"), random_axis(random), random_pose(random)));
  }
  builder.add_body("world", {.name = "other", .inertia = random_inertia(random)}, free_joint("other"));
  return builder;
}

std::string carrier_of_b(Arrangement arrangement) {
  switch (arrangement) {
    case Arrangement::two_arms: return "right_hand";
    case Arrangement::two_trees: return "other";
    case Arrangement::fixed: return "world";
  }
  return "";
}

std::vector<Pose> poses_at(const Model& model, const VecX& q, Kinematics& kin) {
  kinematics(model, q, VecX::Zero(model.nv()), kin);
  std::vector<Pose> X_WB;
  body_poses(model, kin, X_WB);
  return X_WB;
}

// The pair's two shapes on the robot's bodies, so that at q they are where the case has them.
struct PlacedPair {
  Model model;
  VecX q;
};
PlacedPair place(const PairCase& pair, Arrangement arrangement, std::mt19937_64& random) {
  ModelBuilder builder = two_armed_robot(random);
  const Model bare = builder.build();
  const VecX q = random_configuration(bare, random);
  Kinematics kin;
  const std::vector<Pose> X_WB = poses_at(bare, q, kin);
  const auto add = [&](const std::string& body, const char* name, const TestShape& shape, const Pose& X_WG) {
    builder.add_shape(body,
                      {.name = name, .geometry = shape.geometry, .placement = X_WB[bare.body(body)].inverse() * X_WG});
  };
  add("left_hand", "a", pair.a, pair.X_WA);
  add(carrier_of_b(arrangement), "b", pair.b, pair.X_WB);
  return {builder.build(), q};
}

struct Detector {
  const Model& model;
  ColliderSet colliders;
  Kinematics kin;
  DetectionWorkspace workspace;
  ContactSet contacts;

  explicit Detector(const Model& m) : model(m), colliders(m) {}
  void detect(const VecX& q) { detect_contacts(colliders, poses_at(model, q, kin), workspace, contacts); }
  const Contact* find(const FeatureId& id) const {
    for (const Contact& c : contacts.contacts) {
      if (c.id() == id) return &c;
    }
    return nullptr;
  }
};

struct Tally {
  int checked = 0, switched = 0, flagged = 0;
  double worst = 0;
};

// All contacts of one case against differences of the whole detection; those that change features are counted.
void check_case(const PlacedPair& placed, Tally& tally) {
  Detector detector(placed.model);
  detector.detect(placed.q);
  const ContactSet contacts = detector.contacts;
  ContactColumns columns;
  contact_columns(placed.model, detector.kin, contacts, columns);
  ASSERT_EQ(columns.start.size(), contacts.contacts.size() + 1);

  for (std::size_t k = 0; k < contacts.contacts.size(); ++k) {
    const Contact& contact = contacts.contacts[k];
    // Where the point runs a thousand times faster than the bodies, no step is small enough.
    if (contact.flags != ContactFlag::none) {
      ++tally.flagged;
      continue;
    }
    bool switched = false;
    const MatX numeric = central_difference(
        placed.model, placed.q,
        [&](const VecX& q) -> VecX {
          detector.detect(q);
          const Contact* found = detector.find(contact.id());
          if (!found) {
            switched = true;
            return VecX::Zero(7);
          }
          VecX value(7);
          value << found->p, found->n, found->gap;
          return value;
        },
        kStep);
    if (switched) {
      ++tally.switched;
      continue;
    }
    MatX analytic = MatX::Zero(7, placed.model.nv());
    const auto dofs = columns.dofs_of(static_cast<int>(k));
    const auto values = columns.columns_of(static_cast<int>(k));
    ASSERT_TRUE(std::ranges::is_sorted(dofs));
    for (std::size_t i = 0; i < dofs.size(); ++i) analytic.col(dofs[i]) = values[i];
    const double error = relative_error(analytic, numeric, 1);
    tally.worst = std::max(tally.worst, error);
    EXPECT_LE(error, 1e-6) << "kind " << contact.feature.index() << ", parts " << int(contact.code_a.part()) << " and "
                           << int(contact.code_b.part());
    ++tally.checked;
  }
}

class ContactColumnsOfPair : public testing::TestWithParam<ShapePair> {};
INSTANTIATE_TEST_SUITE_P(AllPairs, ContactColumnsOfPair, testing::ValuesIn(all_pairs()), name_of_pair);

TEST_P(ContactColumnsOfPair, AgreeWithDifferencesOfTheWholeDetection) {
  for (const Arrangement arrangement : {Arrangement::two_arms, Arrangement::two_trees, Arrangement::fixed}) {
    Tally tally;
    for_random_cases(200, [&](std::mt19937_64& random) {
      const PairCase pair =
          chance(random, 0.5) ? resting_case(GetParam(), random) : near_case(GetParam(), random, 0.5, 0.5);
      check_case(place(pair, arrangement, random), tally);
    });
    if (few_cases()) continue;
    EXPECT_GE(tally.checked, 100);
    EXPECT_LE(tally.flagged, 0.05 * (tally.checked + tally.flagged)) << "flagged, of " << tally.checked;
    EXPECT_LE(tally.switched, 0.05 * (tally.checked + tally.switched)) << "switched, of " << tally.checked;
  }
}

TEST(ContactColumns, HoldOnlyTheDofsThatMoveEitherBody) {
  std::mt19937_64 random(1);
  ModelBuilder builder = two_armed_robot(random);
  builder.add_shape("left_hand", {.name = "a", .geometry = Sphere{100}});
  builder.add_shape("right_hand", {.name = "b", .geometry = Sphere{100}});
  const Model model = builder.build();
  Detector detector(model);
  detector.detect(random_configuration(model, random));
  ASSERT_EQ(detector.contacts.contacts.size(), 1u);
  ContactColumns columns;
  contact_columns(model, detector.kin, detector.contacts, columns);
  // Six of the trunk and five of each arm; none of the other body's six.
  ASSERT_EQ(columns.dofs_of(0).size(), 16u);
  for (int dof : columns.dofs_of(0)) EXPECT_LT(dof, 16);
}

TEST(ContactColumns, ADofAboveBothBodiesLeavesTheGap) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const ShapePair pair = {ShapeType::capsule, ShapeType::box};
    const PlacedPair placed = place(near_case(pair, random, 0.1, 0.5), Arrangement::two_arms, random);
    Detector detector(placed.model);
    detector.detect(placed.q);
    ContactColumns columns;
    contact_columns(placed.model, detector.kin, detector.contacts, columns);
    for (std::size_t k = 0; k < detector.contacts.contacts.size(); ++k) {
      const Vec3& n = detector.contacts.contacts[k].n;
      const auto root = columns.columns_of(static_cast<int>(k)).first(6);
      for (const auto& column : root) EXPECT_NEAR(column[6], 0, 1e-12);
      for (int shift = 0; shift < 3; ++shift) {
        EXPECT_LE(root[shift].segment<3>(3).norm(), 1e-9) << "a shift turns no normal";
      }
      for (int turn = 3; turn < 6; ++turn) {
        EXPECT_NEAR(root[turn].segment<3>(3).dot(n), 0, 1e-12) << "a unit vector stays one";
      }
    }
  });
}

TEST(ContactColumns, WarmCallsAllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  const PlacedPair placed =
      place(resting_case({ShapeType::box, ShapeType::box}, random), Arrangement::two_arms, random);
  Detector detector(placed.model);
  detector.detect(placed.q);
  ContactColumns columns;
  contact_columns(placed.model, detector.kin, detector.contacts, columns);
  const AllocationGuard guard;
  contact_columns(placed.model, detector.kin, detector.contacts, columns);
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

TEST(ContactColumns, RefuseContactsOfAnotherModel) {
  std::mt19937_64 random(1);
  const Model model = two_armed_robot(random).build();
  Kinematics kin;
  kinematics(model, random_configuration(model, random), VecX::Zero(model.nv()), kin);
  ContactSet contacts;
  contacts.contacts.resize(1);
  contacts.contacts[0].a = ShapeIndex(0);
  contacts.contacts[0].b = ShapeIndex(1);
  ContactColumns columns;
  expect_error([&] { contact_columns(model, kin, contacts, columns); }, "names shape 0, but the model has 0");
}

}  // namespace
}  // namespace lithe::test
