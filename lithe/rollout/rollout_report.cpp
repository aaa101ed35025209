#include "lithe/rollout/rollout_report.h"

#include <fmt/format.h>

#include <iterator>

namespace lithe {

void RolloutReport::clear(int step_count) {
  std::vector<GradientMode> memory = std::move(modes);
  *this = {};
  modes = std::move(memory);
  modes.assign(step_count, GradientMode::exact);
}

void RolloutReport::note(int t, const GradientReport& step) {
  ++steps;
  modes[t] = step.mode;
  const bool is_bounce = step.mode == GradientMode::bounce_mass_metric || step.mode == GradientMode::bounce_paper;
  const bool is_heuristic = step.mode == GradientMode::complementarity_aware;
  const bool is_unsolved = has(step.lcp_flags, LcpFlag::unsolved);
  if (is_bounce) ++bounced;
  if (is_heuristic) {
    ++heuristic;
    relabelled_rows += step.relabelled_rows;
  }
  if (step.one_sided) ++one_sided;
  if (is_unsolved) ++unsolved;
  if (!is_bounce && !is_heuristic && !step.one_sided && !is_unsolved) ++exact;
  flags = flags | step.lcp_flags;
  if (step.margin < margin) {
    margin = step.margin;
    margin_step = t;
    margin_row = step.margin_row;
  }
  if (step.inconsistency > inconsistency) {
    inconsistency = step.inconsistency;
    inconsistency_step = t;
  }
}

std::string to_string(const RolloutReport& report) {
  std::string text = fmt::format("{} steps: {} exact", report.steps, report.exact);
  const auto add = [&](int count, const char* what) {
    if (count > 0) fmt::format_to(std::back_inserter(text), ", {} {}", count, what);
  };
  add(report.bounced, "bounced");
  add(report.heuristic, "heuristic");
  add(report.one_sided, "one-sided");
  add(report.unsolved, "unsolved");
  if (report.margin_step >= 0) {
    fmt::format_to(std::back_inserter(text), "; smallest margin {:.2g} at step {}, row {}", report.margin,
                   report.margin_step, report.margin_row);
  }
  const auto add_place = [&](int place, const char* what) {
    if (place >= 0) fmt::format_to(std::back_inserter(text), "; {} {}", what, place);
  };
  add_place(report.diverged_at, "diverged at step");
  add_place(report.cut_at, "the gradient overflowed and was cut at step");
  add_place(report.loss_overflow_at, "the loss was not finite at state");
  return text;
}

}  // namespace lithe
