#pragma once

#include "lithe/lcp/direct/lcp_buffers.h"
#include "lithe/lcp/modes/tolerances.h"

namespace lithe::internal {

// The pipeline of solve_lcp() for LcpMethod::direct.
//
// Friction makes the problem non-convex and redundant rows make its impulses ambiguous, so the solution is *defined* by
// the ridge problem LCP(A + ε̄I, b), ε̄ = ε·mean(diag A): its modes, polished on A itself. That removes
// inconsistent modes, arbitrary splits among redundant rows, and dependence on the guess and on the rows' order.
//
//   loops        of what two-sided rows ask for, only that which they can have together (loop_stresses.h); loops count as closed if they
//                almost are, unless the answer shows that it matters
//   guess        the given modes, verified on the ridge problem with ε = 1e-9, if they were right the last time; where there are
//                many motors without their rows (reduced_guess.h)
//   follow       the solution of the given impulses, followed to this one (follow_stage.h)
//   active set   all violators change their mode at once, at most twelve times, as long as they get fewer
//   path         Lemke's method on modes (lemke_path.h)
//   polish       f_C = −A# (b_C + A_C0 f₀), if residual() ≤ 1e-9
//   continuation  else, while the ridge bends w by more than 1e-6 of the velocity scale: the same with ε/100, down to 1e-13
//   unpolished   else the ridge's f or the polished one, which is better, if residual() ≤ 1e-5
//   targets      where that fails, again without positive targets of one-sided rows and without those of two-sided rows; where
//                `follow` has found which of them contradict one another, without these first
//   sweeps       where that fails, too, Gauss–Seidel; the modes of what it finds are polished as a guess is
//
// A solution exists whenever no impulses f ≠ 0 within the friction cones have Jᵀf = 0 and targetᵀf > 0; so without
// targets there is always one.
class DirectSolver {
 public:
  DirectSolver(const BoxedLcp& lcp, const LcpOptions& options, LcpBuffers& buffers)
      : lcp_(lcp), options_(options), buffers_(buffers) {}

  // buffers.problem has been prepared from lcp.
  LcpReport solve(const LcpGuess& guess, std::span<double> f, std::span<double> w, std::span<RowMode> modes);

 private:
  bool solve_with_targets(const LcpGuess& guess);
  bool holds_as_given();
  bool close_by_correction();
  void make_loops_consistent();
  bool solve_prepared(const LcpGuess& guess);
  bool has_loops() const { return !buffers_.stresses.rows().empty(); }
  bool is_told_at_once(const LcpGuess& guess) const;
  void take_first_modes(bool guessed);
  FollowStage::Outcome follow(const LcpGuess& guess);
  double first_level(const LcpGuess& guess) const;
  bool try_guess(const LcpGuess& guess);
  bool try_whole_guess(std::span<const RowMode> guess, double first_ridge);
  bool take_at_bounds();
  bool polish_modes(std::span<const RowMode> modes);
  bool rest();
  bool run_continuation(bool warm, std::uint64_t seed);
  bool find_modes(double epsilon, bool warm, std::uint64_t seed);
  bool settle(double epsilon);
  int attempt(double epsilon);
  void find_velocities(std::span<const double> f, std::span<double> w) const;
  bool bends() const;
  using Refinement = void (RidgeSolution::*)(const PreparedLcp&, std::span<const RowMode>, std::span<const double>,
                                             std::span<double>);
  bool take_polished();
  bool take_almost_polished();
  bool refine(Refinement improve);
  bool take_best();
  void choose_at_ties(std::span<double> f, std::span<double> w, std::span<RowMode> modes);
  void write_answer(std::span<double> f, std::span<double> w, std::span<RowMode> modes) const;
  double doubtful_target(int i) const;
  bool find_targets();
  bool mark_targets_out_of_reach();
  void drop_targets(bool contradicting_only);
  void leave_dropped_targets();
  void remember(std::span<const double> f);
  void write_least_residual(std::span<double> f, std::span<double> w, std::span<RowMode> modes);

  const BoxedLcp& lcp_;
  const LcpOptions& options_;
  LcpBuffers& buffers_;
  LcpReport report_;
  double implied_share_ = kImpliedByLoops;
  std::span<const double> f_;  // the answer, in the buffers
  std::span<const double> w_;
  bool has_targets_ = false;       // that could be dropped
  bool contradiction_ = false;     // among targets, shown by the impulses of `follow`
  bool ties_are_settled_ = false;  // by the stage that has answered
  double best_residual_ = LcpRow::kInfinity;
};

}  // namespace lithe::internal
