#pragma once

#include <span>
#include <vector>

#include "lithe/lcp/direct/reduced_lcp.h"
#include "lithe/lcp/direct/ridge_solution.h"
#include "lithe/lcp/modes/tied_rows.h"

namespace lithe::internal {

// Verifies modes as the stage `guess` does, on the problem without its soft rows (reduced_lcp.h): of a robot that holds itself up by motors
// one factorisation of the rows that are left takes a third of the time of one of all rows.
//
// Soft rows take no part in redundancy, as their own compliance answers whatever presses on them: the polished impulses of the
// smaller problem are those of the whole one. The velocities by which everything is judged are those of all rows.
class ReducedGuess {
 public:
  enum class Outcome {
    right,   // f and w are the answer
    wrong,   // moved() has the modes with violators moved
    unsure,  // nothing is gained here, or it takes all rows to tell
  };

  // `modes` are consistent, `ridge` is ε̄.
  Outcome run(const PreparedLcp& problem, const LoopStresses& stresses, std::span<const RowMode> modes, double ridge);

  std::span<const double> f() const { return f_; }
  std::span<const double> w() const { return w_; }
  std::span<const RowMode> moved() const { return moved_; }
  double residual() const { return residual_; }
  int factorizations() const { return factorizations_; }
  // Of the matrix of all clamping rows.
  int rank() const { return solution_.factor().rank() + static_cast<int>(reduced_.eliminated().size()); }
  const TiedRows& tied() const { return tied_; }
  int clamping_rows() const { return solution_.factor().size() + static_cast<int>(reduced_.eliminated().size()); }

 private:
  bool choose_eliminated(const PreparedLcp& problem, std::span<const RowMode> modes);
  bool prepare_reduced(const PreparedLcp& problem, std::span<const RowMode> modes);
  bool polish(const PreparedLcp& problem, std::span<const RowMode> modes);
  void correct(std::span<const RowMode> modes);
  bool settle_ties(const PreparedLcp& problem);

  std::vector<RowRole> roles_;
  ReducedLcp reduced_;
  PreparedLcp rest_;  // the reduced problem
  std::vector<RowMode> rest_modes_, moved_;
  RidgeSolution solution_;
  TiedRows tied_;
  AlignedBuffer f_R_, r_R_, change_R_;
  std::vector<double> f_, w_, best_, r_, change_;
  double residual_ = 0;
  int factorizations_ = 0;
};

}  // namespace lithe::internal
