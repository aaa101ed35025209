#include "lithe/step/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "lithe/core/check.h"
#include "lithe/step/gradients/column_difference.h"
#include "lithe/step/gradients/displaced_step.h"
#include "lithe/step/internal/recorded_stages.h"
#include "lithe/step/step.h"
#include "lithe/step/step_jacobians.h"
#include "lithe/step/step_jvp.h"
#include "lithe/step/step_vjp.h"

namespace lithe {

using namespace internal;

namespace {

constexpr double kGravity = 10;  // m/s², as a scale of accelerations

// First and last steps of differences: of q in m or rad, of v in m/s or rad/s, of τ by the velocity that it causes, of
// parameters as a share of their size.
struct StepRange {
  double first, last;
};
constexpr StepRange kByQ = {1e-2, 2e-8};
constexpr StepRange kByV = {0.3, 1e-7};
constexpr StepRange kByTau = {0.3, 1e-7};
constexpr StepRange kByParameter = {1e-2, 1e-8};
constexpr int kRows = 6;
constexpr double kRelativeGoal = 1e-12;
// Rows contradict one another where the solver's residual is larger than the rounding of gaps leaves it.
constexpr double kContradiction = 3e-12;

// Positions, velocities and impulses: the three parts of what a step results in.
constexpr int kParts = 3;

// The natural size of each part of a column.
using Scales = std::array<double, kParts>;

// What an input's column should be measured against, and its units.
struct Units {
  double h = 0;          // Δt
  double mobility = 0;   // μ
  double mass = 0;       // m
  VecX column_mobility;  // max|M̂⁻¹ e_i| by DoF

  Scales by_q() const { return {1, kGravity * h, kGravity * h * mass}; }
  Scales by_v() const { return {h, 1, mass}; }
  Scales by_tau() const { return {h * h * mobility, h * mobility, h}; }
  Scales by_parameter(double size) const { return {1e-3 / size, kGravity * h / size, kGravity * h * mass / size}; }
};

// μ and m of the step, as BlockCheck defines them.
Units units_of(const Model& model, const StepRecord& record) {
  Units units;
  units.h = record.options.time_step;
  MatX mobility = MatX::Identity(model.nv(), model.nv());
  solve_in_place(model, mass_stages_of(model, record).factor, mobility);
  units.column_mobility = mobility.cwiseAbs().colwise().maxCoeff().transpose();
  if (model.nv() > 0) units.mobility = units.column_mobility.maxCoeff();
  double largest = 0;
  for (const double mobility_of_row : record.tape().problem.diagonal) largest = std::max(largest, mobility_of_row);
  units.mass = largest > 0 ? 1 / largest : 0.0;
  return units;
}

// max |M_ij|, 0 of none.
double largest(const MatX& matrix) { return matrix.size() == 0 ? 0.0 : matrix.cwiseAbs().maxCoeff(); }

// The blocks by one input (or by all parameters): analytic, numeric, and what the numeric ones may be wrong by.
struct ComparedBlocks {
  std::array<MatX, kParts> analytic, numeric, doubt;
  std::vector<bool> left_out;                   // by column
  std::vector<double> step;                     // of differences
  std::vector<double> residual, contradiction;  // of rows in its displaced steps (DisplacedStep)

  void resize(const StepRecord& record, int nv, int columns) {
    left_out.assign(columns, true);
    for (std::vector<double>* each : {&step, &residual, &contradiction}) each->assign(columns, 0.0);
    for (int part = 0; part < kParts; ++part) {
      const auto rows = part == 2 ? static_cast<Eigen::Index>(record.f.size()) : nv;
      numeric[part].setZero(rows, columns);
      doubt[part].setZero(rows, columns);
    }
  }

  void take(const ColumnDifference& column, int i) {
    left_out[i] = false;
    step[i] = column.step;
    Eigen::Index at = 0;
    for (int part = 0; part < kParts; ++part) {
      const Eigen::Index rows = numeric[part].rows();
      numeric[part].col(i) = column.value.segment(at, rows);
      doubt[part].col(i) = column.error.segment(at, rows);
      at += rows;
    }
  }

