#include "lithe/spatial/rotation.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/constants.h"
#include "tests/support/differentiate.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe {
namespace {

using test::for_random_cases;

// From nothing to almost a full turn; the closed forms take over from the series at 0.1.
const double kAngles[] = {0,         1e-300, 1e-12,     1e-8,
                          1e-5,      1e-3,   0.0999999, 0.1,
                          0.5,       1.5,    3,         test::kPi - 1e-9,
                          test::kPi, 4.0,    6.0,       2 * test::kPi - 1e-3};

double rotation_error(const Mat3& R) {
  return (R.transpose() * R - Mat3::Identity()).norm() + std::abs(R.determinant() - 1);
}

// The same bits wherever a vector lies: compilers and libraries like to sum from the first aligned number on.
TEST(Rotation, ExponentialsDoNotDependOnAddresses) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Vec3 w = test::random_vec3(random);
    const Vec4 wanted = quaternion_exp(w);
    for (int offset = 0; offset < 8; ++offset) {
      alignas(64) double memory[11] = {};
      Vec3* moved = new (memory + offset) Vec3(w);
      EXPECT_EQ(quaternion_exp(*moved), wanted) << "at " << offset;
    }
  });
}

TEST(Rotation, SkewIsTheCrossProduct) {
  const Vec3 a(1, -2, 3), b(0.5, 4, -1);
  EXPECT_EQ(skew(a) * b, a.cross(b));
}

TEST(Rotation, ExpIsTheRotationAboutAnAxis) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Vec3 axis = test::random_axis(random);
    for (const double angle : kAngles) {
      const Mat3 expected = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
      EXPECT_LT((rotation_exp(angle * axis) - expected).norm(), 1e-14) << angle;
      EXPECT_LT((rotation_about(axis, angle) - expected).norm(), 1e-14) << angle;
      EXPECT_LT((rotation_from_quaternion(quaternion_exp(angle * axis)) - expected).norm(), 1e-14) << angle;
      EXPECT_LT(rotation_error(rotation_exp(angle * axis)), 1e-14) << angle;
    }
  });
}

TEST(Rotation, QuarterTurnAboutZTakesXToY) {
  EXPECT_LT((rotation_about(Vec3::UnitZ(), test::kPi / 2) * Vec3::UnitX() - Vec3::UnitY()).norm(), 1e-15);
}

TEST(Rotation, LogOfExpIsIdentityUpToHalfATurn) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Vec3 axis = test::random_axis(random);
    for (const double angle : kAngles) {
      if (angle >= test::kPi) continue;
      const Vec3 w = angle * axis;
      EXPECT_LT((quaternion_log(quaternion_exp(w)) - w).norm(), 1e-15 + 1e-15 * angle) << angle;
    }
  });
}

TEST(Rotation, LogTakesTheShortWayBeyondHalfATurn) {
  const Vec3 axis = Vec3(1, 2, -2) / 3;
  EXPECT_LT((quaternion_log(quaternion_exp(4.0 * axis)) - (4.0 - 2 * test::kPi) * axis).norm(), 1e-14);
  EXPECT_NEAR(quaternion_log(Vec4(1, 0, 0, 0)).norm(), test::kPi, 1e-15);
}

TEST(Rotation, ExpOfLogIsIdentity) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Vec4 q = test::random_vector(random, 4).normalized();
    const Mat3 R = rotation_from_quaternion(q);
    EXPECT_LT((rotation_exp(quaternion_log(q)) - R).norm(), 1e-14);
    EXPECT_LT((rotation_exp(quaternion_log(-q)) - R).norm(), 1e-14);
  });
}

TEST(Rotation, TinyRotationsKeepAllTheirDigits) {
  const Vec3 w(1e-9, -2e-9, 3e-9);
  EXPECT_LT((quaternion_log(quaternion_exp(w)) - w).norm(), 1e-24);
  EXPECT_EQ(quaternion_log(quaternion_identity()), Vec3::Zero().eval());
}

