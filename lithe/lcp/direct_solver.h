#pragma once

#include "lithe/lcp/lcp_buffers.h"

namespace lithe {

// The pipeline of solve_lcp() for LcpMethod::direct.
//
// Friction makes the problem non-convex and redundant rows make its impulses ambiguous, so the solution is *defined* by
// the ridge problem LCP(A + ε̄I, b), ε̄ = ε·mean(diag A): its classes, polished on A itself. That removes
// inconsistent classes, arbitrary splits among redundant rows, and dependence on the guess and on the rows' order.
//
//   guess        the given classes, verified on the ridge problem with ε = 1e-9
//   active set   all violators change their class at once; at most twelve rounds, no classes twice
//   path         Lemke's method on classes (class_path.h)
//   ladder       while the ridge bends w by more than 1e-6 of the velocity scale: the same with ε/100, down to 1e-13
//   polish       f_C = −A# (b_C + A_C0 f₀), kept if residual() ≤ 1e-9; else this or the ridge's f, which is better, if ≤ 1e-5
//   targets      where that fails, again without positive targets of one-sided rows and without those of two-sided rows
//
// A solution exists whenever no impulses f ≠ 0 within the friction cones have Jᵀf = 0 and targetᵀf > 0; so without
// targets there is always one.
class DirectSolver {
 public:
  DirectSolver(const BoxedLcp& lcp, const LcpOptions& options, LcpWorkspace::Buffers& buffers)
      : lcp_(lcp), options_(options), buffers_(buffers) {}

  // buffers.problem has been prepared from lcp.
  LcpReport solve(std::span<const RowClass> guess, std::span<double> f, std::span<double> w,
                  std::span<RowClass> classes);

 private:
  bool solve_prepared(std::span<const RowClass> guess);
  bool try_guess(std::span<const RowClass> guess);
  bool rest();
  bool climb_ladder(bool warm);
  bool find_classes(double epsilon, bool warm);
  bool settle(double epsilon);
  int attempt(double epsilon);
  bool bends() const;
  bool seen_before();
  bool finish();
  double polish();
  bool without_targets();
  void remember(std::span<const double> f);
  void write_unsolved(std::span<double> f, std::span<double> w, std::span<RowClass> classes);

  const BoxedLcp& lcp_;
  const LcpOptions& options_;
  LcpWorkspace::Buffers& buffers_;
  LcpReport report_;
  std::span<const double> f_;  // the answer, in the buffers
  std::span<const double> w_;
  double best_residual_ = LcpRow::kInfinity;
};

}  // namespace lithe
