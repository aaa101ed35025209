#pragma once

#include <cstdint>

#include "lithe/lcp/block/graphs.h"
#include "lithe/lcp/block/mode_repair.h"
#include "lithe/lcp/block/mode_system.h"
#include "lithe/lcp/block/path.h"
#include "lithe/lcp/modes/prepared_lcp.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe::internal {

struct BlockBuffers {
  BlockGraphs graphs;
  PreparedLcp problem;
  BlockModeSystem system;
  BlockPath path;
  ModeRepair repair;
  std::vector<RowMode> modes;  // to try, then with violators moved
  std::vector<RowMode> tried;  // those of the system
  std::vector<RowMode> best;   // with the fewest violators so far
  std::vector<RowMode> right;  // the last ones found right
  std::vector<std::uint64_t> seen;
  std::vector<double> w;
  std::vector<double> f_polished, w_polished, f_before;
  std::vector<double> f_swept, w_swept, f_least;  // where nothing is solved
  std::vector<double> b_free;
  AlignedBuffer u;        // coordinates
  std::vector<int> tied;  // rows
  AlignedBuffer A;        // of small problems that nothing else solves
};

// The pipeline of solve_lcp() for factored problems: the same solution as DirectSolver's, by algebra over blocks. One attempt costs
// O(rows), where rows meet as in stacks, walls and piles, instead of O(rows³).
//
//   guess        the given modes, verified on the ridge problem with ε = 1e-9, if they were right the last time
//   active set   all violators change their mode at once; two rounds may pass without fewer of them (Júdice & Pires 1994), and no
//                modes come twice. Where the guess fails, or was wrong the last time: from the modes that Gauss–Seidel suggests
//   approach     where more than 40 violators are left: by way of larger ridges, each of which is solved by the other stages
//   follow       from the last step's impulses to this step's (block/path.h), where many are left
//   repair       exact pivoting on the rows in dispute (mode_repair.h): stage `path`
//   approach, follow   with fewer violators only now
//   dense        up to 300 rows: DirectSolver
//   polish, continuation, unpolished, targets   as in DirectSolver; but targets that work on a stress which moves nothing are dropped at
//                once, since no smaller ridge will change that
//
// Work is bounded, in attempts. Out of it, f is what Gauss–Seidel makes of the last step's impulses: finite, within its bounds,
// `unsolved`.
class BlockSolver {
 public:
  BlockSolver(const FactoredLcp& lcp, const LcpOptions& options, BlockBuffers& buffers);

  // False: nothing was found within the bounds of work, and write_least_residual() is what is left.
  bool solve(const LcpGuess& guess, std::span<double> f, std::span<double> w, std::span<RowMode> modes);
  void write_least_residual(std::span<double> f, std::span<double> w, std::span<RowMode> modes);
  const LcpReport& report() const { return report_; }

 private:
  // The factor's own ε is never less: rounding in S, of 1e-16 of its largest entry, must stay below the ridge where masses differ.
  static constexpr double kLeastRidge = 1e-11;

  bool solve_prepared(const LcpGuess& guess);
  bool rest();
  bool run_continuation(bool guessed);
  bool find_modes(double epsilon);
  bool settle(double epsilon);
  bool approach(double epsilon);
  bool settle_softly(double epsilon);
  bool repair_few(double epsilon);
  bool follow(double epsilon);
  bool repair(double epsilon);
  int attempt(double epsilon);
  bool is_new(std::span<const RowMode> modes);
  bool bends() const;
  bool take_polished();
  bool take_best();
  bool contradicts();
  void sweep(double epsilon, std::span<double> f, int sweeps);
  void start_sweeps();
  void suggest_modes(double epsilon, int sweeps);
  void sweep_given();
  void find_ties(std::span<double> f, std::span<double> w, std::span<RowMode> modes);
  bool is_implied(int row);
  void write_answer(std::span<double> f, std::span<double> w, std::span<RowMode> modes) const;
  double doubtful_target(int i) const;
  void drop_targets();

  const FactoredLcp& lcp_;
  const LcpOptions& options_;
  BlockBuffers& buffers_;
  FactoredLcp free_;  // without targets
  const FactoredLcp* solving_ = &lcp_;
  const BlockGraph& graph_;
  LcpReport report_;
  std::span<const double> impulses_;  // given, unless they are to be ignored
  std::span<const double> f_, w_;     // the answer, in the buffers
  bool has_targets_ = false;          // that could be dropped
  bool contradicted_ = false;
  bool right_at_once_ = false;
  bool approached_ = false, followed_ = false, swept_ = false;
  // Left, in multiplications: of all, and for what takes longer.
  double work_ = 0, approach_work_ = 0, path_work_ = 0;
  double attempt_work_ = 0;
  int fewest_ = 0;  // violators of `best`
};

}  // namespace lithe::internal
