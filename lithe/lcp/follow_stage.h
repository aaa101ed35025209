#pragma once

#include <span>
#include <vector>

#include "lithe/lcp/rank_polish.h"
#include "lithe/lcp/reduced_lcp.h"
#include "lithe/lcp/solution_path.h"

namespace lithe {

// The stage of the direct solver for problems that follow one another: from the last step's impulses to this step's
// (solution_path.h), on the rows that decide something (reduced_lcp.h), verified and polished with the inverse at hand.
//
// What it accepts is what the other stages accept: classes that are right for the ridge problem by the tolerances of
// active_set.h, and impulses of the polished solution, f_C = −A_C# b_C. Where it is not sure of that it says so, and its classes
// are a good guess for a stage that is.
class FollowStage {
 public:
  enum class Outcome {
    solved,         // f, w and classes are the answer
    classes,        // classes are likely to be right
    contradiction,  // targets push against one another: without them the impulses are a hundred times smaller
    failed,
  };

  // `guess` and `impulses`: the last step's, by row. `b_free` is b without the targets that may contradict one another; empty where
  // there are none.
  Outcome run(const PreparedLcp& problem, const LoopStresses& stresses, std::span<const RowClass> guess,
              std::span<const double> impulses, std::span<const double> b_free);

  std::span<const RowClass> classes() const { return classes_; }
  std::span<const double> f() const { return f_; }
  std::span<const double> w() const { return w_; }
  // After a contradiction: impulses that move nothing, with which targets push against one another.
  std::span<const double> stress() const { return stress_; }
  double residual() const { return residual_; }
  bool is_polished() const { return is_polished_; }  // else f is the better one of the ridge's and the polished
  double epsilon() const { return epsilon_; }        // of the ridge problem, of mean(diag A)
  int events() const { return events_; }
  int inversions() const { return inversions_; }

 private:
  void choose_eliminated(const PreparedLcp& problem, std::span<const RowClass> guess, std::span<const double> impulses);
  Outcome climb(const PreparedLcp& problem, std::span<const RowClass> guess, std::span<const double> b_free);
  bool follow(const PreparedLcp& problem, double ridge, bool first, std::span<const RowClass> guess);
  void find_error(const PreparedLcp& problem, double ridge);
  template <class Visit>
  void for_each_clamping_row(Visit visit) const;
  void find_correction();
  void correct(std::span<double> f);
  double response_left(const PreparedLcp& problem, double ridge, int row);
  bool refine(const PreparedLcp& problem, double ridge, double goal, double enough);
  bool has_kinks(const PreparedLcp& problem, double ridge);
  void write_classes(const PreparedLcp& problem);
  bool keep_saturated(const PreparedLcp& problem);
  Outcome verify(const PreparedLcp& problem, double ridge, bool bends);
  double violation(const PreparedLcp& problem);
  bool targets_push(const PreparedLcp& problem, double ridge, double largest, std::span<const double> b_free);
  bool polish(const PreparedLcp& problem, double ridge);
  void find_stress(double ridge);
  bool remove_stress(double ridge);
  bool has_loops(const PreparedLcp& problem) const;

  const LoopStresses* stresses_ = nullptr;
  std::vector<std::uint8_t> eliminate_, keep_;
  ReducedLcp reduced_;
  SolutionPath path_;
  RankPolish rank_polish_;  // of redundant classes without loops
  std::vector<double> start_, swept_start_;
  std::vector<RowClass> classes_, moved_;
  std::vector<double> f_, w_, f_ridge_, f_free_, stress_;
  std::vector<double> r_, correction_;
  AlignedBuffer r_R_;
  double residual_ = 0, polished_residual_ = 0, epsilon_ = 0;
  bool is_polished_ = false;
  int events_ = 0, inversions_ = 0;
};

}  // namespace lithe
