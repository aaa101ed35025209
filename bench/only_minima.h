#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace lithe::bench {

// A reporter that leaves out Google Benchmark's other statistics: noise only ever adds, so what tells of the code is
// the minimum, and results that people keep and compare stay short. Runs without repetitions pass unchanged.
template <class Reporter>
class OnlyMinima : public Reporter {
 public:
  using Reporter::Reporter;
  using Run = ::benchmark::BenchmarkReporter::Run;

  static double minimum(const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); }

  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> minima;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(minima),
                 [](const Run& run) { return run.aggregate_name == "min"; });
    Reporter::ReportRuns(minima.empty() ? runs : minima);
  }
};

}  // namespace lithe::bench
