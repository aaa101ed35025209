#include "apps/experiments/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "apps/experiments/recorded_motion.h"
#include "lithe/core/check.h"
#include "lithe/core/version.h"

namespace lithe::experiments {

std::string summary(const ExperimentReport& report) {
  std::string text = fmt::format("{} ({:.1f} s)\n", report.title, report.seconds);
  for (const Finding& finding : report.findings) {
    text += fmt::format("  {}  {}: {} (wanted: {})\n", finding.reached ? "reached" : "MISSED ", finding.what,
                        finding.found, finding.wanted);
  }
  return text;
}

std::string markdown(std::span<const ExperimentReport> reports, const ExperimentOptions& options) {
  std::string text =
      fmt::format("# Experiments\n\nlithe {}, {} thread(s), seed {}{}. `lithe experiments` makes this report.\n",
                  kVersion, options.threads, options.seed, options.quick ? ", the short version" : "");
  for (const ExperimentReport& report : reports) {
    text +=
        fmt::format("\n## {}\n\n{}\n\n| to show | wanted | found | |\n|---|---|---|---|\n", report.title, report.text);
    for (const Finding& finding : report.findings) {
      text += fmt::format("| {} | {} | {} | {} |\n", finding.what, finding.wanted, finding.found,
                          finding.reached ? "reached" : "**missed**");
    }
    for (const NamedFigure& figure : report.figures)
      text += fmt::format("\n![{}]({}.svg)\n", report.title, figure.name);
    for (const NamedMotion& motion : report.motions)
      text += fmt::format("\nMotion: [{0}.lithe]({0}.lithe)\n", motion.name);
  }
  return text;
}

void write_reports(std::span<const ExperimentReport> reports, const ExperimentOptions& options,
                   const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  LITHE_CHECK(!error, "cannot make the folder '{}': {}", folder, error.message());
  for (const ExperimentReport& report : reports) {
    for (const NamedFigure& figure : report.figures) write_svg(figure.figure, folder + "/" + figure.name + ".svg");
    for (const NamedMotion& motion : report.motions) {
      write_recording(folder + "/" + motion.name + ".lithe",
                      recording_header(motion.model, motion.name, motion.time_step), motion.frames);
    }
  }
  const std::string path = folder + "/report.md";
  std::ofstream file(path);
  file << markdown(reports, options);
  file.close();
  LITHE_CHECK(file.good(), "cannot write '{}'", path);
}

}  // namespace lithe::experiments
