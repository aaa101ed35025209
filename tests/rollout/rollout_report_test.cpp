#include "lithe/rollout/rollout_report.h"

#include <gtest/gtest.h>

namespace lithe::test {
namespace {

TEST(RolloutReport, CountsAStepUnderAllThatIsTrueOfIt) {
  RolloutReport report;
  report.clear(6);
  GradientReport step;
  step.margin = 0.5;
  step.margin_row = 3;
  report.note(5, step);
  step = {};
  step.mode = GradientMode::bounce_mass_metric;
  step.one_sided = true;
  step.margin = 0.01;
  step.margin_row = 7;
  report.note(4, step);
  step = {};
  step.mode = GradientMode::complementarity_aware;
  step.relabelled_rows = 2;
  report.note(3, step);
  step = {};
  step.lcp_flags = LcpFlag::unsolved | LcpFlag::tied;
  report.note(2, step);
  step = {};
  step.mode = GradientMode::bounce_paper;
  step.inconsistency = 1e-3;
  report.note(1, step);
  report.note(0, {});

  EXPECT_EQ(report.steps, 6);
  EXPECT_EQ(report.exact, 2);
  EXPECT_EQ(report.bounced, 2);
  EXPECT_EQ(report.heuristic, 1);
  EXPECT_EQ(report.one_sided, 1);
  EXPECT_EQ(report.unsolved, 1);
  EXPECT_EQ(report.relabelled_rows, 2);
  EXPECT_EQ(report.margin, 0.01);
  EXPECT_EQ(report.margin_step, 4);
  EXPECT_EQ(report.margin_row, 7);
  EXPECT_EQ(report.inconsistency, 1e-3);
  EXPECT_EQ(report.inconsistency_step, 1);
  EXPECT_EQ(report.flags, LcpFlag::unsolved | LcpFlag::tied);
  EXPECT_FALSE(report.is_exact());
  using enum GradientMode;
  EXPECT_EQ(report.modes, (std::vector{exact, bounce_paper, exact, complementarity_aware, bounce_mass_metric, exact}));
  EXPECT_EQ(to_string(report),
            "6 steps: 2 exact, 2 bounced, 1 heuristic, 1 one-sided, 1 unsolved; smallest margin 0.01 at step 4, row 7");
}

TEST(RolloutReport, StartsAnew) {
  RolloutReport report;
  report.clear(3);
  GradientReport bounce;
  bounce.mode = GradientMode::bounce_paper;
  report.note(1, bounce);
  report.diverged_at = 2;
  report.clear(2);
  EXPECT_EQ(report.steps, 0);
  EXPECT_EQ(report.bounced, 0);
  EXPECT_EQ(report.diverged_at, -1);
  EXPECT_EQ(report.modes, std::vector(2, GradientMode::exact));
  report.note(0, {});
  report.note(1, {});
  EXPECT_TRUE(report.is_exact());
  EXPECT_EQ(to_string(report), "2 steps: 2 exact");
}

TEST(RolloutReport, SaysWhereThingsWentWrong) {
  RolloutReport report;
  report.clear(9);
  report.diverged_at = 8;
  report.cuts = 1;
  report.cut_at = 4;
  report.loss_overflow_at = 7;
  EXPECT_FALSE(report.is_exact());
  EXPECT_EQ(to_string(report),
            "0 steps: 0 exact; diverged at step 8; the gradient overflowed and was cut at step 4; the loss was not "
            "finite at state 7");
}

}  // namespace
}  // namespace lithe::test
