#pragma once

#include <limits>
#include <span>
#include <vector>

#include "lithe/lcp/direct/reduced_lcp.h"
#include "lithe/lcp/modes/mode_inverse.h"
#include "lithe/lcp/modes/path_events.h"

namespace lithe::internal {

// From the last step's impulses to this step's, on modes.
//
// Any admissible impulses f⁰, with the modes that they have by themselves, solve some ridge problem: that with b + p in b's
// place, for the p that makes w right. Between that problem and the one at hand lies a line, LCP(A + ε̄I, b + t p) with t from
// 1 to 0, and its solution is followed from event to event: a clamping row meets a bound, another one's velocity reaches
// zero. The row that has changed its mode must move into the new one, even if t has to rise for that; so it is Lemke's
// method with a start at hand, and only ties and rounding can make it cycle. As many events are to be expected as rows that
// change their mode from one step to the next, a few, and each costs O(n m).
class SolutionPath {
 public:
  struct Limits {
    int events = 0;
    double work = 0;                                      // multiply-adds, in all since start()
    int inversions = std::numeric_limits<int>::max();     // likewise
    ModeInverse::Form form = ModeInverse::Form::inverse;  // the first one
  };

  // At the impulses `f` (by row of the reduced problem), moved into their bounds.
  void start(const ReducedLcp& problem, double ridge, std::span<const double> f);
  // At t = 0 without a path: the impulses that these modes (consistent, by row of the reduced problem) have there, within their bounds or
  // not. False where the mode is singular.
  bool take_modes(const ReducedLcp& problem, double ridge, std::span<const RowMode> modes);
  // Projected Gauss–Seidel: gets rid of most of the changes that follow from signs of velocities alone.
  void sweep(int count);
  // What velocities lack for the impulses to be a solution as they are: the largest |p|, up to the ridge.
  double distance();
  // To t = 0. False where it did not get there: a ray, a singular mode, or the limits.
  bool follow(const Limits& limits);
  int events() const { return events_; }          // since start()
  int inversions() const { return inversions_; }  // and how often K⁻¹ was built anew

  // What follow() arrives at, or what take_modes() was given.
  std::span<const RowMode> modes() const { return modes_; }

  const double* f() const { return f_.data(); }  // padded
  // What the impulses change by so that the clamping rows' velocities, with the ridge, fall by `r` (padded, read there only). Padded; valid
  // until the next call.
  const double* answer_to(const double* r);
  // For Limits of a path that begins near these modes.
  ModeInverse::Form next_form() const { return inverse_.next_form(); }
  // Whether only the ridge makes the mode's matrix regular.
  bool is_redundant();

 private:
  const double* column(int i) const { return problem_->A().column(i); }
  const LcpRow& row(int i) const { return problem_->rows()[i]; }
  bool moves(int i) const { return problem_->diagonal(i) > 0; }
  bool slides(int i) const;
  double coupling(int i) const;
  void prepare(const ReducedLcp& problem, double ridge);
  void classify();
  void find_perturbation();
  bool build_inverse(ModeInverse::Form form);
  void fill_column(int row, double* out) const;
  void fill_row(int row, double* out) const;
  void find_direction();
  PathPoint point() const;
  bool change_mode(int row, RowMode next);
  bool update(int row, RowMode next);
  bool append(int row);
  bool remove(int row);
  bool slide(int row, double factor);
  bool is_fragile(int row) const;
  void set_bound_impulses();
  void push_bounded(double* f) const;
  void evaluate(const double* b);

  const ReducedLcp* problem_ = nullptr;
  double ridge_ = 0;
  int n_ = 0;
  std::vector<RowMode> modes_;
  std::vector<int> clamping_, place_;  // the rows in C, and where they are in K
  std::vector<int> tangents_;          // two per row, of normals; −1: none
  AlignedBuffer f_, w_, p_, df_, dw_;
  AlignedBuffer row_diagonal_;  // of A_R
  AlignedBuffer diagonal_;      // the same by place in K
  AlignedBuffer x_, u_, v_;     // workspace, by place in K
  PaddedMatrix K_;
  ModeInverse inverse_;
  double t_ = 1;
  int entering_ = -1;
  RowMode left_ = RowMode::clamping;  // the mode that the entering row had
  int events_ = 0, inversions_ = 0;
  double work_ = 0;
};

}  // namespace lithe::internal
