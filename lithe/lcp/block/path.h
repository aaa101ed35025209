#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/lcp/block/mode_system.h"
#include "lithe/lcp/modes/path_events.h"
#include "lithe/lcp/modes/prepared_lcp.h"

namespace lithe::internal {

// From the last step's impulses to this step's, as SolutionPath, over blocks: LCP(A + ε̄I, b + t p) with t from 1 to 0 and the p that
// makes the given impulses its solution at 1.
//
// An event changes one row's mode, and S by a product or two (FactorUpdates). The rates of the event before are nearly right, and are
// corrected by what they leave of the equations: one solve with S as a rule, and products with G, so O(rows).
class BlockPath {
 public:
  // Follows the solution from the impulses `f` (by row), moved into their bounds; `ridge` is ε̄. False where it did not arrive after
  // `longest` events, at a ray or a breakdown. `system` is bound to the problem.
  bool follow(const PreparedLcp& problem, double ridge, std::span<const double> f, int longest,
              BlockModeSystem& system);

  // What it arrives at.
  std::span<const RowMode> modes() const { return modes_; }
  int events() const { return events_; }

 private:
  const LcpRow& row(int i) const { return problem_->lcp.rows[i]; }
  bool moves(int i) const { return diagonal_[i] > 0; }
  PathPoint point() const;
  void start(std::span<const double> f);
  double apart(int i) const;
  void classify();
  void find_perturbation();
  bool find_rates();
  bool correct_rates();
  void take_along(std::span<double> f) const;
  void enter(const PathEvent& event);
  bool is_new();

  const PreparedLcp* problem_ = nullptr;
  BlockModeSystem* system_ = nullptr;
  double ridge_ = 0;
  int n_ = 0;
  std::vector<RowMode> modes_;
  std::vector<int> tangents_;     // two per row, of normals; −1: none
  std::vector<double> diagonal_;  // A_ii; 0: the row takes no part
  std::vector<double> f_, w_, p_, df_, dw_, r_;
  std::vector<std::uint64_t> seen_;  // hashes of modes
  double t_ = 1;
  int entering_ = -1;
  RowMode left_ = RowMode::clamping;  // the mode that the entering row had
  int events_ = 0;
};

}  // namespace lithe::internal
