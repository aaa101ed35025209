#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "apps/experiments/report.h"
#include "lithe/core/check.h"
#include "lithe/recording/recording_reader.h"

namespace lithe::experiments {
namespace {

// The short version of every experiment shows what the long one is to show. Machines are loaded when tests run, and a race of two
// solvers by the clock is then a matter of chance: such findings are judged by `lithe experiments`.
class ShortExperiments : public testing::TestWithParam<std::string> {};

TEST_P(ShortExperiments, ShowWhatTheyShould) {
  const ExperimentReport report = run(experiment(GetParam()), {.quick = true, .threads = 2, .seed = 1});
  int judged = 0;
  for (const Finding& finding : report.findings) {
    if (finding.by_the_clock) continue;
    ++judged;
    EXPECT_TRUE(finding.reached) << finding.what << ": " << finding.found << ", wanted " << finding.wanted;
  }
  EXPECT_GE(judged, 1);
  ASSERT_FALSE(report.figures.empty());
  EXPECT_NE(svg(report.figures[0].figure).find("</svg>"), std::string::npos);
  EXPECT_FALSE(report.text.empty());
}

INSTANTIATE_TEST_SUITE_P(All, ShortExperiments,
                         testing::Values("cartpole", "double_cartpole", "catapult", "jump_worm", "drone", "humanoid",
                                         "identification"),
                         [](const auto& instance) { return instance.param; });

TEST(Experiments, KnowTheirNames) {
  EXPECT_EQ(all_experiments().size(), 7u);
  EXPECT_THROW(experiment("pogo"), Error);
}

TEST(Experiments, StopWhenToldTo) {
  int said = 0;
  const ExperimentReport report =
      run(experiment("cartpole"), {.quick = true, .say = [&](const std::string&) { return ++said < 3; }});
  EXPECT_LT(report.seconds, 30);
  EXPECT_GE(said, 3);
}

TEST(Experiments, WriteAReportWithFiguresAndMotions) {
  const auto folder = std::filesystem::temp_directory_path() / ("lithe_experiments_" + std::to_string(getpid()));
  const ExperimentOptions options = {.quick = true};
  const std::vector<ExperimentReport> reports = {run(experiment("drone"), options)};
  write_reports(reports, options, folder.string());
  std::stringstream text;
  text << std::ifstream(folder / "report.md").rdbuf();
  EXPECT_NE(text.str().find("## Drone"), std::string::npos);
  EXPECT_NE(text.str().find("drone.svg"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder / "drone.svg"));
  const Recording motion = read_recording((folder / "drone.lithe").string());
  EXPECT_EQ(motion.header.title, "drone");
  ASSERT_EQ(motion.frames.size(), 501u);
  EXPECT_EQ(motion.frames.front().contacts.size(), 1u);  // with the ground
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(motion.frames[static_cast<std::size_t>(i)].has_controls()) << i;
  std::filesystem::remove_all(folder);
  EXPECT_THROW(write_reports(reports, options, "/dev/null/nowhere"), Error);
}

}  // namespace
}  // namespace lithe::experiments