  // What a column may be wrong by: as its tableau says, and no less than the rounding of results.
  double doubt_of(int part, int i, const Scales& rounding) const {
    return std::max(largest(doubt[part].col(i)), step[i] > 0 ? rounding[part] / step[i] : 0.0);
  }
};

// |analytic − numeric| of one column against `scale`.
void compare_column(const ComparedBlocks& blocks, int part, int column, double scale, double doubt, BlockCheck& check) {
  check.compared = true;
  check.doubt = std::max(check.doubt, doubt / scale);
  const MatX& analytic = blocks.analytic[part];
  const MatX& numeric = blocks.numeric[part];
  if (analytic.rows() != numeric.rows() || analytic.cols() != numeric.cols()) {
    check.error = std::numeric_limits<double>::infinity();
    return;
  }
  for (Eigen::Index row = 0; row < numeric.rows(); ++row) {
    const double error = std::abs(analytic(row, column) - numeric(row, column)) / scale;
    // What is not a number is as wrong as can be.
    const double counted = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    if (check.row >= 0 && counted <= check.error) continue;
    check.error = counted;
    check.row = static_cast<int>(row);
    check.column = column;
    check.analytic = analytic(row, column);
    check.numeric = numeric(row, column);
  }
}

VecX random_vector(std::mt19937_64& random, Eigen::Index size) {
  // Not a standard distribution: those differ from library to library.
  return VecX::NullaryExpr(size, [&] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; });
}

// max|a − b| / scale, infinite for wrong sizes and what is not finite.
double product_error(const VecX& product, const VecX& expected, double scale) {
  if (product.size() != expected.size() || !product.allFinite() || !expected.allFinite()) {
    return std::numeric_limits<double>::infinity();
  }
  if (product.size() == 0) return 0;
  const double error = (product - expected).cwiseAbs().maxCoeff();
  return error == 0 ? 0 : error / scale;
}

}  // namespace

const char* to_string(GradcheckBlock block) {
  switch (block) {
    case GradcheckBlock::qnext_q: return "dqnext_dq";
    case GradcheckBlock::qnext_v: return "dqnext_dv";
    case GradcheckBlock::qnext_tau: return "dqnext_dtau";
    case GradcheckBlock::vnext_q: return "dvnext_dq";
    case GradcheckBlock::vnext_v: return "dvnext_dv";
    case GradcheckBlock::vnext_tau: return "dvnext_dtau";
    case GradcheckBlock::f_q: return "df_dq";
    case GradcheckBlock::f_v: return "df_dv";
    case GradcheckBlock::f_tau: return "df_dtau";
    case GradcheckBlock::qnext_parameters: return "dqnext_dparameters";
    case GradcheckBlock::vnext_parameters: return "dvnext_dparameters";
    case GradcheckBlock::f_parameters: return "df_dparameters";
  }
  return "unknown";
}

double GradcheckResult::max_error() const {
  double most = 0;
  for (const BlockCheck& block : blocks) most = std::max(most, block.error);
  return most;
}

double GradcheckResult::share_compared() const {
  const int parts = kParts * (columns - refused);
  return comparable() && !stopped && parts > 0 ? 1 - static_cast<double>(kParts * switched + unsettled) / parts : 0.0;
}

struct Gradcheck::Buffers {
  DisplacedStep displaced;
  ColumnDifference column;
  StepJacobians jacobians;
  StepParameterJacobian by_parameters;
  StepVjp vjp;
  StepJvp jvp;
  Units units;
  std::array<ComparedBlocks, 4> inputs;  // q, v, τ, parameters
  std::vector<Scales> parameter_scales;
  Scales rounding = {};  // of q⁺, v⁺ and f
  VecX displacement;

  Scales scales_of(int input) const {
    const std::array all = {units.by_q(), units.by_v(), units.by_tau()};
    return all[input];
  }

