#pragma once

#include "lithe/contact/constraint_forms.h"
#include "lithe/simd/pack.h"

namespace lithe::internal {

// Vectors in space and 3×3 matrices, column by column, with x, y, z and a zero as lanes.
LITHE_INLINE Pack lanes_of(const Vec3& x) { return Pack{x.x(), x.y(), x.z(), 0}; }
LITHE_INLINE Pack cross(Pack a, Pack b) {
  const Pack a_yzx = __builtin_shufflevector(a, a, 1, 2, 0, 3);
  const Pack b_yzx = __builtin_shufflevector(b, b, 1, 2, 0, 3);
  const Pack zxy = a * b_yzx - a_yzx * b;
  return __builtin_shufflevector(zxy, zxy, 1, 2, 0, 3);
}
struct PackMat3 {
  Pack column[3];

  LITHE_INLINE void set_zero() {
    for (Pack& x : column) x = Pack{};
  }
  // += a bᵀ and += x I
  LITHE_INLINE void add_product(Pack a, Pack b) {
    for (int c = 0; c < 3; ++c) column[c] += a * broadcast(b[c]);
  }
  LITHE_INLINE void add_diagonal(double x) {
    for (int c = 0; c < 3; ++c) column[c] += x * unit_lane(c);
  }
  LITHE_INLINE PackMat3 transposed() const {
    PackMat3 t = *this;
    Pack zero = {};
    transpose(t.column[0], t.column[1], t.column[2], zero);
    return t;
  }
  LITHE_INLINE static PackMat3 skew(Pack a) {
    return {Pack{0, a[2], -a[1], 0}, Pack{-a[2], 0, a[0], 0}, Pack{a[1], -a[0], 0, 0}};
  }
};
LITHE_INLINE void add_multiple(double factor, const PackMat3& a, PackMat3& to) {
  for (int c = 0; c < 3; ++c) to.column[c] += factor * a.column[c];
}

// T̂ of one patch (ConstraintForms::Push), summed over its constraints.
//
// A contact pushes its incident body i with G and the other, r, with −G. Let p ride on i, but for K (V_i − V_r). When both
// bodies turn together G turns with them, but for a spin σ of the tangents (ContactDirections): ∂G = ω × G + (σ·ω) n × G. Then
// with X = [G]× and y = n × G, at p,
//
//   T̂_ii =  ride + A       ride = [0 0; X 0]     A = [−X K; 0]
//   T̂_ir = −ride − A + C   hang = [0 X; 0 0]     C = [0 0; y σᵀ 0]
//   T̂_ri =  hang − A
//   T̂_rr = −hang + A − C
//
// Where n moves with V_i − V_r too, A's lower rows hold ∂G by that. Taken to i's origin, with p at
// ρ from it and R = [ρ]× X = G ρᵀ − (ρ·G) I,
//
//   ride = [R 0; X 0],   hang = [−Rᵀ X; 0 0],
//
// so that a patch's contacts can be summed before the four matrices are made. The origin of r's own tree comes in last.
class PushSums {
 public:
  void start() {
    for (const bool side : {false, true}) contacts_[side].used = loops_[side].used = false;
  }
  bool empty() const { return !contacts_[0].used && !contacts_[1].used && !loops_[0].used && !loops_[1].used; }

  // One more contact, at `arm` from the origin of its incident body (true: b), and what it has besides.
  class ContactPush;
  LITHE_INLINE ContactPush add_contact(bool incident, Pack arm, Pack G);
  // A force and a moment that ride on one body and know nothing of the other.
  LITHE_INLINE void add_loop(bool side, Pack arm, Pack force, Pack moment) {
    loops_[side].add(arm, force);
    add_multiple(1, PackMat3::skew(moment), loops_[side].R);
  }

  // `offset`: of b's origin from a's; 0 where one of the two does not move.
  void write(bool a_moves, bool b_moves, const Vec3& offset, ConstraintForms::Push& out) const;

 private:
  struct Ride {
    bool used;
    PackMat3 R;
    Pack G;

    LITHE_INLINE void add(Pack arm, Pack force) {
      if (!used) {
        R.set_zero();
        G = Pack{};
        used = true;
      }
      G += force;
      R.add_product(force, arm);
      R.add_diagonal(-lane_sum(arm * force));
    }
  };
  // A 6×6 matrix by its quarters.
  struct Block {
    PackMat3 top_left, top_right, bottom_left, bottom_right;

    LITHE_INLINE void set_zero() {
      for (PackMat3* part : {&top_left, &top_right, &bottom_left, &bottom_right}) part->set_zero();
    }
  };
  struct ContactSums : Ride {
    bool slides, spins;
    Block A;
    PackMat3 C_top, C_bottom;
  };
  enum class Body { incident, reference };

  template <Body kOn, Body kBy>
  static Block block(const ContactSums& sums, Pack offset);
  static void put(const Block& block, bool fresh, Mat6& to);

  ContactSums contacts_[2];  // by incident body
  Ride loops_[2];
};

class PushSums::ContactPush {
 public:
  LITHE_INLINE ContactPush(ContactSums& sums, Pack arm, Pack G) : sums_(sums), arm_(arm), G_(G) {}

  // K = along formᵀ, the form of the relative twist at p given by its two parts.
  LITHE_INLINE void slide(Pack along, Pack by_turn, Pack by_shift) {
    open_slides();
    const Pack moment = cross(along, G_);
    sums_.A.top_left.add_product(moment, by_turn + cross(arm_, by_shift));
    sums_.A.top_right.add_product(moment, by_shift);
  }
  // K = radius·(ω × n): −X K = radius (n Gᵀ − (n·G) I).
  LITHE_INLINE void roll(double radius, Pack n) {
    open_slides();
    sums_.A.top_left.add_product(radius * n, G_);
    sums_.A.top_left.add_diagonal(-radius * lane_sum(n * G_));
  }
  // p rides on r: K = [0 −I], A = hang.
  LITHE_INLINE void hang() {
    open_slides();
    sums_.A.top_left.add_product(-arm_, G_);
    sums_.A.top_left.add_diagonal(lane_sum(arm_ * G_));
    add_multiple(1, PackMat3::skew(G_), sums_.A.top_right);
  }
  // ∂G = along formᵀ.
  LITHE_INLINE void turn(Pack along, Pack by_turn, Pack by_shift) {
    open_slides();
    const Pack moment = cross(arm_, along), moved = by_turn + cross(arm_, by_shift);
    sums_.A.top_left.add_product(moment, moved);
    sums_.A.top_right.add_product(moment, by_shift);
    sums_.A.bottom_left.add_product(along, moved);
    sums_.A.bottom_right.add_product(along, by_shift);
  }
  // y = n × G.
  LITHE_INLINE void spin(Pack y, Pack sigma) {
    if (!sums_.spins) {
      sums_.C_top.set_zero();
      sums_.C_bottom.set_zero();
      sums_.spins = true;
    }
    sums_.C_top.add_product(cross(arm_, y), sigma);
    sums_.C_bottom.add_product(y, sigma);
  }

 private:
  LITHE_INLINE void open_slides() {
    if (sums_.slides) return;
    sums_.A.set_zero();
    sums_.slides = true;
  }

  ContactSums& sums_;
  Pack arm_, G_;
};

LITHE_INLINE PushSums::ContactPush PushSums::add_contact(bool incident, Pack arm, Pack G) {
  ContactSums& sums = contacts_[incident];
  if (!sums.used) sums.slides = sums.spins = false;
  sums.add(arm, G);
  return {sums, arm, G};
}

}  // namespace lithe::internal
