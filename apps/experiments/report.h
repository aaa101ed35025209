#pragma once

#include <span>
#include <string>

#include "apps/experiments/experiment.h"

namespace lithe::experiments {

// A table of findings for a terminal.
std::string summary(const ExperimentReport& report);

// The same as Markdown: one chapter per experiment, figures as links to their files.
std::string markdown(std::span<const ExperimentReport> reports, const ExperimentOptions& options);

// report.md, the figures (SVG) and the motions (docs/recording.md) into a folder, which is made where there is none. An Error names the
// file that cannot be written.
void write_reports(std::span<const ExperimentReport> reports, const ExperimentOptions& options,
                   const std::string& folder);

}  // namespace lithe::experiments
