#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/lcp/prepared_lcp.h"

namespace lithe {

// Two-sided rows that others of their kind imply, as those of loops that close in a plane, and the stresses among them:
// impulses N (orthonormal columns) that move nothing, A_22 N = 0.
//
// Their targets contradict one another as soon as the loops have drifted. Of b_2 only b_2 − N Nᵀb_2 can be met, in the
// sense of least squares; what is left out the ridge would answer with impulses of 1/ε̄. Among many impulses that move the
// model alike, the group inverse chooses those with Nᵀf_2 = 0.
class LoopStresses {
 public:
  void find(const PreparedLcp& problem);

  int count() const { return count_; }
  bool implies(int row) const { return implied_[row] != 0; }  // by row of the problem
  // x_2 − N Nᵀx_2 in place, by row of the problem; returns the largest |Nᵀx_2|.
  double remove_from(std::span<double> x) const;

 private:
  void add_stress(int q);

  std::vector<int> rows_;  // two-sided and live
  std::vector<double> L_;  // by rows: row q has rows_.size() entries
  std::vector<std::uint8_t> implied_;
  std::vector<double> stresses_;
  int count_ = 0;
};

}  // namespace lithe
