#include "lithe/spatial/rotation.h"

#include <Eigen/Geometry>

#include <cmath>

#include "lithe/spatial/internal/robust_norm.h"

namespace lithe {

using namespace internal;

namespace {

// Below this squared angle the closed forms below lose digits to cancellation, and four terms of the
// series are exact to rounding.
constexpr double kSeriesBelow = 1e-2;

// sin θ/θ, (1 − cos θ)/θ², (θ − sin θ)/θ³ as functions of θ².
struct ExpCoefficients {
  double a, b, c;
};

ExpCoefficients exp_coefficients(double t2) {
  if (t2 < kSeriesBelow) {
    return {1 - t2 / 6 * (1 - t2 / 20 * (1 - t2 / 42 * (1 - t2 / 72))),
            0.5 * (1 - t2 / 12 * (1 - t2 / 30 * (1 - t2 / 56 * (1 - t2 / 90)))),
            (1 - t2 / 20 * (1 - t2 / 42 * (1 - t2 / 72 * (1 - t2 / 110)))) / 6};
  }
  const double t = std::sqrt(t2);
  const double half_sin = std::sin(0.5 * t);
  const double a = std::sin(t) / t;
  return {a, 2 * half_sin * half_sin / t2, (1 - a) / t2};
}

// I + f·[w]× + g·[w]×².
Mat3 rodrigues(const Vec3& w, double f, double g) {
  Mat3 R = g * (w * w.transpose());
  R.diagonal().array() += 1 - g * w.squaredNorm();
  return R + f * skew(w);
}

}  // namespace

Mat3 skew(const Vec3& a) {
  Mat3 m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

Mat3 rotation_exp(const Vec3& w) {
  const ExpCoefficients k = exp_coefficients(w.squaredNorm());
  return rodrigues(w, k.a, k.b);
}

Mat3 right_jacobian(const Vec3& w) {
  const ExpCoefficients k = exp_coefficients(w.squaredNorm());
  return rodrigues(w, -k.b, k.c);
}

Mat3 right_jacobian_inverse(const Vec3& w) {
  // I + ½[w]× + g·[w]×²,  g = 1/θ² − (1 + cos θ)/(2θ sin θ) = (1 − (θ/2)·cot(θ/2))/θ².
  const double t2 = w.squaredNorm();
  double g;
  if (t2 < kSeriesBelow) {
    g = 1.0 / 12 + t2 * (1.0 / 720 + t2 * (1.0 / 30240 + t2 * (1.0 / 1209600 + t2 / 47900160)));
  } else {
    const double half = 0.5 * std::sqrt(t2);
    g = (1 - half * std::cos(half) / std::sin(half)) / t2;
  }
  return rodrigues(w, 0.5, g);
}

Mat3 rotation_about(const Vec3& axis, double angle) {
  const double half_sin = std::sin(0.5 * angle);
  return rodrigues(axis, std::sin(angle), 2 * half_sin * half_sin);
}

Mat3 rotation_from_z(const Vec3& axis) {
  // Two reflections, e_z → s·e_z → axis with s the sign of z, so that nothing cancels near −e_z
  // (Duff et al. 2017: the basis vectors below are orthonormal to rounding for every axis).
  const double s = std::copysign(1.0, axis.z());
  const double a = -1 / (s + axis.z());
  const double b = axis.x() * axis.y() * a;
  Mat3 R;
  R.col(0) = Vec3(1 + s * axis.x() * axis.x() * a, s * b, -s * axis.x());
  R.col(1) = Vec3(b, s + axis.y() * axis.y() * a, -axis.y());
  R.col(2) = axis;
  return R;
}

Vec4 quaternion_identity() { return Vec4(0, 0, 0, 1); }

Vec4 quaternion_product(const Vec4& a, const Vec4& b) {
  Vec4 q;
  q.head<3>() = a.w() * b.head<3>() + b.w() * a.head<3>() + a.head<3>().cross(b.head<3>());
  q.w() = a.w() * b.w() - a.head<3>().dot(b.head<3>());
  return q;
}

Vec4 quaternion_conjugate(const Vec4& q) { return Vec4(-q.x(), -q.y(), -q.z(), q.w()); }

Vec4 quaternion_exp(const Vec3& w) {
  const double t = robust_norm(w);  // finite for every finite w
  const double t2 = t * t;
  // sin(θ/2)/θ
  const double s =
      t2 < kSeriesBelow ? 0.5 * (1 - t2 / 24 * (1 - t2 / 80 * (1 - t2 / 168 * (1 - t2 / 288)))) : std::sin(0.5 * t) / t;
  return Vec4(s * w.x(), s * w.y(), s * w.z(), std::cos(0.5 * t));
}

Vec3 quaternion_log(const Vec4& q) {
  const Vec3 x = q.w() < 0 ? Vec3(-q.head<3>()) : Vec3(q.head<3>());
  const double w = std::abs(q.w());
  const double n = x.norm();
  // θ/|x| with θ = 2·atan2(|x|, w): for tiny |x|, 2/w to rounding.
  const double scale = n < 1e-10 * w ? 2 / w : 2 * std::atan2(n, w) / n;
  return scale * x;
}

Mat3 rotation_from_quaternion(const Vec4& q) {
  const double s = 2 / q.squaredNorm();
  const double x = q.x(), y = q.y(), z = q.z(), w = q.w();
  Mat3 R;
  R << 1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w),  //
      s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w),   //
      s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y);
  return R;
}

Vec4 quaternion_from_rotation(const Mat3& R) {
  // Build q qᵀ·4 from R and take its column of largest diagonal: no cancellation for any rotation.
  Eigen::Matrix4d K;
  K(0, 0) = 1 + R(0, 0) - R(1, 1) - R(2, 2);
  K(1, 1) = 1 - R(0, 0) + R(1, 1) - R(2, 2);
  K(2, 2) = 1 - R(0, 0) - R(1, 1) + R(2, 2);
  K(3, 3) = 1 + R(0, 0) + R(1, 1) + R(2, 2);
  K(0, 1) = K(1, 0) = R(0, 1) + R(1, 0);
  K(0, 2) = K(2, 0) = R(0, 2) + R(2, 0);
  K(1, 2) = K(2, 1) = R(1, 2) + R(2, 1);
  K(0, 3) = K(3, 0) = R(2, 1) - R(1, 2);
  K(1, 3) = K(3, 1) = R(0, 2) - R(2, 0);
  K(2, 3) = K(3, 2) = R(1, 0) - R(0, 1);
  Eigen::Index largest = 0;
  K.diagonal().maxCoeff(&largest);
  const Vec4 q = K.col(largest).normalized();
  return q.w() < 0 ? Vec4(-q) : q;
}

}  // namespace lithe
