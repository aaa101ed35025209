#pragma once

#include "lithe/core/eigen.h"

namespace lithe {

// Where a frame B is, seen from a frame A: X_AB takes coordinates in B to coordinates in A,
// p_A = R_AB p_B + p_AB.
struct Pose {
  Mat3 R = Mat3::Identity();
  Vec3 p = Vec3::Zero();

  static Pose translation(const Vec3& p) { return {Mat3::Identity(), p}; }
  static Pose translation(double x, double y, double z) { return translation(Vec3(x, y, z)); }
  static Pose rotation(const Mat3& R) { return {R, Vec3::Zero()}; }

  // X_AB · X_BC = X_AC.
  friend Pose operator*(const Pose& a, const Pose& b) { return {a.R * b.R, a.p + a.R * b.p}; }
  // A point's coordinates in A from those in B.
  friend Vec3 operator*(const Pose& a, const Vec3& x) { return a.p + a.R * x; }

  Pose inverse() const { return {R.transpose(), -(R.transpose() * p)}; }
};

}  // namespace lithe
