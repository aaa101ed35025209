#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lithe/core/eigen.h"
#include "lithe/step/gradients/displaced_step.h"

namespace lithe::internal {

// The derivative at 0 of a vector function y of one number h, y(0) = 0, by differences. Used by finite_differences.cpp and
// gradcheck.cpp.
//
// A probe writes y(h) and says whether something else than a small change happened on the way:
//
//   ModeSwitch probe(double h, VecX& y)
//
// Memory is kept from one column to the next.
class ColumnDifference {
 public:
  static constexpr int kMostRows = 12;

  // What came of it: dy/dh, and (of Ridders' method) what each entry may still be wrong by.
  VecX value, error;
  ModeSwitch modes = ModeSwitch::none;  // what happened at the points that the value rests on
  double step = 0;                      // the largest step that it rests on
  int evaluations = 0;                  // of the probe, and how many of these switched
  int switched = 0;

  // Second order: (y(h) − y(−h))/2h, or (4y(h) − y(2h))/2h in one direction.
  template <class Probe>
  void central(Probe probe, int size, double h, Directions directions = Directions::both) {
    restart(size);
    error.setZero(size);
    step = h;
    if (directions == Directions::both) {
      const ModeSwitch forward = evaluate(probe, h, forward_);
      modes = forward | evaluate(probe, -h, backward_);
      value = (forward_ - backward_) / (2 * h);
    } else {
      const double s = directions == Directions::up ? h : -h;
      const ModeSwitch near = evaluate(probe, s, forward_);
      modes = near | evaluate(probe, 2 * s, backward_);
      value = (4 * forward_ - backward_) / (2 * s);
    }
  }

  // Differences at steps that are halved from row to row, extrapolated to zero (Ridders 1982; Neville's tableau, whose column
  // k cancels the error terms up to hᵏ or, in both directions, h²ᵏ); each entry is taken from where its neighbours in the
  // tableau agree best. Rows are added until the largest error is `goal` of the largest entry, or no entry gains. Where a
  // point switches, or where the entries do not settle, all begins anew with a step eight times smaller, down to `last_step`.
  template <class Probe>
  void ridders(Probe probe, int size, double first_step, double last_step, int rows, double goal,
               Directions directions = Directions::both) {
    restart(size);
    double settled = std::numeric_limits<double>::infinity();  // the best error so far, and its step
    double settled_step = 0;
    for (step = first_step; step >= last_step || step == first_step; step /= kRetreat) {
      const bool smooth = tabulate(probe, size, std::min(rows, kMostRows), goal, directions);
      if (!smooth && !std::isfinite(settled)) continue;
      const double unsettled = smooth ? relative_error() : std::numeric_limits<double>::infinity();
      if (unsettled >= settled) break;  // rounding has taken over
      if (unsettled <= kSettled) return;
      settled = unsettled;
      settled_step = step;
      best_value_ = value;
      best_error_ = error;
    }
    if (!std::isfinite(settled)) return;
    value = best_value_;
    error = best_error_;
    step = settled_step;
    modes = ModeSwitch::none;
  }

 private:
  static constexpr double kShrink = 2;
  static constexpr double kRetreat = 8;
  static constexpr double kSettled = 1e-9;  // of the largest entry

  double relative_error() const {
    if (value.size() == 0) return 0;
    const double largest = value.cwiseAbs().maxCoeff();
    return largest > 0 ? error.maxCoeff() / largest : error.maxCoeff();
  }

  void restart(int size) {
    evaluations = switched = 0;
    modes = ModeSwitch::none;
    forward_.resize(size);
    backward_.resize(size);
  }

  template <class Probe>
  ModeSwitch evaluate(Probe& probe, double h, VecX& y) {
    const ModeSwitch found = probe(h, y);
    ++evaluations;
    if (found != ModeSwitch::none) ++switched;
    return found;
  }

  // One difference quotient; returns what its points met. Of two points the second is not asked for if the first one switched.
  template <class Probe>
  ModeSwitch quotient(Probe& probe, double h, Directions directions, VecX& out) {
    const double s = directions == Directions::down ? -h : h;
    ModeSwitch found = evaluate(probe, s, forward_);
    out = forward_ / s;
    if (directions == Directions::both && found == ModeSwitch::none) {
      found = evaluate(probe, -s, backward_);
      out = (forward_ - backward_) / (2 * s);
    }
    return found;
  }

  // False if a point switched.
  template <class Probe>
  bool tabulate(Probe& probe, int size, int rows, double goal, Directions directions) {
    const double ratio = directions == Directions::both ? kShrink * kShrink : kShrink;
    error.setConstant(size, std::numeric_limits<double>::infinity());
    double h = step;
    for (int r = 0; r < rows; ++r, h /= kShrink) {
      // Rows take turns in two tableaus.
      auto& row = tableau_[r % 2];
      const auto& above = tableau_[(r + 1) % 2];
      modes = quotient(probe, h, directions, row[0]);
      if (r == 0 || modes != ModeSwitch::none) value = row[0];
      if (modes != ModeSwitch::none) return false;
      double factor = 1;
      bool improved = r < 2;
      for (int k = 1; k <= r; ++k) {
        factor *= ratio;
        row[k] = (factor * row[k - 1] - above[k - 1]) / (factor - 1);
        improved |= take_better(row[k], row[k - 1], above[k - 1]);
      }
      if (!improved || relative_error() <= goal) break;
    }
    return true;
  }

  // Entries whose neighbours in the tableau are closer than any before.
  bool take_better(const VecX& candidate, const VecX& left, const VecX& above) {
    bool improved = false;
    for (Eigen::Index i = 0; i < candidate.size(); ++i) {
      const double spread = std::max(std::abs(candidate[i] - left[i]), std::abs(candidate[i] - above[i]));
      if (!(spread < error[i])) continue;
      error[i] = spread;
      value[i] = candidate[i];
      improved = true;
    }
    return improved;
  }

  VecX forward_, backward_;
  VecX best_value_, best_error_;
  std::array<std::array<VecX, kMostRows>, 2> tableau_;
};

}  // namespace lithe::internal
