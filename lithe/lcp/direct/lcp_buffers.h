#pragma once

#include <cstdint>
#include <vector>

#include "lithe/lcp/block/solver.h"
#include "lithe/lcp/direct/follow_stage.h"
#include "lithe/lcp/direct/loop_stresses.h"
#include "lithe/lcp/direct/reduced_guess.h"
#include "lithe/lcp/direct/ridge_solution.h"
#include "lithe/lcp/modes/prepared_lcp.h"
#include "lithe/lcp/modes/tied_rows.h"
#include "lithe/lcp/pivoting/dantzig.h"
#include "lithe/lcp/pivoting/lemke_path.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe::internal {

struct LcpBuffers {
  PreparedLcp problem;
  LoopStresses stresses;
  ReducedGuess reduced_guess;
  FollowStage follow;
  RidgeSolution solution;
  LemkePath path;
  TiedRows tied;
  DantzigBuffers dantzig;
  std::vector<RowMode> modes;        // of the attempt
  std::vector<RowMode> right;        // the last ones found right
  std::vector<RowMode> after_guess;  // the guess, violators moved
  std::vector<double> w;             // of the attempt
  std::vector<double> f_polished, w_polished;
  std::vector<double> f_candidate, w_candidate, f_best;  // where nothing is solved
  std::vector<double> b_consistent;                      // b without what loops' targets contradict one another by
  std::vector<double> f_closed, b_closed, b_corrected;   // the answer, and b, of loops taken as closed
  std::vector<RowMode> modes_closed;
  AlignedBuffer A_exact;              // A with what loops imply implied exactly
  std::vector<double> b_free;         // b without targets that could be dropped
  std::vector<double> b_kept;         // b without those that were
  std::vector<std::uint8_t> dropped;  // by row: its target was
  std::vector<RowMode> first_guess;   // where none is given
  BlockBuffers blocks;                // of factored problems
};

}  // namespace lithe::internal
