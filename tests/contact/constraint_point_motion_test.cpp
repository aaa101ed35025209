#include "lithe/contact/constraint_point_motion.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "lithe/collision/collide.h"
#include "lithe/collision/contact_derivatives.h"
#include "lithe/contact/constraint_directions.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

using Map36 = Eigen::Matrix<double, 3, 6>;

// The two sides' maps of contact_derivatives(), put together from what PointMotion says.
ContactDerivatives dense(const PointMotion& motion, const Contact& contact) {
  const auto sum = [](const PointMotion::Term* terms, int count) {
    Map36 map = Map36::Zero();
    for (int k = 0; k < count; ++k) {
      map.leftCols<3>() += terms[k].along * terms[k].by_turn.transpose();
      map.rightCols<3>() += terms[k].along * terms[k].by_shift.transpose();
    }
    return map;
  };
  const Vec3 n_r = motion.reference_is_a ? Vec3(-contact.n) : contact.n;
  ContactDerivatives::Map incident;
  incident.topRows<3>() = sum(motion.slides, motion.slide_count);
  incident.topLeftCorner<3, 3>() -= motion.roll * skew(n_r);
  incident.middleRows<3>(3) = sum(motion.turns, motion.turn_count);
  incident.row(6) << motion.gap_by_turn.transpose(), motion.gap_by_shift.transpose();
  ContactDerivatives::Map reference = -incident;
  (motion.rides_on_reference ? reference : incident).topRightCorner<3, 3>() += Mat3::Identity();
  reference.block<3, 3>(3, 0) -= skew(contact.n);
  return motion.reference_is_a ? ContactDerivatives{reference, incident, motion.regular}
                               : ContactDerivatives{incident, reference, motion.regular};
}

void expect_same(const Contact& contact) {
  PointMotion motion;
  point_motion(contact, motion);
  const ContactDerivatives actual = dense(motion, contact), expected = contact_derivatives(contact);
  EXPECT_EQ(actual.regular, expected.regular);
  double size = 1 + expected.by_a.cwiseAbs().maxCoeff() + expected.by_b.cwiseAbs().maxCoeff();
  // The radius of a rim that lies almost flat is huge, and cancels but for rounding.
  if (const auto* closest = std::get_if<ClosestFeatures>(&contact.feature)) {
    size += std::abs(closest->a.bend) + std::abs(closest->b.bend);
  }
  EXPECT_LT((actual.by_a - expected.by_a).cwiseAbs().maxCoeff(), 1e-12 * size);
  EXPECT_LT((actual.by_b - expected.by_b).cwiseAbs().maxCoeff(), 1e-12 * size);
}

TEST(PointMotion, IsWhatContactDerivativesSayForEveryPair) {
  std::array<int, std::variant_size_v<ContactFeature>> met = {};
  PairScratch scratch;
  for (const ShapePair& pair : all_pairs()) {
    SCOPED_TRACE(to_string(pair));
    for_random_cases(1000, [&](std::mt19937_64& random) {
      for (const PairCase& c :
           {near_case(pair, random), resting_case(pair, random), swapped(resting_case(pair, random))}) {
        std::vector<Contact> contacts;
        collide(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch, contacts);
        for (Contact& contact : contacts) {
          ++met[contact.feature.index()];
          expect_same(contact);
          mirror(contact);
          expect_same(contact);
        }
      }
    });
  }
  if (few_cases()) return;
  for (std::size_t kind = 0; kind < met.size(); ++kind) EXPECT_GT(met[kind], 500) << "kind " << kind;
}

TEST(ContactDirections, TurnWithTheNormalsBodyButForTheirSpin) {
  for_random_cases(2000, [](std::mt19937_64& random) {
    const Vec3 n = random_vec3(random).normalized();
    ContactDirections directions;
    directions.set(n);
    const auto [dt1, dt2] = tangent_basis_derivatives(n);
    const Vec3 w = random_vec3(random);
    const auto& [t1, t2] = std::pair(directions.t1, directions.t2);
    const double spin = directions.sigma.dot(w);
    EXPECT_LT((dt1 * w.cross(n) - (w.cross(t1) + spin * t2)).norm(), 1e-14 * (1 + w.norm()));
    EXPECT_LT((dt2 * w.cross(n) - (w.cross(t2) - spin * t1)).norm(), 1e-14 * (1 + w.norm()));
  });
}

TEST(ContactDirections, MoveATangentialForceAsTheTangentsDo) {
  for_random_cases(2000, [](std::mt19937_64& random) {
    const Vec3 n = random_vec3(random).normalized();
    ContactDirections directions;
    directions.set(n);
    const auto [dt1, dt2] = tangent_basis_derivatives(n);
    const Vec3 f = random_vec3(random), dn = random_vec3(random).cross(n);
    const Vec3 force = f[1] * directions.t1 + f[2] * directions.t2;
    EXPECT_LT((directions.moved(force, dn) - (f[1] * dt1 + f[2] * dt2) * dn).norm(),
              1e-14 * (1 + dn.norm() * f.norm()));
  });
}

}  // namespace
}  // namespace lithe::test
