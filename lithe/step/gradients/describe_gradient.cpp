#include "lithe/step/gradients/describe_gradient.h"

#include <algorithm>
#include <cmath>

#include "lithe/contact/delassus.h"
#include "lithe/lcp/modes/lcp_sensitivity.h"
#include "lithe/simd/internal/packed_vectors.h"
#include "lithe/step/internal/recorded_stages.h"

namespace lithe::internal {

namespace {

// Above this inconsistency some motion breaks the classification at once, so that the derivative is one-sided.
constexpr double kInconsistent = 1e-6;
// 1/s: rows that change more slowly than that with the bodies' places are taken as constant.
constexpr double kNoRate = 1e-6;

// How many rows there are in each mode, and the rank of the clamping ones.
void count_modes(const ContactProblem& problem, const ModeResponse& response, GradientReport& report) {
  report.rows = static_cast<int>(problem.rows.size());
  for (int i = 0; i < report.rows; ++i) {
    switch (response.row_mode(i)) {
      case RowMode::clamping: ++report.clamping; break;
      case RowMode::separating: ++report.separating; break;
      case RowMode::at_lower:
      case RowMode::at_upper: ++(problem.rows[i].kind == RowKind::friction ? report.sliding : report.saturated); break;
    }
  }
  report.rank = response.rank();
}

// How far row i of an island, seen on its own, is from another mode.
double margin_of(const LcpRow& row, RowMode row_mode, std::span<const double> f, int i, double w, double a) {
  switch (row.kind) {
    case RowKind::two_sided: break;  // has no other mode
    case RowKind::one_sided: return row_mode == RowMode::clamping ? f[i] * a : w;
    case RowKind::friction:
    case RowKind::bounded: {
      if (row_mode == RowMode::separating) break;  // goes with its normal
      if (row_mode != RowMode::clamping) return std::abs(w);
      const RowBounds bounds = bounds_of(row, f);
      return std::min(f[i] - bounds.lower, bounds.upper - f[i]) * a;
    }
  }
  return std::numeric_limits<double>::infinity();
}

// The row that is nearest to another mode, and how near it is.
void find_margin(const StepRecord& record, GradientReport& report) {
  const ContactProblem& problem = problem_of(record);
  double least = report.margin;
  int least_row = report.margin_row;
  for (int k = 0; k < problem.island_count(); ++k) {
    if (problem.A_start[k] < 0 && !record.reports[k].solved()) continue;  // an approximate f: nothing to tell
    const Island& island = problem.islands.islands()[k];
    const auto f = std::span(record.f).subspan(island.first_row, island.row_count);
    for (int i = 0; i < island.row_count; ++i) {
      const int row = island.first_row + i;
      const double margin = std::max(0.0, margin_of(problem.rows[row], record.modes[row], f, i, record.w[row],
                                                    record.tape().problem.diagonal[row]));
      if (margin >= least) continue;
      least = margin;
      least_row = row;
    }
  }
  report.margin = least;
  report.margin_row = least_row;
}

// The share of the rows' forms that lies outside the range of Q, patch by patch. Q is orthonormal, so it is what Qᵀ leaves.
double inconsistency_of(const ContactProblem& problem, const ModeResponse& response, const LinearPoint& point) {
  double worst = 0;
  for (std::size_t p = 0; p < problem.patches.size(); ++p) {
    const Patch& patch = problem.patches[p];
    const Patch& compressed = response.patches()[p];
    int clamping = 0;
    for (int r = 0; r < patch.row_count; ++r) {
      clamping += response.row_mode(patch.first_row + r) == RowMode::clamping ? 1 : 0;
    }
    if (compressed.row_count == clamping) continue;
    const int columns = problem.touches.size_of(patch.touch_a) + problem.touches.size_of(patch.touch_b);
    const double* E = point.forms.rows.data() + patch.start;
    double total = 0;
    if (clamping == patch.row_count) {
      total = sum_of_squares(E, columns * patch.stride);
    } else {
      for (int r = 0; r < patch.row_count; ++r) {
        if (response.row_mode(patch.first_row + r) != RowMode::clamping) continue;
        for (int k = 0; k < columns; ++k) total += E[k * patch.stride + r] * E[k * patch.stride + r];
      }
    }
    const double* inside = point.compressed_forms.data() + compressed.start;
    const double share = total > 0 ? 1 - sum_of_squares(inside, columns * compressed.stride) / total : 0.0;
    if (share <= kInconsistent * kInconsistent) {
      worst = std::max(worst, share);
      continue;
    }
    // Where nothing moves and nothing is corrected both are rounding.
    const double* T = problem.coefficients.data() + patch.start;
    const double rates = sum_of_squares(T, columns * patch.stride);
    if (total > kNoRate * kNoRate * rates) worst = std::max(worst, share);
  }
  return std::sqrt(worst);
}

// The solver's flag says that there are some; finding out which is rare, and may take its time.
void find_tied_rows(const Model& model, const StepRecord& record, GradientReport& report) {
  if (!has(record.status.flags, LcpFlag::tied)) return;
  const ContactProblem problem = lcps_of(model, record);
  for (int k = 0; k < problem.island_count(); ++k) {
    const Island& island = problem.islands.islands()[k];
    if (!has(record.reports[k].flags, LcpFlag::tied) || island.row_count > record.options.lcp.direct_rows) continue;
    thread_local LcpSensitivity sensitivity;
    thread_local AlignedBuffer A;
    thread_local TouchProductWorkspace workspace;
    const auto part = [&](const auto& all) { return std::span(all).subspan(island.first_row, island.row_count); };
    sensitivity.compute(lcp_with_matrix(problem, k, A, workspace), part(record.modes), part(record.f),
                        record.reports[k].flags);
    for (const int i : sensitivity.tied()) report.tied_rows.push_back(island.first_row + i);
  }
}

}  // namespace

void describe_gradient(const Model& model, const StepRecord& record, const StepLinearization* linearization,
                       GradientReport& report) {
  std::vector<int> rows = std::move(report.tied_rows);  // its memory is kept
  rows.clear();
  report = {};
  report.tied_rows = std::move(rows);
  report.lcp_flags = record.status.flags;
  report.diverged = record.status.diverged;
  report.overflowed = !linearization && !report.diverged;
  if (!linearization || record.f.empty()) return;
  count_modes(problem_of(record), linearization->response, report);
  find_margin(record, report);
  report.null_space_term = linearization->response.has_null_term();
  report.inconsistency = inconsistency_of(problem_of(record), linearization->response, linearization->main);
  if (has(report.lcp_flags, LcpFlag::tied)) find_tied_rows(model, record, report);
  report.one_sided =
      !report.tied_rows.empty() || report.inconsistency > kInconsistent || linearization->main.forms.irregular;
}

}  // namespace lithe::internal
