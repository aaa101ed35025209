#pragma once

#include <limits>
#include <span>
#include <vector>

#include "lithe/lcp/direct/rank_polish.h"
#include "lithe/lcp/direct/reduced_lcp.h"
#include "lithe/lcp/direct/solution_path.h"
#include "lithe/lcp/direct/swept_start.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe::internal {

// The stage of the direct solver for problems that follow one another: from the last step's impulses to this step's
// (solution_path.h), on the rows that decide something (reduced_lcp.h), verified and polished with the inverse at hand.
//
// What it accepts is what the other stages accept: modes that are right for the ridge problem by the tolerances of
// active_set.h, and impulses of the polished solution, f_C = −A_C# b_C. Where it is not sure of that it says so, and its modes
// are a good guess for a stage that is.
class FollowStage {
 public:
  enum class Outcome {
    solved,         // f, w and modes are the answer
    modes,          // modes are likely to be right
    contradiction,  // targets push against one another: without them the impulses are a hundred times smaller
    failed,
  };

  // `guess`: the last step's modes and impulses, by row. `b_free` is b without the targets that may contradict one another; empty where
  // there are none.
  Outcome run(const PreparedLcp& problem, const LoopStresses& stresses, const LcpGuess& guess,
              std::span<const double> b_free);

  std::span<const RowMode> modes() const { return modes_; }
  std::span<const double> f() const { return f_; }
  std::span<const double> w() const { return w_; }
  // After a contradiction: impulses that move nothing, with which targets push against one another.
  std::span<const double> stress() const { return stress_; }
  double residual() const { return residual_; }
  bool is_polished() const { return is_polished_; }  // else f is the better one of the ridge's and the polished
  int tied_rows() const { return tied_rows_; }       // in loops; without, none are tied where it has answered
  bool has_kinks() const { return has_kinks_; }      // some are not implied by clamping rows
  bool took_guess() const { return took_guess_; }    // the modes are the guess as it was
  double epsilon() const { return epsilon_; }        // of the ridge problem, of mean(diag A)
  int events() const { return events_; }
  int inversions() const { return inversions_; }

 private:
  Outcome run_in_loops(const PreparedLcp& problem, const LcpGuess& guess, std::span<const double> b_free);
  Outcome run_ahead(const PreparedLcp& problem, const LcpGuess& guess, std::span<const double> b_free);
  void choose_eliminated(const PreparedLcp& problem, std::span<const double> impulses);
  void set_roles(const PreparedLcp& problem);
  bool keep_all();
  bool keep_misjudged(const PreparedLcp& problem);
  void reduce(const PreparedLcp& problem, double epsilon);
  bool settle_nearby(const PreparedLcp& problem, const LcpGuess& guess);
  bool is_near(const PreparedLcp& problem, std::span<const double> impulses);
  bool is_settled(const PreparedLcp& problem);
  Outcome climb(const PreparedLcp& problem, std::span<const double> impulses, std::span<const double> b_free);
  bool follow(const PreparedLcp& problem, std::span<const double> impulses);
  bool follow_softly(const PreparedLcp& problem, int sweeps);
  bool follow_from(std::span<const double> start, int sweeps, int events,
                   ModeInverse::Form form = ModeInverse::Form::inverse,
                   int inversions = std::numeric_limits<int>::max());
  int few_events() const { return 30 + reduced_.size() / 2; }
  // Without loops one path in three hundred takes more than half as many as there are rows, and other stages are at hand.
  int many_events() const { return has_loops() ? 50 + 2 * reduced_.size() : 20 + 3 * reduced_.size() / 2; }
  bool find_impulses(const PreparedLcp& problem);
  void write_modes(const PreparedLcp& problem);
  bool refine(const PreparedLcp& problem, double goal, double enough);
  void find_error(const PreparedLcp& problem, double ridge);
  template <class Visit>
  void for_each_clamping_row(Visit visit) const;
  void find_correction();
  void correct(std::span<double> f);
  bool keep_saturated(const PreparedLcp& problem);
  bool targets_push(const PreparedLcp& problem, double largest, std::span<const double> b_free);
  Outcome verify(const PreparedLcp& problem, bool bends);
  void take_better(const PreparedLcp& problem);
  bool is_final() const;
  bool settle_ties(const PreparedLcp& problem);
  bool is_implied(const PreparedLcp& problem, int i);
  double response_left(const PreparedLcp& problem, int row);
  double response_left_by_others(const PreparedLcp& problem, int row);
  double violation(const PreparedLcp& problem);
  bool polish(const PreparedLcp& problem);
  void find_stress();
  bool remove_stress();
  bool has_loops() const;

  const LoopStresses* stresses_ = nullptr;
  SweptStart swept_;
  std::vector<RowRole> roles_;
  std::vector<RowMode> constant_modes_;  // of rows whose impulses are constant
  std::vector<int> pushing_;             // those of them whose impulse is not zero
  AlignedBuffer b_constant_;             // b with what these push
  std::span<const double> b_;            // b of the rows that are not constant
  std::vector<std::uint8_t> keep_;
  ReducedLcp reduced_;
  SolutionPath path_;
  RankPolish rank_polish_;                                              // of redundant modes without loops
  std::vector<double> start_, swept_start_, soft_start_, guess_start_;  // by row of the reduced problem
  std::vector<RowMode> guess_, rest_guess_;                             // by row of the problem, and of the reduced one
  std::vector<RowMode> modes_, moved_;
  std::vector<double> f_, w_, f_ridge_, f_free_, stress_;
  std::vector<double> r_, correction_;
  AlignedBuffer r_R_;
  double residual_ = 0, polished_residual_ = 0;
  double epsilon_ = 0, ridge_ = 0;  // of the problem at hand: ε, and ε̄
  double reduced_with_ = 0;         // the ε of reduced_; 0: it is to be made
  double compared_with_ = 0;        // the ε that is_near_ is known for
  bool is_near_ = false;            // the last impulses are almost a solution
  bool is_polished_ = false, took_guess_ = false, has_guess_start_ = false, has_kinks_ = false;
  int tied_rows_ = 0;
  int events_ = 0, inversions_ = 0;
};

}  // namespace lithe::internal
