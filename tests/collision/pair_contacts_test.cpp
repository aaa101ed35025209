#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <variant>
#include <vector>

#include "lithe/collision/collide.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/oracle.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// collide() for every pair of shapes: what a manifold is, whatever the shapes. Half of the poses are turned anyhow and
// touch at a point or two, half lie flat on each other, up to a tilt.
namespace lithe::test {
namespace {

constexpr int kContactPoses = 4000;

PairCase touching_case(const ShapePair& pair, std::mt19937_64& random) {
  if (chance(random, 0.5)) return resting_case(pair, random);
  return near_case(pair, random, 2, chance(random, 0.2) ? 6 : 1.5);
}

class PairContacts : public testing::TestWithParam<ShapePair> {
 protected:
  std::vector<Contact> contacts_of(const PairCase& c, int max_points = kMaxPoints) {
    std::vector<Contact> contacts;
    collide(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch_, contacts, max_points);
    return contacts;
  }

  PairScratch scratch_;
};

const Contact* deepest_of(const std::vector<Contact>& contacts) {
  const auto less_gap = [](const Contact& x, const Contact& y) { return x.gap < y.gap; };
  const auto deepest = std::min_element(contacts.begin(), contacts.end(), less_gap);
  return deepest == contacts.end() ? nullptr : &*deepest;
}

// How much a manifold's deepest gap may differ from the signed distance of overlapping shapes. Among polytopes, the
// bands in which faces win over edges, and sides reach beyond a face: 2e-4 L. A cylinder of radius ρ standing at less
// than 1e-3 rad has four fixed points on its rim and misses the deepest one by up to 0.29e-3 ρ. Nearly parallel pipes
// touch at the ends of their overlap only, where they are at most 0.014 (r_a + r_b) beside each other: 1e-4 (r_a + r_b).
double depth_tolerance(const PairCase& c) {
  const Collider &a = c.a.collider, &b = c.b.collider;
  double tolerance = 2e-4 * bands_of(a, b).length;
  for (const Collider* shape : {&a, &b}) {
    if (shape->type == ShapeType::cylinder) tolerance = std::max(tolerance, 3e-4 * shape->radius);
  }
  const auto has_pipe = [](ShapeType type) { return type == ShapeType::capsule || type == ShapeType::cylinder; };
  if (has_pipe(a.type) && has_pipe(b.type)) tolerance = std::max(tolerance, 1e-4 * (a.radius + b.radius));
  return tolerance;
}

double distance_from(const TestShape& shape, const Pose& X, const Vec3& x, double tolerance) {
  return signed_distance(Sphere{0}, Pose::translation(x), shape.geometry, X, tolerance).gap;
}

void expect_well_formed(const PairCase& c, const std::vector<Contact>& contacts) {
  const Bands bands = bands_of(c.a.collider, c.b.collider);
  EXPECT_LE(contacts.size(), static_cast<std::size_t>(kMaxPoints));
  std::set<FeatureId> ids;
  for (const Contact& contact : contacts) {
    ASSERT_TRUE(contact.p.allFinite() && contact.n.allFinite() && std::isfinite(contact.gap));
    EXPECT_NEAR(contact.n.norm(), 1, 1e-12);
    EXPECT_LE(contact.gap, bands.margin);
    EXPECT_EQ(contact.a, c.a.collider.shape);
    EXPECT_EQ(contact.b, c.b.collider.shape);
    ids.insert(contact.id());
  }
  EXPECT_EQ(ids.size(), contacts.size()) << "two contacts with one id";
}

// The contacts of two shapes that are apart may have smaller gaps than the distance: where a cylinder's rim is closest
// to a vertex, they come from the next best features, and their gap is less by up to 0.27 of it.
constexpr double kFarthest = 1.4;

// Contacts exist up to the margin, with one exception: two polytopes that approach corner to corner have no two features
// that face each other, and touch only once they overlap.
bool corners_are_closest(const PairCase& c) {
  if (!c.a.collider.hull || !c.b.collider.hull) return false;
  PairScratch scratch;
  const Contact closest = distance(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch);
  const auto is = [&](FeatureCode::Part a, FeatureCode::Part b) {
    return closest.code_a.part() == a && closest.code_b.part() == b;
  };
  using enum FeatureCode::Part;
  return is(vertex, vertex) || is(vertex, edge) || is(edge, vertex);
}

TEST_P(PairContacts, ExistAndAreAsDeepAsTheShapes) {
  for_random_cases(kContactPoses, [&](std::mt19937_64& random) {
    const PairCase c = touching_case(GetParam(), random);
    const Bands bands = bands_of(c.a.collider, c.b.collider);
    const std::vector<Contact> contacts = contacts_of(c);
    expect_well_formed(c, contacts);

    const Contact* deepest = deepest_of(contacts);
    const double tolerance = depth_tolerance(c);
    const SignedDistance truth =
        signed_distance(c.a.geometry, c.X_WA, c.b.geometry, c.X_WB, 1e-2 * tolerance, deepest ? &deepest->n : nullptr);
    EXPECT_TRUE(deepest || truth.gap > bands.margin - tolerance || (truth.gap > 0 && corners_are_closest(c)))
        << "no contact at " << truth.gap;
    EXPECT_TRUE(!deepest || truth.gap < kFarthest * bands.margin) << "a contact at " << truth.gap;
    if (deepest) {
      EXPECT_GE(deepest->gap, std::min(truth.gap, 0.0) - tolerance);
      EXPECT_TRUE(truth.gap > 0 || deepest->gap <= truth.gap + tolerance)
          << deepest->gap << " is not as deep as " << truth.gap;
    }
    if (HasFailure()) ADD_FAILURE() << describe(c);
  });
}

// The point is where the two shapes meet, not somewhere along the normal.
TEST_P(PairContacts, AreAtBothShapes) {
  for_random_cases(kContactPoses / 10, [&](std::mt19937_64& random) {
    const PairCase c = touching_case(GetParam(), random);
    const Bands bands = bands_of(c.a.collider, c.b.collider);
    for (const Contact& contact : contacts_of(c)) {
      const double reach = std::abs(contact.gap) + bands.margin;
      EXPECT_LE(distance_from(c.a, c.X_WA, contact.p, 1e-2 * bands.side), reach);
      EXPECT_LE(distance_from(c.b, c.X_WB, contact.p, 1e-2 * bands.side), reach);
    }
    if (HasFailure()) ADD_FAILURE() << describe(c);
  });
}

TEST_P(PairContacts, ExchangingTheShapesTurnsTheNormalsAround) {
  for_random_cases(kContactPoses, [&](std::mt19937_64& random) {
    const PairCase c = chance(random, 0.2) ? lattice_case(GetParam(), random) : touching_case(GetParam(), random);
    const std::vector<Contact> contacts = contacts_of(c), mirrored = contacts_of(swapped(c));
    ASSERT_EQ(mirrored.size(), contacts.size());
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      EXPECT_EQ(mirrored[i].gap, contacts[i].gap);
      EXPECT_EQ(mirrored[i].p, contacts[i].p);
      EXPECT_EQ(mirrored[i].n, Vec3(-contacts[i].n));
      EXPECT_EQ(mirrored[i].a, contacts[i].b);
      EXPECT_EQ(mirrored[i].b, contacts[i].a);
      EXPECT_EQ(mirrored[i].code_a, contacts[i].code_b);
      EXPECT_EQ(mirrored[i].code_b, contacts[i].code_a);
    }
    if (HasFailure()) ADD_FAILURE() << describe(c);
  });
}

// A rigid motion of everything changes poses by rounding errors, which lie inside the bands: no contact may appear,
// vanish or change its name. At a band's end rounding decides; that is what may be skipped.
TEST_P(PairContacts, MoveWithTheShapes) {
  for_random_cases(
      kContactPoses,
      [&](std::mt19937_64& random) {
        const PairCase c = touching_case(GetParam(), random);
        const Pose X{random_rotation(random), random_vec3(random, 3)};
        const std::vector<Contact> here = contacts_of(c), there = contacts_of(moved(c, X));
        const bool same = std::equal(here.begin(), here.end(), there.begin(), there.end(),
                                     [](const Contact& x, const Contact& y) { return x.id() == y.id(); });
        if (!same) return Outcome::skipped;
        for (std::size_t i = 0; i < here.size(); ++i) {
          EXPECT_NEAR(there[i].gap, here[i].gap, 1e-9);
          EXPECT_LE((there[i].n - X.R * here[i].n).norm(), 1e-7);
          if (has(here[i].flags, ContactFlag::sensitive_point)) continue;
          EXPECT_LE((there[i].p - X * here[i].p).norm(), 1e-7 * (1 + c.extent()));
        }
        if (HasFailure()) ADD_FAILURE() << describe(c);
        return Outcome::checked;
      },
      0.005);
}

bool same_coordinates(const Vec3& x, const Vec3& y) { return std::memcmp(x.data(), y.data(), sizeof(double) * 3) == 0; }

// Nothing carries over from the pairs that the scratch memory served before.
TEST_P(PairContacts, DependOnThePosesAlone) {
  for_random_cases(kContactPoses / 10, [&](std::mt19937_64& random) {
    const PairCase c = touching_case(GetParam(), random);
    contacts_of(touching_case(GetParam(), random));
    const std::vector<Contact> used = contacts_of(c);
    PairScratch fresh;
    std::vector<Contact> first;
    collide(c.a.collider, c.X_WA, c.b.collider, c.X_WB, fresh, first);
    ASSERT_EQ(used.size(), first.size());
    for (std::size_t i = 0; i < used.size(); ++i) {
      EXPECT_EQ(used[i].id(), first[i].id());
      EXPECT_TRUE(same_coordinates(used[i].p, first[i].p) && same_coordinates(used[i].n, first[i].n) &&
                  used[i].gap == first[i].gap);
    }
    if (HasFailure()) ADD_FAILURE() << describe(c);
  });
}

TEST_P(PairContacts, FewerPointsKeepTheDeepest) {
  for_random_cases(kContactPoses / 10, [&](std::mt19937_64& random) {
    const PairCase c = touching_case(GetParam(), random);
    const std::vector<Contact> all = contacts_of(c, 64), few = contacts_of(c, 4);
    EXPECT_LE(few.size(), 4u);
    ASSERT_EQ(all.empty(), few.empty());
    if (!all.empty()) {
      EXPECT_LE(deepest_of(few)->gap, deepest_of(all)->gap + depth_tolerance(c));
    }
    if (HasFailure()) ADD_FAILURE() << describe(c);
  });
}

TEST_P(PairContacts, AreAppended) {
  std::mt19937_64 random(1);
  std::vector<Contact> out(3);
  for (int i = 0; i < 100; ++i) {
    const PairCase c = near_case(GetParam(), random, 2, 0);
    const std::size_t before = out.size();
    collide(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch_, out);
    EXPECT_EQ(out.size(), before + contacts_of(c).size());
  }
}

TEST_P(PairContacts, AllocateNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  std::vector<PairCase> cases;
  for (int i = 0; i < 300; ++i) {
    cases.push_back(i % 3 == 0 ? random_case(GetParam(), random) : touching_case(GetParam(), random));
  }
  std::vector<Contact> out;
  const auto run = [&] {
    for (const PairCase& c : cases) {
      out.clear();
      collide(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch_, out);
      out.push_back(distance(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch_));
    }
  };
  run();
  const AllocationGuard guard;
  run();
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

INSTANTIATE_TEST_SUITE_P(AllPairs, PairContacts, testing::ValuesIn(all_pairs()), name_of_pair);

}  // namespace
}  // namespace lithe::test
