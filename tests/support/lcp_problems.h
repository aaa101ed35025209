#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "lithe/core/eigen.h"
#include "lithe/lcp/boxed_lcp.h"

namespace lithe::test {

// Problems as contact makes them, in factored form: A = J M⁻¹ Jᵀ and b = J v_free − d become
//
//   A = W Wᵀ,   b = W u − d,   W = J M^(−1/2) (n×k),   u = M^(1/2) v_free,
//
// so the rank of A is that of W, and whatever W and u are, the problem with d = 0 has a solution.
struct SampledLcp {
  std::vector<LcpRow> rows;
  MatX W;
  VecX u, d;
  MatX A_noise;          // added to A and
  VecX b_noise;          // b unless empty: what rounding leaves of rows that nothing moves
  bool solvable = true;  // a solution exists for certain; false: it may or may not

  int size() const { return static_cast<int>(rows.size()); }
  LcpProblem problem() const;
};

enum class LcpFamily : std::uint8_t {
  tiny,          // one to six rows of any kinds, often small whole numbers: ties, zero rows, opposed rows
  full_rank,     // 1–12 contacts, Gaussian W of more columns than rows
  half_rank,     // the same, half as many columns as rows
  doubled_rows,  // each contact once or more often, to the last bit
  spread,        // half rank, columns of W over four magnitudes
  foot,          // a box on a plane: resting, sliding, tipping, spinning, on a slope; 1–6 points
  stack,         // two to five boxes on top of each other, at rest or pushed
  mass_ratio,    // two or three boxes whose masses differ by up to 1e8
  pile,          // 3–10 boxes that lean on each other, floor and walls
  motors,        // a chain of hinged bodies (two-sided rows) with motors (bounded rows) and feet
  loops,         // hinges around a ring, so two-sided rows are redundant, with targets that all can meet
  humanoid,      // the humanoid standing or falling, sometimes with motors
  rounding,      // some rows that nothing moves, apart from rounding: a contact across the hinge that holds its body
  targets,       // any of foot, stack, pile and half rank with targets that all can meet
  contradiction  // the same with targets drawn at random, so that often no solution exists
};
std::span<const LcpFamily> all_lcp_families();
const char* to_string(LcpFamily family);

SampledLcp random_lcp(LcpFamily family, std::mt19937_64& random);

// Row k of the result is row order[k] of the problem.
LcpProblem permuted(const LcpProblem& problem, std::span<const int> order);

// A·by_A and b·by_b (bounds and targets to match): the same problem in other units.
LcpProblem scaled(const LcpProblem& problem, double by_A, double by_b);

// How the lcp room takes vectors.
inline std::span<const double> as_span(const VecX& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }
inline std::span<double> as_span(VecX& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

}  // namespace lithe::test
