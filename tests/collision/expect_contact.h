#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lithe/collision/contact.h"
#include "tests/collision/turns.h"

namespace lithe::test {

// What a contact is expected to be, by hand.

inline constexpr double kTiny = 1e-14;

inline void expect_vec(const Vec3& value, const Vec3& expected, double tolerance = kTiny) {
  EXPECT_LE((value - expected).lpNorm<Eigen::Infinity>(), tolerance)
      << "is " << value.transpose() << ", not " << expected.transpose();
}

inline void expect_contact(const Contact& c, const Vec3& p, const Vec3& n, double gap, double tolerance = kTiny) {
  EXPECT_NEAR(c.gap, gap, tolerance);
  expect_vec(c.p, p, tolerance);
  expect_vec(c.n, n, tolerance);
}

inline void expect_codes(const Contact& c, FeatureCode a, FeatureCode b) {
  EXPECT_EQ(c.code_a, a) << "part " << static_cast<int>(c.code_a.part()) << " " << c.code_a.index();
  EXPECT_EQ(c.code_b, b) << "part " << static_cast<int>(c.code_b.part()) << " " << c.code_b.index();
}

inline bool is_finite(const Contact& c) { return c.p.allFinite() && c.n.allFinite() && std::isfinite(c.gap); }

// How many contacts are with this part of a.
inline int count_of(const std::vector<Contact>& contacts, FeatureCode::Part part) {
  int count = 0;
  for (const Contact& c : contacts) count += c.code_a.part() == part;
  return count;
}

inline bool by_convention(const Contact& c) { return has(c.flags, ContactFlag::normal_by_convention); }

}  // namespace lithe::test
