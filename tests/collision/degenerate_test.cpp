#include <Eigen/Geometry>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lithe/collision/collide.h"
#include "lithe/collision/contact_derivatives.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/constants.h"
#include "tests/support/oracle.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// Poses and shapes that break collision detection, one test per way to break it. Whatever happens, results are finite,
// the gap is the signed distance, and overlapping shapes touch.
namespace lithe::test {
namespace {

PairCase make_case(const Geometry& a, const Pose& X_WA, const Geometry& b, const Pose& X_WB) {
  return {make_test_shape(a, 0), make_test_shape(b, 1), X_WA, X_WB};
}

std::vector<Contact> contacts_of_case(const PairCase& c) {
  PairScratch scratch;
  std::vector<Contact> contacts;
  collide(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch, contacts);
  return contacts;
}

void expect_finite(const Contact& contact) {
  EXPECT_TRUE(contact.p.allFinite() && contact.n.allFinite() && std::isfinite(contact.gap));
  EXPECT_NEAR(contact.n.norm(), 1, 1e-12);
  const ContactDerivatives derivatives = contact_derivatives(contact);
  EXPECT_TRUE(derivatives.by_a.allFinite() && derivatives.by_b.allFinite());
}

// Everything that must hold anywhere; returns the distance.
Contact expect_sound(const PairCase& c) {
  PairScratch scratch;
  const Contact found = distance(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch);
  expect_finite(found);
  EXPECT_NEAR(separation(c.a.geometry, c.X_WA, c.b.geometry, c.X_WB, found.n), found.gap, 1e-9 * c.extent());
  EXPECT_LE(surface_error(c.a.geometry, c.X_WA, found.point_on_a()), 5e-9 * c.extent());
  EXPECT_LE(surface_error(c.b.geometry, c.X_WB, found.point_on_b()), 5e-9 * c.extent());
  const SignedDistance truth = signed_distance(c.a.geometry, c.X_WA, c.b.geometry, c.X_WB, 5e-7 * c.extent(), &found.n);
  EXPECT_LE(truth.gap, found.gap + 1e-6 * c.extent());

  const std::vector<Contact> contacts = contacts_of_case(c);
  for (const Contact& contact : contacts) expect_finite(contact);
  if (found.gap <= 0) {
    EXPECT_FALSE(contacts.empty());
  }
  if (testing::Test::HasFailure()) ADD_FAILURE() << describe(c);
  return found;
}

// One shape of each type, about a metre long, with the origin inside (on the surface of the plane).
Geometry typical(ShapeType type) {
  switch (type) {
    case ShapeType::sphere: return Sphere{0.5};
    case ShapeType::capsule: return Capsule{0.25, 0.5};
    case ShapeType::cylinder: return Cylinder{0.375, 0.5};
    case ShapeType::box: return Box{Vec3(0.5, 0.375, 0.25)};
    case ShapeType::plane: return Plane{};
    case ShapeType::mesh: break;
  }
  ConvexMesh mesh = foot(1, 0.75, 0.5);
  for (Vec3& x : mesh.points) x.z() -= 0.25;
  return mesh;
}

Geometry scaled(const Geometry& shape, double k) {
  Geometry result = shape;
  if (auto* s = std::get_if<Sphere>(&result)) s->radius *= k;
  if (auto* s = std::get_if<Capsule>(&result)) *s = {k * s->radius, k * s->half_length};
  if (auto* s = std::get_if<Cylinder>(&result)) *s = {k * s->radius, k * s->half_length};
  if (auto* s = std::get_if<Box>(&result)) s->half_size *= k;
  if (auto* s = std::get_if<ConvexMesh>(&result)) {
    for (Vec3& x : s->points) x *= k;
  }
  return result;
}

template <class Check>
void for_every_pair(Check check) {
  for (const ShapePair& pair : all_pairs()) {
    SCOPED_TRACE(to_string(pair));
    check(pair);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Degenerate, ExactlyParallelEdges) {
  // Along x, with a ridge, a pipe or a side on top.
  const Mat3 lying = rotation_about(Vec3::UnitY(), kPi / 2), ridge_up = rotation_about(Vec3::UnitX(), kPi / 4);
  ConvexMesh wedge;
  for (const double x : {-0.5, 0.5}) {
    for (const Vec3& corner : {Vec3(x, -0.3, 0), Vec3(x, 0.3, 0), Vec3(x, 0, -0.3), Vec3(x, 0, 0.3)}) {
      wedge.points.push_back(corner);
    }
  }
  const std::vector<std::pair<Geometry, Mat3>> shapes = {{Capsule{0.2, 0.5}, lying},
                                                         {Cylinder{0.2, 0.5}, lying},
                                                         {Box{Vec3(0.5, 0.3, 0.3)}, ridge_up},
                                                         {wedge, Mat3::Identity()}};
  for (const auto& [a, R_a] : shapes) {
    for (const auto& [b, R_b] : shapes) {
      for (const double gap : {-0.01, 0.0, 0.01}) {
        for (const double along : {0.0, 0.3, 1.0}) {
          Pose X_WA{R_a, Vec3(along, 0, 0)};
          const Pose X_WB{R_b, Vec3::Zero()};
          X_WA.p.z() = gap + support(a, {R_a, Vec3::Zero()}, -Vec3::UnitZ()) + support(b, X_WB, Vec3::UnitZ());
          const Contact found = expect_sound(make_case(a, X_WA, b, X_WB));
          if (gap > 0 && along < 1) {
            EXPECT_NEAR(found.gap, gap, 1e-12);
          }
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(Degenerate, CoplanarFaces) {
  const Vec3 half(0.5, 0.375, 0.25);
  ConvexMesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.points.push_back(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1).cwiseProduct(half));
  }
  for (const Geometry& a : {Geometry(Box{half}), Geometry(mesh)}) {
    for (const Geometry& b : {Geometry(Box{half}), Geometry(mesh)}) {
      for (int axis = 0; axis < 3; ++axis) {
        for (const double gap : {-1e-3, -1e-9, 0.0, 1e-9, 1e-4}) {
          // Side by side: four pairs of coplanar faces, one pair that touches.
          const PairCase c = make_case(a, Pose::translation((2 * half[axis] + gap) * Vec3::Unit(axis)), b, Pose{});
          EXPECT_NEAR(expect_sound(c).gap, gap, 1e-12);
          const std::vector<Contact> contacts = contacts_of_case(c);
          EXPECT_EQ(contacts.size(), 4u);
          for (const Contact& contact : contacts) EXPECT_NEAR(contact.gap, gap, 1e-12);
        }
      }
    }
  }
}

TEST(Degenerate, CoincidentCentres) {
  for_every_pair([](const ShapePair& pair) {
    const Geometry a = typical(pair.a), b = typical(pair.b);
    expect_sound(make_case(a, Pose{}, b, Pose{}));
    for_random_cases(30, [&](std::mt19937_64& random) {
      const Pose X = random_pose(random);
      expect_sound(make_case(a, {random_rotation(random), X.p}, b, X));
    });
  });
}

TEST(Degenerate, OneShapeDeepInsideTheOther) {
  for_every_pair([](const ShapePair& pair) {
    for_random_cases(30, [&](std::mt19937_64& random) {
      const Pose X = random_pose(random);
      const Geometry a = typical(pair.a), b = typical(pair.b);
      const double down = pair.b == ShapeType::plane ? -1 : 0;
      const Pose inside = X * Pose{random_rotation(random), random_vec3(random, 0.03) + down * Vec3::UnitZ()};
      const Contact found = expect_sound(make_case(scaled(a, 0.1), inside, b, X));
      EXPECT_LT(found.gap, 0);
      if (pair.b == ShapeType::plane) return;
      const Contact reverse = expect_sound(make_case(a, X, scaled(b, 0.1), inside));
      EXPECT_LT(reverse.gap, 0);
    });
  });
}

TEST(Degenerate, ZeroThickness) {
  const std::vector<Geometry> flat = {Box{Vec3(0.5, 0.4, 0)}, Box{Vec3(0.5, 0, 0)}, Cylinder{0.5, 0}, Capsule{0.3, 0}};
  for (const Geometry& a : flat) {
    for (int type = 0; type < kShapeTypes; ++type) {
      SCOPED_TRACE(fmt::format("flat shape {} and {}", a.index(), lithe::to_string(static_cast<ShapeType>(type))));
      const Geometry b = typical(static_cast<ShapeType>(type));
      for_random_cases(30, [&](std::mt19937_64& random) {
        const Pose X = random_pose(random);
        const Mat3 R = chance(random, 0.3) ? Mat3(Mat3::Identity()) : random_rotation(random);
        expect_sound(make_case(a, X * Pose{R, random_vec3(random, 0.3)}, b, X));
      });
      if (testing::Test::HasFailure()) return;
    }
    for (const Geometry& b : flat) {
      expect_sound(make_case(a, Pose{}, b, Pose{}));
      expect_sound(make_case(a, Pose::translation(0.125, 0, 0), b, Pose{}));
      expect_sound(make_case(a, Pose::translation(0, 0, 0.125), b, Pose{}));
      expect_sound(make_case(a, Pose::rotation(rotation_about(Vec3::UnitX(), kPi / 2)), b, Pose{}));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Degenerate, TouchingAtExactlyZero) {
  for_every_pair([](const ShapePair& pair) {
    const Geometry a = typical(pair.a), b = typical(pair.b);
    const double below = support(a, Pose{}, -Vec3::UnitZ()), above = support(b, Pose{}, Vec3::UnitZ());
    const PairCase c = make_case(a, Pose::translation(0, 0, below + above), b, Pose{});
    const Contact found = expect_sound(c);
    EXPECT_EQ(found.gap, 0);
    EXPECT_LE((found.n - Vec3::UnitZ()).norm(), 1e-9);
    EXPECT_FALSE(contacts_of_case(c).empty());
    for (const Contact& contact : contacts_of_case(c)) EXPECT_NEAR(contact.gap, 0, 1e-12);
  });
}

TEST(Degenerate, HugeAspectRatios) {
  ConvexMesh needle;
  for (int i = 0; i < 6; ++i) {
    needle.points.emplace_back(1e-3 * std::cos(kPi * i / 3), 1e-3 * std::sin(kPi * i / 3), i % 2 ? 5 : -5);
  }
  const std::vector<Geometry> extreme = {Box{Vec3(5, 5e-4, 5e-4)}, Box{Vec3(5, 5, 5e-4)}, Capsule{5e-4, 5},
                                         Cylinder{5e-4, 5},        Cylinder{5, 5e-4},     needle};
  std::vector<Geometry> others = extreme;
  for (int type = 0; type < kShapeTypes; ++type) others.push_back(typical(static_cast<ShapeType>(type)));
  for (std::size_t i = 0; i < extreme.size(); ++i) {
    for (std::size_t k = 0; k < others.size(); ++k) {
      SCOPED_TRACE(fmt::format("extreme shape {} and shape {}", i, k));
      for_random_cases(20, [&](std::mt19937_64& random) {
        const Pose X = random_pose(random);
        const Mat3 R = chance(random, 0.3) ? Mat3(Mat3::Identity()) : random_rotation(random);
        expect_sound(make_case(extreme[i], X * Pose{R, random_vec3(random, 0.1)}, others[k], X));
      });
      if (testing::Test::HasFailure()) return;
    }
  }
}

bool same_ids(const std::vector<Contact>& x, const std::vector<Contact>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [](const Contact& c, const Contact& d) { return c.id() == d.id(); });
}

TEST(Degenerate, FarFromTheOriginNothingChanges) {
  for_every_pair([](const ShapePair& pair) {
    for_random_cases(100, [&](std::mt19937_64& random) {
      const PairCase c = chance(random, 0.5) ? near_case(pair, random) : resting_case(pair, random);
      const Vec3 far(1e4, -1e4, 1e4);
      const std::vector<Contact> here = contacts_of_case(c), there = contacts_of_case(moved(c, Pose::translation(far)));
      ASSERT_TRUE(same_ids(here, there)) << describe(c);
      for (std::size_t i = 0; i < here.size(); ++i) {
        EXPECT_NEAR(there[i].gap, here[i].gap, 1e-9);
        EXPECT_NEAR(there[i].n.norm(), 1, 1e-12);
        if (!has(here[i].flags, ContactFlag::sensitive_point)) {
          EXPECT_LE((there[i].p - far - here[i].p).norm(), 1e-7);
        }
      }
    });
  });
}

// Moved by 1e-9 in any way, a resting shape has the same contacts, a little further along.
void expect_stable(const PairCase& c, std::size_t points) {
  const std::vector<Contact> rest = contacts_of_case(c);
  EXPECT_EQ(rest.size(), points);
  for_random_cases(100, [&](std::mt19937_64& random) {
    PairCase nudged = c;
    nudged.X_WA.R = rotation_exp(1e-9 * random_vec3(random).normalized()) * c.X_WA.R;
    nudged.X_WA.p += 1e-9 * random_vec3(random).normalized();
    const std::vector<Contact> contacts = contacts_of_case(nudged);
    ASSERT_TRUE(same_ids(rest, contacts));
    for (std::size_t i = 0; i < rest.size(); ++i) {
      EXPECT_LE((contacts[i].p - rest[i].p).norm(), 5e-9);
      EXPECT_LE((contacts[i].n - rest[i].n).norm(), 2e-9);
      EXPECT_NEAR(contacts[i].gap, rest[i].gap, 5e-9);
    }
  });
}

TEST(Degenerate, ARestingBoxKeepsItsContacts) {
  const Geometry box = Box{Vec3(0.5, 0.375, 0.25)};
  const Mat3 turned = rotation_about(Vec3::UnitZ(), 0.3);
  for (const double gap : {-1e-5, 0.0, 1e-5}) {
    expect_stable(make_case(box, {turned, Vec3(0.1, 0.2, 0.25 + gap)}, Plane{}, Pose{}), 4);
    expect_stable(make_case(box, {turned, Vec3(0.1, 0.2, 0.75 + gap)}, Box{Vec3(2, 2, 0.5)}, Pose{}), 4);
    expect_stable(make_case(box, {turned, Vec3(0.1, 0.2, 0.25 + gap)}, foot(4, 4, -1), Pose{}), 4);
    // Exactly aligned, edges over edges.
    expect_stable(make_case(box, Pose::translation(0, 0, 0.5 + gap), box, Pose{}), 4);
  }
}

TEST(Degenerate, ARestingFootKeepsItsContacts) {
  const Geometry the_foot = foot();
  const Mat3 turned = rotation_about(Vec3::UnitZ(), 0.3);
  for (const double gap : {-1e-6, 0.0, 1e-6}) {
    expect_stable(make_case(the_foot, {turned, Vec3(0.1, 0.2, gap)}, Plane{}, Pose{}), kMaxPoints);
    expect_stable(make_case(the_foot, {turned, Vec3(0.1, 0.2, 0.5 + gap)}, Box{Vec3(1, 1, 0.5)}, Pose{}), kMaxPoints);
    expect_stable(make_case(the_foot, {turned, Vec3(0.1, 0.2, gap)}, foot(2, 2, -1), Pose{}), kMaxPoints);
  }
}

}  // namespace
}  // namespace lithe::test
