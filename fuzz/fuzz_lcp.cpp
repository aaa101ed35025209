#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fuzzer/FuzzedDataProvider.h>
#include <string_view>
#include <vector>

#include "lithe/core/check.h"
#include "lithe/lcp/modes/lcp_sensitivity.h"
#include "lithe/lcp/solve_lcp.h"

// Bytes become a contact problem A = W Wᵀ with rows of any kinds: rows that are zero, equal or opposed, numbers of very
// different sizes, guesses that make no sense. Every method gives finite impulses within their bounds, and what it calls
// solved meets every condition; derivatives at it are finite.
namespace lithe {

using namespace internal;
namespace {

constexpr int kMostRows = 24;

class Description {
 public:
  Description(const std::uint8_t* data, std::size_t size) : bytes_(data, size), wild_(below(16) == 15) {}

  bool wild() const { return wild_; }
  int below(int count) { return bytes_.ConsumeIntegralInRange(0, count - 1); }

  // Zero, a small whole number, a power of ten or anything in between; in wild inputs sometimes any finite number.
  double number() {
    if (wild_ && below(4) == 0) {
      const auto any = std::bit_cast<double>(bytes_.ConsumeIntegral<std::uint64_t>());
      return std::isfinite(any) ? any : 0;
    }
    switch (below(8)) {
      case 0: return 0;
      case 1:
      case 2:
      case 3: return below(5) - 2;
      case 4: return (below(2) == 0 ? -1 : 1) * std::pow(10.0, below(9) - 4);
      default: return bytes_.ConsumeFloatingPointInRange(-2.0, 2.0);
    }
  }
  std::vector<LcpRow> rows(int n) {
    std::vector<LcpRow> rows;
    int normal = -1;
    for (int i = 0; i < n; ++i) {
      const int kind = below(6);
      const auto key = static_cast<std::uint64_t>(below(1000));
      if (kind < 3 && normal >= 0) {
        rows.push_back(LcpRow::make_friction(normal, std::abs(number()), key));
      } else if (kind < 4) {
        normal = i;
        rows.push_back(LcpRow::make_one_sided(key));
      } else if (kind == 4) {
        const double lower = number();
        rows.push_back(LcpRow::make_bounded(lower, lower + std::abs(number()), key));
      } else {
        rows.push_back(LcpRow::make_two_sided(key));
      }
    }
    return rows;
  }
  MatX matrix(int rows, int columns) {
    MatX W = MatX::NullaryExpr(rows, columns, [&](Eigen::Index, Eigen::Index) { return number(); });
    for (int copies = below(3); copies > 0; --copies) {
      const int from = below(rows), to = below(rows);
      W.row(to) = (below(2) == 0 ? 1 : -1) * W.row(from);
    }
    return W;
  }
  VecX vector(int size) {
    return VecX::NullaryExpr(size, [&](Eigen::Index) { return number(); });
  }
  std::vector<RowMode> guess(int n) {
    std::vector<RowMode> modes(below(3) == 0 ? 0 : n);
    for (RowMode& c : modes) c = static_cast<RowMode>(below(4));
    return modes;
  }