  // Both end where somebody wants them to stop, with result.stopped.
  using Stop = std::function<bool()>;
  static bool stopped(const Stop& stop, GradcheckResult& result);
  void differentiate(const Model& model, const StepRecord& record, const Stop& stop, GradcheckResult& result);
  void differentiate_by_parameters(const StepRecord& record, const StepParameters& parameters, const Stop& stop,
                                   GradcheckResult& result);
  template <class Probe>
  void keep_or_leave_out(Probe probe, ComparedBlocks& blocks, int i, GradcheckResult& result);
  template <class Probe>
  void measure_rounding(Probe probe, const ComparedBlocks& blocks);
  double doubt_of_choice(const GradientReport& report, const ComparedBlocks& blocks, int part, int i) const;
  void compare(double largest_doubt, GradcheckResult& result);
  void compare_products(const Model& model, const StepRecord& record, const StepParameters& parameters,
                        std::uint64_t seed, GradcheckResult& result);
  double product_scale(int input, int part) const;
};

// Whether somebody wants it to end, remembered: differences that are under way then meet nothing but switches, and end soon.
bool Gradcheck::Buffers::stopped(const Stop& stop, GradcheckResult& result) {
  result.stopped = result.stopped || (stop && stop());
  return result.stopped;
}

// Keeps the column that was just differentiated, or counts it as switched.
template <class Probe>
void Gradcheck::Buffers::keep_or_leave_out(Probe probe, ComparedBlocks& blocks, int i, GradcheckResult& result) {
  if (column.modes == ModeSwitch::none) {
    blocks.take(column, i);
    measure_rounding(probe, blocks);
    for (const double h : {column.step, -column.step}) {
      if (probe(h, displacement) != ModeSwitch::none) continue;  // a number that may go in one direction only
      blocks.residual[i] = std::max(blocks.residual[i], displaced.residual());
      blocks.contradiction[i] = std::max(blocks.contradiction[i], displaced.contradiction());
    }
  } else {
    ++result.switched;
    result.switches = result.switches | column.modes;
  }
}

// How the results of a step that is hardly displaced scatter: they differ from the straight line by rounding alone.
template <class Probe>
void Gradcheck::Buffers::measure_rounding(Probe probe, const ComparedBlocks& blocks) {
  constexpr double kHardly = 1e-7;
  const double h = kHardly * column.step;
  displacement.resize(column.value.size());
  if (probe(h, displacement) != ModeSwitch::none) return;
  displacement -= h * column.value;
  Eigen::Index at = 0;
  for (int part = 0; part < kParts; ++part) {
    const Eigen::Index rows = blocks.numeric[part].rows();
    rounding[part] = std::max(rounding[part], largest(displacement.segment(at, rows)));
    at += rows;
  }
}

void Gradcheck::Buffers::differentiate(const Model& model, const StepRecord& record, const Stop& stop,
                                       GradcheckResult& result) {
  const int nv = model.nv();
  const int size = displaced.output_size();
  for (const StepInput input : {StepInput::q, StepInput::v, StepInput::tau}) {
    ComparedBlocks& blocks = inputs[static_cast<int>(input)];
    blocks.resize(record, nv, nv);
    for (int i = 0; i < nv; ++i) {
      StepRange range = input == StepInput::q ? kByQ : kByV;
      if (input == StepInput::tau) {
        const double unit = 1 / std::max(units.h * units.column_mobility[i], 1e-12);
        range = {unit * kByTau.first, unit * kByTau.last};
      }
      const auto probe = [&](double h, VecX& y) {
        if (stopped(stop, result)) return ModeSwitch::solver;
        displaced.move(input, i, h);
        displaced.write_outputs(y);
        return displaced.switched();
      };
      column.ridders(probe, size, range.first, range.last, kRows, kRelativeGoal);
      if (result.stopped) return;
      ++result.columns;
      keep_or_leave_out(probe, blocks, i, result);
    }
  }
}

