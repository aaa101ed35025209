#pragma once

#include "lithe/core/eigen.h"

namespace lithe {

// Rotations in space. Quaternions are (x, y, z, w), Hamilton's product; R = rotation_from_quaternion(q)
// turns body coordinates into the outer frame's. Angular velocities and tangent vectors are in the *body*
// frame: q ⊕ δ = q · exp(δ).

// [a]×, so that skew(a)·b = a × b.
Mat3 skew(const Vec3& a);

// exp: ℝ³ → SO(3), as a matrix. Exact to rounding for every angle, 0 included.
Mat3 rotation_exp(const Vec3& w);

// The right Jacobian: exp(w + δ) = exp(w)·exp(J_r(w) δ) + O(δ²).
Mat3 right_jacobian(const Vec3& w);

// J_r⁻¹(w), for |w| < 2π.
Mat3 right_jacobian_inverse(const Vec3& w);

// Rotation by `angle` about the unit vector `axis`.
Mat3 rotation_about(const Vec3& axis, double angle);

// A rotation that takes e_z to the unit vector `axis`.
Mat3 rotation_from_z(const Vec3& axis);

Vec4 quaternion_identity();
Vec4 quaternion_product(const Vec4& a, const Vec4& b);
Vec4 quaternion_conjugate(const Vec4& q);
Vec4 quaternion_exp(const Vec3& w);

// The tangent vector of shortest angle, |result| ≤ π, with q and −q read as the same rotation.
Vec3 quaternion_log(const Vec4& q);

// Of q/|q|: a drifting norm changes nothing. q must not be zero.
Mat3 rotation_from_quaternion(const Vec4& q);

// The quaternion of a rotation matrix, with w ≥ 0.
Vec4 quaternion_from_rotation(const Mat3& R);

}  // namespace lithe
