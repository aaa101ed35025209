#include "lithe/step/finite_differences.h"

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/step/gradients/column_difference.h"
#include "lithe/step/gradients/displaced_step.h"

namespace lithe {

using namespace internal;

struct DifferenceWorkspace::Buffers {
  DisplacedStep displaced;
  ColumnDifference column;
};

DifferenceWorkspace::DifferenceWorkspace() : buffers_(std::make_unique<Buffers>()) {}
DifferenceWorkspace::~DifferenceWorkspace() = default;
DifferenceWorkspace::DifferenceWorkspace(DifferenceWorkspace&&) noexcept = default;
DifferenceWorkspace& DifferenceWorkspace::operator=(DifferenceWorkspace&&) noexcept = default;

DifferenceWorkspace::Buffers& DifferenceWorkspace::buffers() {
  if (!buffers_) buffers_ = std::make_unique<Buffers>();  // it was moved from
  return *buffers_;
}

namespace {

// Ridders' steps stop shrinking where rounding has taken half of the digits, and its rows where these are good.
constexpr double kSmallestStep = 1e-8;
constexpr double kGoal = 1e-9;

void check_options(const DifferenceOptions& options) {
  LITHE_CHECK(
      options.step > 0 && options.first_step > 0 && std::isfinite(options.step) && std::isfinite(options.first_step),
      "the steps of differences are {} and {}; they must be positive", options.step, options.first_step);
  LITHE_CHECK(options.most_tables >= 2, "Ridders' method needs at least 2 steps to compare, not {}",
              options.most_tables);
}

// The derivative along one coordinate, in column.value; `unit` is what steps are a share of.
template <class Probe>
void differentiate(Probe probe, int size, const DifferenceOptions& options, double unit, Directions directions,
                   ColumnDifference& column) {
  if (options.method == DifferenceMethod::central) {
    column.central(probe, size, unit * options.step, directions);
  } else {
    column.ridders(probe, size, unit * options.first_step, unit * kSmallestStep, options.most_tables, kGoal,
                   directions);
  }
}

// Adds what happened at one column.
void count(const ColumnDifference& column, DifferenceReport& report) {
  report.evaluations += column.evaluations;
  report.switched += column.switched;
  report.modes = report.modes | column.modes;
  if (column.error.size() > 0) report.error = std::max(report.error, column.error.maxCoeff());
}

// The blocks by one input: columns that the outputs [q⁺; v⁺; f] are written to. Null: not wanted.
struct InputBlocks {
  StepInput input;
  MatX *qnext, *vnext, *f;
};

// The wanted blocks by one input, column by column.
void differentiate(const Model& model, const InputBlocks& blocks, const DifferenceOptions& options,
                   DifferenceWorkspace::Buffers& buffers, DifferenceReport& report) {
  const int nv = model.nv();
  const int size = buffers.displaced.output_size();
  if (blocks.qnext) blocks.qnext->resize(nv, nv);
  if (blocks.vnext) blocks.vnext->resize(nv, nv);
  if (blocks.f) blocks.f->resize(size - 2 * nv, nv);
  if (!blocks.qnext && !blocks.vnext && !blocks.f) return;
  for (int i = 0; i < nv; ++i) {
    const auto probe = [&](double h, VecX& y) {
      buffers.displaced.move(blocks.input, i, h);
      buffers.displaced.write_outputs(y);
      return buffers.displaced.switched();
    };
    differentiate(probe, size, options, 1, Directions::both, buffers.column);
    if (blocks.qnext) blocks.qnext->col(i) = buffers.column.value.head(nv);
    if (blocks.vnext) blocks.vnext->col(i) = buffers.column.value.segment(nv, nv);
    if (blocks.f) blocks.f->col(i) = buffers.column.value.tail(size - 2 * nv);
    count(buffers.column, report);
  }
}

}  // namespace

DifferenceReport step_differences(const Model& model, const StepRecord& record, StepJacobians& out, StepBlocks blocks,
                                  const DifferenceOptions& options, DifferenceWorkspace* workspace) {
  check_options(options);
  if (workspace == nullptr) {
    DifferenceWorkspace once;
    return step_differences(model, record, out, blocks, options, &once);
  }
  DifferenceWorkspace::Buffers& buffers = workspace->buffers();
  buffers.displaced.start(model, record);
  const auto wanted = [&](StepBlocks block, MatX& matrix) { return has(blocks, block) ? &matrix : nullptr; };
  DifferenceReport report;
  for (const InputBlocks& by :
       {InputBlocks{StepInput::q, wanted(StepBlocks::qnext_q, out.dqnext_dq),
                    wanted(StepBlocks::vnext_q, out.dvnext_dq), wanted(StepBlocks::impulses, out.df_dq)},
        InputBlocks{StepInput::v, wanted(StepBlocks::qnext_v, out.dqnext_dv),
                    wanted(StepBlocks::vnext_v, out.dvnext_dv), wanted(StepBlocks::impulses, out.df_dv)},
        InputBlocks{StepInput::tau, wanted(StepBlocks::qnext_tau, out.dqnext_dtau),
                    wanted(StepBlocks::vnext_tau, out.dvnext_dtau), wanted(StepBlocks::impulses, out.df_dtau)}}) {
    differentiate(model, by, options, buffers, report);
  }
  out.report = {};
  return report;
}

DifferenceReport step_parameter_differences(const Model& model, const StepRecord& record,
                                            const StepParameters& parameters, StepParameterJacobian& out,
                                            const DifferenceOptions& options, DifferenceWorkspace* workspace) {
  check_options(options);
  if (workspace == nullptr) {
    DifferenceWorkspace once;
    return step_parameter_differences(model, record, parameters, out, options, &once);
  }
  DifferenceWorkspace::Buffers& buffers = workspace->buffers();
  DisplacedStep& displaced = buffers.displaced;
  displaced.start(model, record);
  const int nv = model.nv();
  const int size = displaced.output_size();
  out.dqnext.setZero(nv, parameters.size());
  out.dvnext.setZero(nv, parameters.size());
  out.df.setZero(size - 2 * nv, parameters.size());
  const bool central = options.method == DifferenceMethod::central;
  DifferenceReport report;
  for (int i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters.names()[i];
    const double unit = displaced.size_of(name);
    // The step does not depend on it, and the column stays zero.
    if (unit == 0) continue;
    const double reach = unit * (central ? 2 * options.step : options.first_step);
    const std::optional<Directions> directions = displaced.directions_of(name, reach);
    LITHE_CHECK(directions, "parameter '{}' can be moved by {:.3g} in neither direction: the model refuses it", name,
                reach);
    const auto probe = [&](double h, VecX& y) {
      const bool moved = displaced.move(name, h);
      LITHE_CHECK(moved, "the model does not accept a {} that differs by {}", name, h);
      displaced.write_outputs(y);
      return displaced.switched();
    };
    differentiate(probe, size, options, unit, *directions, buffers.column);
    out.dqnext.col(i) = buffers.column.value.head(nv);
    out.dvnext.col(i) = buffers.column.value.segment(nv, nv);
    out.df.col(i) = buffers.column.value.tail(size - 2 * nv);
    if (*directions != Directions::both) ++report.one_sided;
    count(buffers.column, report);
  }
  out.report = {};
  return report;
}

MatX difference_jacobian(const DisplacedFunction& f, int n, const DifferenceOptions& options) {
  check_options(options);
  VecX delta = VecX::Zero(n);
  const VecX centre = f(delta);
  const int m = static_cast<int>(centre.size());
  MatX J(m, n);
  ColumnDifference column;
  for (int i = 0; i < n; ++i) {
    const auto probe = [&](double h, VecX& y) {
      delta[i] = h;
      const VecX moved = f(delta);
      delta[i] = 0;
      LITHE_CHECK(moved.size() == m, "the function to differentiate has {} values here and {} a step of {:.3g} away", m,
                  moved.size(), h);
      y = moved - centre;
      return ModeSwitch::none;
    };
    differentiate(probe, m, options, 1, Directions::both, column);
    J.col(i) = column.value;
  }
  return J;
}

}  // namespace lithe