 private:
  FuzzedDataProvider bytes_;
  bool wild_;  // numbers of any size
};

void require(bool condition, std::string_view what, const LcpProblem& problem, const LcpSolution& solution) {
  if (condition) return;
  const LcpReport& report = solution.report;
  fmt::print(stderr, "fuzz_lcp: {}: stage {}, flags {}, residual {}\n", what, to_string(report.stage),
             static_cast<int>(report.flags), report.residual);
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.rows[i];
    fmt::print(stderr, "kind {} normal {} μ {} [{}, {}] key {} b {} f {} w {} class {}\n", static_cast<int>(row.kind),
               row.normal, row.friction, row.lower, row.upper, row.key, problem.b[i], solution.f[i], solution.w[i],
               static_cast<int>(solution.modes[i]));
    for (int j = 0; j < problem.size(); ++j) fmt::print(stderr, " {}", problem.view().at(i, j));
    fmt::print(stderr, "\n");
  }
  std::abort();
}

bool all_finite(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

// The largest violation of any condition, times A_ii where it is one of f.
double violation(const LcpProblem& problem, std::span<const double> f, std::span<const double> w) {
  double worst = 0;
  for (int i = 0; i < problem.size(); ++i) {
    const RowBounds bounds = bounds_of(problem.rows[i], f);
    const double a = problem.view().at(i, i);
    const double below = std::isinf(bounds.lower) ? LcpRow::kInfinity : (f[i] - bounds.lower) * a;
    const double above = std::isinf(bounds.upper) ? LcpRow::kInfinity : (bounds.upper - f[i]) * a;
    worst = std::max({worst, -below, -above, std::min(w[i], below), std::min(-w[i], above)});
  }
  return worst;
}

// What w is rounded by.
double rounding(const LcpProblem& problem, std::span<const double> f) {
  double largest = 0;
  for (int i = 0; i < problem.size(); ++i) {
    double size = std::abs(problem.b[i]);
    for (int j = 0; j < problem.size(); ++j) size += std::abs(problem.view().at(i, j) * f[j]);
    largest = std::max(largest, size);
  }
  return 1e-15 * largest;
}

// A problem without the targets that were dropped.
LcpProblem without_targets(LcpProblem problem, std::span<const std::uint8_t> dropped) {
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    if (dropped[i] != 0) problem.b[i] += problem.target[i];
  }
  return problem;
}

// Two-sided rows that others of their kind imply, up to the share of A_ii that a solution may neglect (docs/lcp.md): found here in A scaled to ones,
// whatever the solver found.
class ImpliedRows {
 public:
  explicit ImpliedRows(const LcpProblem& problem) {
    for (int i = 0; i < problem.size(); ++i) {
      if (problem.rows[i].kind == RowKind::two_sided && problem.view().at(i, i) > 0) rows_.push_back(i);
    }
    const auto n = static_cast<Eigen::Index>(rows_.size());
    if (n == 0) return;
    const VecX root =
        VecX::NullaryExpr(n, [&](Eigen::Index i) { return std::sqrt(problem.view().at(rows_[i], rows_[i])); });
    MatX left = MatX::NullaryExpr(n, n, [&](Eigen::Index i, Eigen::Index j) {
      return problem.view().at(rows_[i], rows_[j]) / (root[i] * root[j]);
    });
    const MatX A = left;
    std::vector<int> independent;
    for (Eigen::Index largest; left.diagonal().maxCoeff(&largest) > 2e-9;) {
      independent.push_back(static_cast<int>(largest));
      const VecX column = left.col(largest) / std::sqrt(left(largest, largest));
      left -= column * column.transpose();
      left.row(largest).setZero();
      left.col(largest).setZero();
    }
    std::vector<int> implied;
    for (int i = 0; i < n; ++i) {
      if (std::find(independent.begin(), independent.end(), i) == independent.end()) implied.push_back(i);
    }
    if (implied.empty()) return;
    const auto count = static_cast<Eigen::Index>(implied.size());
    stresses_ = MatX::Zero(n, count);
    stresses_(implied, Eigen::all) = MatX::Identity(count, count);
    stresses_(independent, Eigen::all) = -A(independent, independent).llt().solve(MatX(A(independent, implied)));
    stresses_ = root.cwiseInverse().asDiagonal() * stresses_;
    stresses_ = stresses_.householderQr().householderQ() * MatX::Identity(n, count);
  }

  // Takes out of w what they cannot have together: they get the rest, in the sense of least squares.
  void remove_contradictions(std::vector<double>& w) const {
    if (empty()) return;
    VecX x = VecX::NullaryExpr(static_cast<Eigen::Index>(rows_.size()), [&](Eigen::Index i) { return w[rows_[i]]; });
    x -= stresses_ * (stresses_.transpose() * x);
    for (std::size_t i = 0; i < rows_.size(); ++i) w[rows_[i]] = x[static_cast<Eigen::Index>(i)];
  }
  bool empty() const { return stresses_.cols() == 0; }

