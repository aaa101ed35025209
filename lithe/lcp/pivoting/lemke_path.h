#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/lcp/modes/prepared_lcp.h"
#include "lithe/lcp/pivoting/path_basis.h"

namespace lithe::internal {

// Lemke's method (1965) on modes, for the ridge problem LCP(A + ε̄I, b).
//
// The offset is replaced by b + θ c with a covering vector c that is positive on normals and rows with constant bounds.
// For large θ everything rests at f = 0 (bounded rows at their lower bound) with w > 0, and θ goes down. Between events
// all rows keep their modes and (f, w, θ) moves along a straight edge. Where a row reaches the end of its mode it
// changes it, and the path goes on in the direction in which that row enters its new mode, even if θ rises again:
// that is what friction needs and what methods that only ever lower θ cannot do. At θ = 0 the modes are the
// answer. No vertex is met twice unless several rows change at once; so c is spread by a hash of the rows' keys.
//
//   c_i = √A_ii (1 + u)        one-sided and bounded rows
//         √A_ii (u − ½)/50     friction
//         0                    two-sided rows, which clamp from start to end;   u ∈ [0, 1) from key and seed
//
// All in units in which A_ii = 1 (f √A_ii, w/√A_ii), so that one tolerance fits all rows; the ridge stays ε̄I.
class LemkePath {
 public:
  enum class Result : std::uint8_t { found, ray, too_long, singular };

  // The inverse is built anew after this many exchanges at least, besides where it has become inaccurate. (1: for tests.)
  int rebuild_interval = 1000;

  // Writes the modes of all rows (inert ones keep theirs) if found.
  Result follow(const PreparedLcp& problem, double ridge, std::uint64_t seed, std::span<RowMode> modes);
  int pivots() const { return pivots_; }

 private:
  // A row's mode as the path sees it: friction rows are at a bound while their normal separates.
  struct Row {
    int index;  // in the problem
    RowKind kind;
    RowMode now;
    int normal = -1;              // friction: the path's row
    double kappa = 0;             // μ, scaled
    double lower = 0, upper = 0;  // bounded, scaled
    int slot = 0;                 // of its equation
  };
  struct Event {
    double step = LcpRow::kInfinity;
    double rate = 0;
    int row = -1;  // −1: none; size: θ = 0
    RowMode next = RowMode::clamping;
  };

  void gather(const PreparedLcp& problem, double ridge, std::uint64_t seed);
  bool start();
  bool turn();
  void keep_direction(double direction);
  Event next_event() const;
  bool change(int row, RowMode next);
  bool release_friction(int normal);
  void aim_friction(int normal);
  void snap();
  void find_start();
  double right_side(const Row& row, RowMode row_mode) const;
  PathBasis::Equation equation_of(int row, RowMode row_mode) const;
  bool normal_clamps(const Row& row) const { return rows_[row.normal].now == RowMode::clamping; }
  void velocities(const double* x, double* to) const;

  std::vector<Row> rows_;
  std::vector<int> path_row_;  // of a problem's row, or −1
  PaddedMatrix A_;             // scaled, with the ridge
  AlignedBuffer c_, b_;
  PathBasis basis_;
  AlignedBuffer x_, w_, dx_, dw_;  // f and θ; velocities; their derivatives along the edge
  AlignedBuffer rhs_, defect_, change_;
  int driving_slot_ = 0;
  int driving_row_ = -1;
  RowMode left_ = RowMode::clamping;  // the mode that the driving row has left
  double scale_ = 1;
  int pivots_ = 0;
};

}  // namespace lithe::internal