void Gradcheck::Buffers::differentiate_by_parameters(const StepRecord& record, const StepParameters& parameters,
                                                     const Stop& stop, GradcheckResult& result) {
  ComparedBlocks& blocks = inputs.back();
  blocks.resize(record, static_cast<int>(record.next.v.size()), parameters.size());
  const int size = displaced.output_size();
  for (int i = 0; i < parameters.size(); ++i) {
    if (stopped(stop, result)) return;
    const std::string& name = parameters.names()[i];
    const double unit = displaced.size_of(name);
    ++result.columns;
    if (unit == 0) {  // no dependence
      column.value.setZero(size);
      column.error.setZero(size);
      column.step = 0;
      blocks.take(column, i);
      continue;
    }
    const std::optional<Directions> directions = displaced.directions_of(name, unit * kByParameter.first);
    if (!directions) {
      ++result.refused;
      continue;
    }
    const auto probe = [&](double h, VecX& y) {
      if (stopped(stop, result)) return ModeSwitch::solver;
      if (!displaced.move(name, h)) return ModeSwitch::constraints;  // cannot be: a larger step was accepted
      displaced.write_outputs(y);
      return displaced.switched();
    };
    column.ridders(probe, size, unit * kByParameter.first, unit * kByParameter.last, kRows, kRelativeGoal, *directions);
    if (result.stopped) return;
    keep_or_leave_out(probe, blocks, i, result);
  }
}

// What depends on a choice among many impulses is known only as well as redundant rows agree: impulses themselves not at all where they do
// not, and velocities, where these depend on it, up to those that the rows are left with.
double Gradcheck::Buffers::doubt_of_choice(const GradientReport& report, const ComparedBlocks& blocks, int part,
                                           int i) const {
  if (part == 2) {
    const bool unknown = report.rank < report.clamping && blocks.residual[i] > kContradiction;
    return unknown ? std::numeric_limits<double>::infinity() : 0.0;
  }
  if (!report.null_space_term || blocks.step[i] == 0) return 0;
  return (part == 0 ? units.h : 1.0) * blocks.contradiction[i] / blocks.step[i];
}

void Gradcheck::Buffers::compare(double largest_doubt, GradcheckResult& result) {
  for (int input = 0; input < 4; ++input) {
    ComparedBlocks& blocks = inputs[input];
    const bool parameters = input == 3;
    for (int i = 0; i < static_cast<int>(blocks.left_out.size()); ++i) {
      if (blocks.left_out[i]) continue;
      Scales scales = parameters ? parameter_scales[i] : scales_of(input);
      for (int part = 0; part < kParts; ++part) {
        const double entries = parameters ? largest(blocks.numeric[part].col(i)) : largest(blocks.numeric[part]);
        scales[part] = std::max({scales[part], entries, std::numeric_limits<double>::min()});
      }
      for (int part = 0; part < kParts; ++part) {
        if (blocks.numeric[part].rows() == 0) continue;
        const double doubt =
            std::max(blocks.doubt_of(part, i, rounding), doubt_of_choice(result.report, blocks, part, i));
        if (doubt > largest_doubt * scales[part]) {
          ++result.unsettled;
          continue;
        }
        // In the order of GradcheckBlock.
        const int index = parameters ? 9 + part : 3 * part + input;
        compare_column(blocks, part, i, scales[part], doubt, result.blocks[index]);
      }
    }
  }
}

// What |J||x| is made of: the largest entry of a block, or its floor.
double Gradcheck::Buffers::product_scale(int input, int part) const {
  const ComparedBlocks& blocks = inputs[input];
  if (input < 3) return std::max(largest(blocks.analytic[part]), scales_of(input)[part]);
  double scale = largest(blocks.analytic[part]);
  for (const Scales& scales : parameter_scales) scale = std::max(scale, scales[part]);
  return scale;
}