TEST(Rotation, RightJacobianIsTheDerivativeOfExp) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Vec3 axis = test::random_axis(random);
    for (const double angle : kAngles) {
      const Vec3 w = angle * axis;
      const Vec4 back = quaternion_conjugate(quaternion_exp(w));
      const MatX numeric = test::central_difference(
          [&](const VecX& delta) -> VecX {
            return quaternion_log(quaternion_product(back, quaternion_exp(w + delta)));
          },
          3);
      EXPECT_LT(test::relative_error(right_jacobian(w), numeric), 1e-11) << angle;
    }
  });
}

TEST(Rotation, RightJacobianInverseIsTheDerivativeOfLog) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Vec3 axis = test::random_axis(random);
    for (const double angle : kAngles) {
      if (angle > test::kPi - 0.1) continue;  // log jumps at π
      const Vec4 q = quaternion_exp(angle * axis);
      const MatX numeric = test::central_difference(
          [&](const VecX& delta) -> VecX { return quaternion_log(quaternion_product(q, quaternion_exp(delta))); }, 3);
      EXPECT_LT(test::relative_error(right_jacobian_inverse(angle * axis), numeric), 1e-11) << angle;
    }
  });
}

TEST(Rotation, RightJacobianInverseInvertsTheRightJacobian) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Vec3 axis = test::random_axis(random);
    for (const double angle : kAngles) {
      // Near a full turn the right Jacobian becomes singular.
      const Mat3 inverse = right_jacobian_inverse(angle * axis);
      EXPECT_LT((inverse * right_jacobian(angle * axis) - Mat3::Identity()).norm(), 1e-14 * inverse.norm()) << angle;
    }
  });
}

TEST(Rotation, FromZTakesZToTheAxis) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Vec3 axis = test::random_axis(random);
    const Mat3 R = rotation_from_z(axis);
    EXPECT_EQ(R.col(2), axis);
    EXPECT_LT(rotation_error(R), 1e-14);
  });
}

TEST(Rotation, FromZIsRegularAtBothPolesAndAtTheEquator) {
  EXPECT_EQ(rotation_from_z(Vec3::UnitZ()), Mat3::Identity());
  const Vec3 axes[] = {Vec3(0, 0, -1),       Vec3(1e-9, 0, -1),   Vec3(0, -1e-9, -1),   Vec3(1e-160, 1e-160, -1),
                       Vec3(1e-9, 1e-12, 1), Vec3(0.6, 0.8, 0.0), Vec3(0.6, 0.8, -0.0), Vec3(1, 0, -1e-300)};
  for (const Vec3& axis : axes) {
    const Mat3 R = rotation_from_z(axis);
    EXPECT_EQ(R.col(2), axis);
    EXPECT_LT(rotation_error(R), 1e-14) << axis.transpose();
  }
}

TEST(Quaternion, ProductComposesRotations) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Vec4 a = test::random_vector(random, 4).normalized();
    const Vec4 b = test::random_vector(random, 4).normalized();
    const Mat3 expected = rotation_from_quaternion(a) * rotation_from_quaternion(b);
    EXPECT_LT((rotation_from_quaternion(quaternion_product(a, b)) - expected).norm(), 1e-14);
    EXPECT_LT((quaternion_product(a, quaternion_conjugate(a)) - quaternion_identity()).norm(), 1e-15);
  });
}

TEST(Quaternion, LengthDoesNotMatterForTheRotation) {
  const Vec4 q(0.1, -0.7, 0.3, 0.5);
  EXPECT_LT((rotation_from_quaternion(q) - rotation_from_quaternion(1e3 * q)).norm(), 1e-15);
  EXPECT_LT(rotation_error(rotation_from_quaternion(q)), 1e-15);
}

TEST(Quaternion, RoundTripsThroughTheMatrix) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Vec3 axis = test::random_axis(random);
    for (const double angle : kAngles) {
      Vec4 q = quaternion_exp(angle * axis);
      const Vec4 back = quaternion_from_rotation(rotation_from_quaternion(q));
      EXPECT_GE(back.w(), 0);
      // q and −q are one rotation; at half a turn either may come back.
      EXPECT_LT(std::min((back - q).norm(), (back + q).norm()), 1e-14) << angle;
    }
  });
}

}  // namespace
}  // namespace lithe