 private:
  std::vector<int> rows_;
  MatX stresses_;  // orthonormal columns over rows_
};

double tolerance(const LcpReport& report) {
  if (report.stage == LcpStage::gauss_seidel) return 1e-6;
  if (!has(report.flags, LcpFlag::unpolished)) return 1e-9;
  return report.stage == LcpStage::dantzig ? 1e-6 : 1e-5;
}

void check_derivatives(const LcpProblem& problem, const LcpSolution& solution) {
  LcpSensitivity sensitivity;
  sensitivity.compute(problem.view(), solution.modes, solution.f, solution.report.flags);
  std::vector<double> df(problem.size()), dw(problem.size());
  const std::vector<double> ones(problem.size(), 1.0);
  sensitivity.forward({.dA_f = ones, .dA_y = ones, .db = ones, .dfriction = ones, .dlower = ones, .dupper = ones}, df,
                      dw);
  require(all_finite(df) && all_finite(dw), "a derivative is not finite", problem, solution);
  LcpGradient gradient;
  sensitivity.transposed(ones, ones, gradient);
  require(all_finite(gradient.b) && all_finite(gradient.null) && all_finite(gradient.friction),
          "a gradient is not finite", problem, solution);
}

void check(const LcpProblem& problem, LcpMethod method, std::span<const RowMode> guess, bool wild) {
  const LcpSolution solution = solve_lcp(problem.view(), {.method = method, .sweeps = 100}, guess);
  const LcpReport& report = solution.report;
  require(all_finite(solution.f) && all_finite(solution.w), "not finite", problem, solution);
  for (int i = 0; i < problem.size(); ++i) {
    const RowBounds bounds = bounds_of(problem.rows[i], solution.f);
    const bool within = bounds.lower <= solution.f[i] && solution.f[i] <= bounds.upper;
    require(within || report.solved(), "impulses beyond their bounds", problem, solution);
  }
  if (!wild) check_derivatives(problem, solution);
  if (!report.solved()) return;
  const LcpProblem solved = without_targets(problem, solution.dropped_targets);
  std::vector<double> w(problem.size());
  evaluate(solved.view(), solution.f, w);
  double share = tolerance(report);
  if (const ImpliedRows implied(solved); method == LcpMethod::direct && !implied.empty()) {
    implied.remove_contradictions(w);
    share = 2e-5;  // 1e-5 where both find the same rows
  }
  // Velocities count against those of the problem as given: what is left of b without targets may be their rounding.
  const double scale = std::max(velocity_scale(solved.view()), velocity_scale(problem.view()));
  const double allowed = share * scale + rounding(solved, solution.f);
  const double found = violation(solved, solution.f, w);
  require(found <= allowed, fmt::format("called solved, but is not: violated by {}, allowed {}", found, allowed),
          problem, solution);
}

void run(Description input) {
  const int n = 1 + input.below(kMostRows), k = 1 + input.below(n + 2);
  const std::vector<LcpRow> rows = input.rows(n);
  const MatX W = input.matrix(n, k);
  const VecX target = input.below(2) == 0 ? VecX(VecX::Zero(n)) : input.vector(n);
  const LcpProblem problem = {W * W.transpose(), W * input.vector(k) - target, rows, target};
  const std::vector<RowMode> guess = input.guess(n);
  for (const LcpMethod method : {LcpMethod::direct, LcpMethod::dantzig, LcpMethod::gauss_seidel}) {
    try {
      check(problem, method, guess, input.wild());
    } catch (const Error&) {
      // Refused, which finite numbers never are.
      if (all_finite(problem.A) && all_finite(problem.b)) throw;
    }
  }
}

}  // namespace
}  // namespace lithe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lithe::run({data, size});
  return 0;
}