// Jᵀλ and J x with random λ and x of entries up to 1.
void Gradcheck::Buffers::compare_products(const Model& model, const StepRecord& record,
                                          const StepParameters& parameters, std::uint64_t seed,
                                          GradcheckResult& result) {
  std::mt19937_64 random(seed);
  const int nv = model.nv();
  const std::array<VecX, kParts> lambda = {random_vector(random, nv), random_vector(random, nv),
                                           random_vector(random, static_cast<Eigen::Index>(record.f.size()))};
  const std::array<VecX, 4> x = {random_vector(random, nv), random_vector(random, nv), random_vector(random, nv),
                                 random_vector(random, parameters.size())};
  GradientOptions exact = GradientOptions::exact();
  exact.parameters = parameters;
  step_vjp(model, record, {.q = lambda[0], .v = lambda[1], .f = lambda[2]}, vjp, exact);
  step_jvp(model, record, {.q = x[0], .v = x[1], .tau = x[2], .parameters = x[3]}, jvp, exact);

  const std::array<const VecX*, 4> gradient = {&vjp.q, &vjp.v, &vjp.tau, &vjp.parameters};
  for (int input = 0; input < (parameters.size() > 0 ? 4 : 3); ++input) {
    VecX expected = VecX::Zero(x[input].size());
    double scale = 0;
    for (int part = 0; part < kParts; ++part) {
      expected += inputs[input].analytic[part].transpose() * lambda[part];
      scale += product_scale(input, part) * lambda[part].lpNorm<1>();
    }
    result.vjp_error = std::max(result.vjp_error, product_error(*gradient[input], expected, scale));
  }
  const std::array<const VecX*, kParts> moved = {&jvp.q, &jvp.v, &jvp.f};
  for (int part = 0; part < kParts; ++part) {
    VecX expected = VecX::Zero(lambda[part].size());
    double scale = 0;
    for (int input = 0; input < (parameters.size() > 0 ? 4 : 3); ++input) {
      expected += inputs[input].analytic[part] * x[input];
      scale += product_scale(input, part) * x[input].lpNorm<1>();
    }
    result.jvp_error = std::max(result.jvp_error, product_error(*moved[part], expected, scale));
  }
}

Gradcheck::Gradcheck() : buffers_(std::make_unique<Buffers>()) {}
Gradcheck::~Gradcheck() = default;

const GradcheckResult& Gradcheck::check(const Model& model, const StepRecord& record, const StepParameters& parameters,
                                        const GradcheckOptions& options) {
  Buffers& b = *buffers_;
  result_ = {};
  b.displaced.start(model, record);
  b.units = units_of(model, record);
  b.rounding = {};
  step_jacobians(model, record, b.jacobians, StepBlocks::all, GradientOptions::exact());
  step_parameter_jacobian(model, record, b.by_parameters, {.bounce = Bounce::off, .parameters = parameters});
  const StepJacobians& J = b.jacobians;
  const StepParameterJacobian& P = b.by_parameters;
  b.inputs[0].analytic = {J.dqnext_dq, J.dvnext_dq, J.df_dq};
  b.inputs[1].analytic = {J.dqnext_dv, J.dvnext_dv, J.df_dv};
  b.inputs[2].analytic = {J.dqnext_dtau, J.dvnext_dtau, J.df_dtau};
  b.inputs[3].analytic = {P.dqnext, P.dvnext, P.df};
  result_.report = J.report;
  result_.report.lcp_flags = record.status.flags;
  result_.singular_dof = record.status.singular_dof;

  b.parameter_scales.clear();
  for (const std::string& name : parameters.names()) {
    const double size = b.displaced.size_of(name);
    b.parameter_scales.push_back(b.units.by_parameter(size > 0 ? size : 1));
  }
  b.compare_products(model, record, parameters, options.seed, result_);
  if (!result_.comparable()) return result_;
  b.differentiate(model, record, options.stop, result_);
  if (!result_.stopped) b.differentiate_by_parameters(record, parameters, options.stop, result_);
  if (result_.stopped) return result_;
  b.compare(options.largest_doubt, result_);
  return result_;
}

GradcheckResult gradcheck(const Model& model, const State& state, const Control& control,
                          const StepOptions& step_options, const StepParameters& parameters,
                          const GradcheckOptions& options) {
  StepRecord record;
  step(model, state, control, step_options, record);
  return Gradcheck().check(model, record, parameters, options);
}

}  // namespace lithe
