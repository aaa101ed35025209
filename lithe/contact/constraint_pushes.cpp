#include "lithe/contact/constraint_pushes.h"

namespace lithe::internal {

namespace {

// Three columns of a 6×6 matrix, each by two packs that overlap: the second one overwrites the zero of the first.
LITHE_INLINE void store_columns(const PackMat3& top, const PackMat3& bottom, double* to) {
  for (int c = 0; c < 3; ++c) {
    store_anywhere(to + 6 * c, top.column[c]);
    store_anywhere(to + 6 * c + 2, __builtin_shufflevector(top.column[c], bottom.column[c], 2, 4, 5, 6));
  }
}

// a += b [x]×
LITHE_INLINE void add_skew_product(const PackMat3& b, Pack x, PackMat3& a) {
  a.column[0] += b.column[1] * broadcast(x[2]) - b.column[2] * broadcast(x[1]);
  a.column[1] += b.column[2] * broadcast(x[0]) - b.column[0] * broadcast(x[2]);
  a.column[2] += b.column[0] * broadcast(x[1]) - b.column[1] * broadcast(x[0]);
}

// a −= [x]× b
LITHE_INLINE void subtract_cross(Pack x, const PackMat3& b, PackMat3& a) {
  for (int c = 0; c < 3; ++c) a.column[c] -= cross(x, b.column[c]);
}

}  // namespace

// One of the four matrices of the table in the header, on the body kOn by the motion of kBy, with each body's part about its own origin.
// `offset`: from the incident body's origin to the other's.
template <PushSums::Body kOn, PushSums::Body kBy>
LITHE_INLINE PushSums::Block PushSums::block(const ContactSums& sums, Pack offset) {
  constexpr bool on_incident = kOn == Body::incident, by_incident = kBy == Body::incident;
  constexpr double sign = by_incident ? 1 : -1;
  Block sum;
  sum.set_zero();
  if (on_incident) {
    add_multiple(sign, sums.R, sum.top_left);
    add_multiple(sign, PackMat3::skew(sums.G), sum.bottom_left);
  } else {
    add_multiple(-sign, sums.R.transposed(), sum.top_left);
    add_multiple(sign, PackMat3::skew(sums.G), sum.top_right);
  }
  if (sums.slides) {
    constexpr double of_A = kOn == kBy ? 1 : -1;
    add_multiple(of_A, sums.A.top_left, sum.top_left);
    add_multiple(of_A, sums.A.top_right, sum.top_right);
    add_multiple(of_A, sums.A.bottom_left, sum.bottom_left);
    add_multiple(of_A, sums.A.bottom_right, sum.bottom_right);
  }
  if (sums.spins && !by_incident) {
    constexpr double of_C = on_incident ? 1 : -1;
    add_multiple(of_C, sums.C_top, sum.top_left);
    add_multiple(of_C, sums.C_bottom, sum.bottom_left);
  }
  if (!by_incident) {  // v at the incident body's origin = v + offset × ω
    add_skew_product(sum.top_right, offset, sum.top_left);
    add_skew_product(sum.bottom_right, offset, sum.bottom_left);
  }
  if (!on_incident) {
    subtract_cross(offset, sum.bottom_left, sum.top_left);
    subtract_cross(offset, sum.bottom_right, sum.top_right);
  }
  return sum;
}

// Into a matrix, or added to it.
LITHE_INLINE void PushSums::put(const Block& block, bool fresh, Mat6& to) {
  Mat6 sum;
  double* place = fresh ? to.data() : sum.data();
  store_columns(block.top_left, block.bottom_left, place);
  store_columns(block.top_right, block.bottom_right, place + 18);
  if (!fresh) to += sum;
}

// Contacts whose incident body is a, then those whose incident body is b; what comes first overwrites what stood in the matrices.
void PushSums::write(bool a_moves, bool b_moves, const Vec3& offset, ConstraintForms::Push& out) const {
  const bool moves[2] = {a_moves, b_moves};
  Mat6* const to[2][2] = {{&out.aa, &out.ab}, {&out.ba, &out.bb}};
  bool fresh = true;
  for (const bool i : {false, true}) {
    const ContactSums& sums = contacts_[i];
    if (!sums.used) continue;
    using enum Body;
    const Pack from_i = lanes_of(i ? Vec3(-offset) : offset);
    if (moves[i]) put(block<incident, incident>(sums, from_i), fresh, *to[i][i]);
    if (moves[!i]) put(block<reference, reference>(sums, from_i), fresh, *to[!i][!i]);
    if (moves[i] && moves[!i]) {
      put(block<incident, reference>(sums, from_i), fresh, *to[i][!i]);
      put(block<reference, incident>(sums, from_i), fresh, *to[!i][i]);
    }
    fresh = false;
  }
  if (fresh) {
    for (const bool i : {false, true}) to[i][0]->setZero(), to[i][1]->setZero();
  }
  for (const bool i : {false, true}) {
    if (!loops_[i].used) continue;
    // The push of a loop on one body rides on it, and does not ask how the other one moves.
    Block ride;
    ride.set_zero();
    ride.top_left = loops_[i].R;
    ride.bottom_left = PackMat3::skew(loops_[i].G);
    put(ride, false, *to[i][i]);
  }
}

}  // namespace lithe::internal
