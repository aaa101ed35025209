#include "lithe/optimize/solve.h"

#include "lithe/optimize/solvers/wall_clock.h"

namespace lithe {

using namespace internal;

const char* to_string(StopReason reason) {
  switch (reason) {
    case StopReason::converged: return "converged";
    case StopReason::saddle: return "saddle";
    case StopReason::stalled: return "stalled";
    case StopReason::infeasible: return "infeasible";
    case StopReason::iteration_limit: return "iteration_limit";
    case StopReason::time_limit: return "time_limit";
    case StopReason::interrupted: return "interrupted";
  }
  return "unknown";
}

SolveLog::SolveLog(const SolveOptions& options) : options_(options), start_(wall_clock()) {}

double SolveLog::seconds() const { return wall_clock() - start_; }

int SolveLog::iterations() const { return history_.empty() ? 0 : history_.back().iteration; }

bool SolveLog::note(Progress progress) {
  progress.seconds = seconds();
  history_.push_back(progress);
  const auto stop = [&](StopReason reason) {
    if (!exhausted_) reason_ = reason;
    exhausted_ = true;
  };
  // Where several reasons hold at once, the first of these is the one that is told.
  if (options_.progress && !options_.progress(progress)) stop(StopReason::interrupted);
  if (progress.iteration >= options_.max_iterations) stop(StopReason::iteration_limit);
  if (progress.seconds >= options_.max_seconds) stop(StopReason::time_limit);
  return !exhausted_;
}

}  // namespace lithe
