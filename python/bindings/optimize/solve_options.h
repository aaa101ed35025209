#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "lithe/optimize/ddp.h"
#include "python/bindings/optimize/optimize_arguments.h"
#include "python/bindings/step/gradient_arguments.h"

namespace lithe::python {

using ProgressIn = std::optional<nb::typed<nb::callable, std::optional<bool>(const Progress&)>>;

// What all solvers are told, as it comes from Python. `progress` must last as long as the options that it is written
// to.
struct CommonOptions {
  int max_iterations;
  std::optional<double> max_seconds;
  double tolerance, feasibility;
  int threads;
  const std::optional<GradientOptions>& gradient;
  const ProgressIn& progress;

  void write(SolveOptions& out, std::shared_ptr<CallState> state) const {
    out.max_iterations = max_iterations;
    out.max_seconds = max_seconds.value_or(std::numeric_limits<double>::infinity());
    out.tolerance = tolerance;
    out.feasibility = feasibility;
    out.threads = threads;
    out.gradient = gradient_options(gradient);
    out.progress = progress_of(progress ? nb::handle(*progress) : nb::handle(), std::move(state));
  }
};

inline DdpOptions ddp_options(double initial_regularization, double largest_regularization, int line_search,
                              bool gains) {
  DdpOptions options;
  options.initial_regularization = initial_regularization;
  options.largest_regularization = largest_regularization;
  options.line_search = line_search;
  options.gains = gains;
  return options;
}

}  // namespace lithe::python
