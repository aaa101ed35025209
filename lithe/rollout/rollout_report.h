#pragma once

#include <limits>
#include <string>
#include <vector>

#include "lithe/step/gradient_report.h"

namespace lithe {

// What the gradient of a rollout is: the GradientReports of its steps in one. A step counts under everything that is true
// of it; as `exact` count those for which nothing else is.
struct RolloutReport {
  int steps = 0;  // that were differentiated: all, or those before the one that diverged

  int exact = 0;      // the derivative of the step as computed, from both sides
  int bounced = 0;    // something bounced, and the derivative is the continuous motion's (GradientOptions::bounce)
  int heuristic = 0;  // complementarity-aware, and another classification than the step's won
  int one_sided = 0;  // tied: only a one-sided derivative exists, or none
  int unsolved = 0;   // no stage of the LCP solver met its tolerance: the derivative is that of the f it left

  std::vector<GradientMode> modes;  // of all T steps; `exact` for those after a diverged one

  // How far the nearest row of any step is from changing its mode (GradientReport::margin), and where that is.
  double margin = std::numeric_limits<double>::infinity();
  int margin_step = -1, margin_row = -1;
  double inconsistency = 0;  // the largest, and where
  int inconsistency_step = -1;
  LcpFlag flags = LcpFlag::none;  // of all steps together
  int relabelled_rows = 0;        // of all heuristic steps

  // The step in which numbers overflowed on the way forward, or −1. The model stands still from there on.
  int diverged_at = -1;
  // What flows back can overflow too, in long chaotic motions. It is then cut: the part of the loss that comes after step
  // `cut_at` is left out of everything before it. −1: nowhere. After several cuts: the earliest.
  int cut_at = -1;
  int cuts = 0;
  // The first state at which the loss or its gradient was not finite, or −1: that gradient counts as zero.
  int loss_overflow_at = -1;

  // Whether this is the derivative of the rollout as computed, every part of it.
  bool is_exact() const { return exact == steps && diverged_at < 0 && cuts == 0 && loss_overflow_at < 0; }

  void clear(int step_count);  // nothing is known of any step; keeps its memory
  void note(int t, const GradientReport& step);
};

// A line for people, such as "100 steps: 97 exact, 3 bounced; smallest margin 0.00021 at step 41, row 2".
std::string to_string(const RolloutReport& report);

}  // namespace lithe
