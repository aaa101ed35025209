#pragma once

#include <array>
#include <vector>

#include "tests/support/lcp_problems.h"

namespace lithe::test {

// Free boxes and the rows between them and to the world, put together by hand: no model, no collision detection. Every
// box begins with the velocity that gravity gives it in one step.
class RigidScene {
 public:
  static constexpr int kWorld = -1;
  static constexpr double kTimeStep = 0.005;
  static constexpr double kGravity = 9.81;

  int add_box(double mass, const Vec3& half_size, const Vec3& p, const Mat3& R = Mat3::Identity());
  void push(int body, const Vec3& angular, const Vec3& linear);  // adds to its velocity

  // Body a touches b (or the world) at p; n points from b to a.
  void add_contact(int a, int b, const Vec3& p, const Vec3& n, double mu);
  // The same at `points` points of a ring around p, the first one at the angle `phase`.
  void add_patch(int a, int b, const Vec3& p, const Vec3& n, double radius, double phase, int points, double mu);
  void add_hinge(int a, int b, const Vec3& p, const Vec3& axis);  // five two-sided rows
  void add_motor(int a, int b, const Vec3& axis, double lower, double upper);

  SampledLcp finish() const;

 private:
  struct Box {
    Vec3 p;
    Mat3 turn_root;     // I^(−1/2)
    double shift_root;  // m^(−1/2)
    Vec3 omega, v;
  };
  // A row's part of the Jacobian in one body.
  struct Side {
    int body;
    Vec3 angular, linear;
  };

  int add_row(int a, int b, const Vec3& p, const Vec3& direction, const LcpRow& row);
  void add_turn_row(int a, int b, const Vec3& axis, const LcpRow& row);
  std::uint64_t next_key() const { return rows_.size() + 1; }

  std::vector<Box> bodies_;
  std::vector<LcpRow> rows_;
  std::vector<std::array<Side, 2>> sides_;  // per row
};

}  // namespace lithe::test
