#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lithe/core/eigen.h"
#include "lithe/simd/lanes.h"

namespace lithe {

// The boxed linear complementarity problem of hard contact (Anitescu & Potra 1997, in the boxed form of
// Baraff 1994): impulses f and velocities w = A f + b with, row by row,
//
//   lo ≤ f ≤ hi,   w = 0 where f is strictly between,   w ≥ 0 at lo,   w ≤ 0 at hi.
//
// A (n×n) is symmetric and positive semidefinite, and as a rule singular: a flat foot has twelve rows of rank six.
// The bounds of a friction row are ±μ times its normal's impulse, so they are part of the problem.

enum class RowKind : std::uint8_t {
  one_sided,  // 0 ≤ f: a contact's normal, a joint limit
  friction,   // |f| ≤ μ f_n
  bounded,    // lower ≤ f ≤ upper, both finite: a motor, dry friction
  two_sided,  // any f, so w = 0: a loop closure
};

// Where a row of a solution lies. The letters are those of the paper's derivation.
enum class RowMode : std::uint8_t {
  clamping,    // C: w = 0, f between its bounds
  separating,  // S: f = 0 and w ≥ 0; also a friction row whose normal separates
  at_lower,    // B: f at its lower bound and w ≥ 0
  at_upper,    // B: f at its upper bound and w ≤ 0
};

inline bool is_at_bound(RowMode c) { return c == RowMode::at_lower || c == RowMode::at_upper; }

struct LcpRow {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  RowKind kind = RowKind::one_sided;
  int normal = -1;      // friction: the one-sided row that bounds it
  double friction = 0;  // μ
  double lower = 0;     // bounded
  double upper = 0;
  bool soft = false;      // bounded: part of A_ii is the row's own compliance, so that no other rows imply it
  std::uint64_t key = 0;  // names the row from step to step, whatever its number

  static LcpRow make_one_sided(std::uint64_t key = 0) { return {.key = key}; }
  static LcpRow make_friction(int normal, double mu, std::uint64_t key = 0) {
    return {.kind = RowKind::friction, .normal = normal, .friction = mu, .key = key};
  }
  static LcpRow make_bounded(double lower, double upper, std::uint64_t key = 0) {
    return {.kind = RowKind::bounded, .lower = lower, .upper = upper, .key = key};
  }
  static LcpRow make_two_sided(std::uint64_t key = 0) { return {.kind = RowKind::two_sided, .key = key}; }
};

// A_ii of all rows, wherever they are kept.
struct LcpDiagonal {
  const double* first = nullptr;
  std::ptrdiff_t step = 1;
  double operator[](std::size_t i) const { return first[static_cast<std::ptrdiff_t>(i) * step]; }
};

// What numbers are measured against. A problem that is a part of a larger one is solved by the measures of that: which of its rows
// creep, and which are redundant, does not depend on how many rows were left out. Zeros: by its own.
struct LcpScales {
  double mean_diagonal = 0;  // the ridge is a share of it
  double velocity = 0;       // at least
};

// One problem, as the solvers see it. A view: the numbers live elsewhere and stay unchanged.
struct BoxedLcp {
  std::span<const LcpRow> rows;
  // Column j starts at A + j·stride, on a 32-byte boundary; stride is a multiple of kLanes and the rows from n up to
  // padded(n) are zero.
  const double* A = nullptr;
  int stride = 0;
  std::span<const double> b;
  // The target velocities d that are part of b = J v_free − d. Where targets contradict one another, the solver takes the
  // positive ones of one-sided rows and those of two-sided rows out again (b + d). Empty: there are none.
  std::span<const double> target;
  LcpScales scales = {};

  int size() const { return static_cast<int>(rows.size()); }
  const double* column(int j) const { return A + static_cast<std::ptrdiff_t>(j) * stride; }
  double at(int i, int j) const { return column(j)[i]; }
  LcpDiagonal diagonal() const { return {A, stride + 1}; }
};

// A problem that owns its numbers, for tests and for use apart from the step.
struct LcpProblem {
  std::vector<LcpRow> rows;
  AlignedBuffer A;
  std::vector<double> b, target;
  int stride = 0;

  LcpProblem() = default;
  LcpProblem(const MatX& matrix, const VecX& offset, std::vector<LcpRow> row_kinds, const VecX& targets = {});

  BoxedLcp view() const { return {.rows = rows, .A = A.data(), .stride = stride, .b = b, .target = target}; }
  int size() const { return static_cast<int>(rows.size()); }
};

// Below this share of the largest diagonal entry A_ii is rounding of zero: no impulse moves the row.
inline constexpr double kInertShare = 1e-14;

// The bounds of row i at impulses f.
struct RowBounds {
  double lower, upper;
};
inline RowBounds bounds_of(const LcpRow& row, std::span<const double> f) {
  switch (row.kind) {
    case RowKind::one_sided: return {0, LcpRow::kInfinity};
    case RowKind::friction: {
      const double limit = row.friction * (f[row.normal] > 0 ? f[row.normal] : 0.0);
      return {-limit, limit};
    }
    case RowKind::bounded: return {row.lower, row.upper};
    case RowKind::two_sided: break;
  }
  return {-LcpRow::kInfinity, LcpRow::kInfinity};
}

// Moves f into its bounds: normals first, then the friction rows that they bound.
void clamp_to_bounds(std::span<const LcpRow> rows, std::span<double> f);
inline void clamp_to_bounds(const BoxedLcp& lcp, std::span<double> f) { clamp_to_bounds(lcp.rows, f); }

// w = A f + b.
void evaluate(const BoxedLcp& lcp, std::span<const double> f, std::span<double> w);

// What velocities are measured against: max|b|, or what a bounded row that excludes f = 0 causes, and never zero.
double velocity_scale(std::span<const LcpRow> rows, LcpDiagonal diagonal, std::span<const double> b);
inline double velocity_scale(const BoxedLcp& lcp) { return velocity_scale(lcp.rows, lcp.diagonal(), lcp.b); }

// How far (f, w) is from solving the problem: the largest |f − clamp(f − w/A_ii)|·A_ii over all rows, as a share of the
// velocity scale. Zero exactly at solutions; infinite where anything is not finite. A row that no impulse moves
// (A_ii ≤ 0) counts by its w alone: it is wrong where no finite bound allows for its sign.
double residual(std::span<const LcpRow> rows, LcpDiagonal diagonal, std::span<const double> b,
                std::span<const double> f, std::span<const double> w);
inline double residual(const BoxedLcp& lcp, std::span<const double> f, std::span<const double> w) {
  return residual(lcp.rows, lcp.diagonal(), lcp.b, f, w);
}

// The same, not divided by the velocity scale.
double largest_violation(std::span<const LcpRow> rows, LcpDiagonal diagonal, std::span<const double> f,
                         std::span<const double> w);
inline double largest_violation(const BoxedLcp& lcp, std::span<const double> f, std::span<const double> w) {
  return largest_violation(lcp.rows, lcp.diagonal(), f, w);
}

}  // namespace lithe
