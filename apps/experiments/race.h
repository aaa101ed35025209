#pragma once

#include <string>
#include <vector>

#include "apps/experiments/experiment.h"

namespace lithe::experiments {

// Solvers of one problem from one start, compared by the cost they have reached after so many seconds.
struct Runner {
  std::string label;
  Solution solution;
};

// The first time at which the best cost so far is at most `level`; infinite: never.
double seconds_to(const Solution& solution, double level);

// Cost over seconds, each curve the best so far. Costs are shown above `floor` on a logarithmic axis.
Figure race_figure(const std::string& title, const std::vector<Runner>& runners, double floor = 0);

// Passes a solver's progress on to whoever watches the experiment.
std::function<bool(const Progress&)> reporting(const ExperimentOptions& options, const std::string& who);

// "within 1 %": how much sooner `first` gets there than `second`. The level is 1 % of the way above the best final cost.
struct Lead {
  double level = 0;
  double first = 0, second = 0;  // seconds; of one that never gets there, how long it tried
  bool second_arrived = false;
  double factor() const { return second / first; }
};
Lead lead(const Solution& first, const Solution& second);

}  // namespace lithe::experiments
