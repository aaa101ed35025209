#include "tests/support/lcp_oracle.h"

#include <Eigen/QR>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "tests/support/lcp_problems.h"

namespace lithe::test {

namespace {

// What one row contributes to a classification: its mode, and whether it also meets the other condition (w = 0 at a
// bound).
struct Choice {
  RowMode row_mode;
  bool tied;
};

// The linear equations of one classification, G f = g, scaled to velocities.
class Enumeration {
 public:
  Enumeration(const BoxedLcp& lcp, bool with_ties) : lcp_(lcp), n_(lcp.size()), with_ties_(with_ties) {
    LITHE_CHECK(n_ <= kMostOracleRows, "{} rows are too many to enumerate classifications", n_);
    choices_.resize(n_);
    // Normals before the friction rows that depend on them.
    for (int i = 0; i < n_; ++i) {
      if (lcp.rows[i].kind != RowKind::friction) order_.push_back(i);
    }
    for (int i = 0; i < n_; ++i) {
      if (lcp.rows[i].kind == RowKind::friction) order_.push_back(i);
    }
  }

  // Calls visit(choices) for every classification until it returns true; whether it did.
  template <class Visit>
  bool any(Visit visit, int depth = 0) {
    if (depth == n_) return visit(choices_);
    const int i = order_[depth];
    for (const Choice& choice : options(i)) {
      choices_[i] = choice;
      if (any(visit, depth + 1)) return true;
    }
    return false;
  }

 private:
  std::vector<Choice> options(int i) const {
    const LcpRow& row = lcp_.rows[i];
    std::vector<Choice> result;
    const auto add = [&](RowMode row_mode) {
      result.push_back({row_mode, false});
      if (with_ties_ && row_mode != RowMode::clamping) result.push_back({row_mode, true});
    };
    if (row.kind == RowKind::friction && choices_[row.normal].row_mode == RowMode::separating) {
      return {{RowMode::separating, false}};  // f = 0, whatever w is
    }
    add(RowMode::clamping);
    if (row.kind == RowKind::one_sided) add(RowMode::separating);
    if (row.kind == RowKind::friction || row.kind == RowKind::bounded) {
      add(RowMode::at_lower);
      add(RowMode::at_upper);
    }
    return result;
  }

  const BoxedLcp& lcp_;
  const int n_;
  const bool with_ties_;
  std::vector<int> order_;
  std::vector<Choice> choices_;
};

MatX dense(const BoxedLcp& lcp) {
  return MatX::NullaryExpr(lcp.size(), lcp.size(), [&](Eigen::Index i, Eigen::Index j) {
    return lcp.at(static_cast<int>(i), static_cast<int>(j));
  });
}

struct ModePoint {
  VecX f;
  bool determined;
};

// The least f that meets the mode's equations, if they can be met at all.
ModePoint solve_mode(const BoxedLcp& lcp, const MatX& A, const std::vector<Choice>& choices) {
  const int n = lcp.size();
  const auto ties = std::count_if(choices.begin(), choices.end(), [](const Choice& c) { return c.tied; });
  MatX G = MatX::Zero(n + ties, n);
  VecX g = VecX::Zero(n + ties);
  Eigen::Index next = n;
  for (int i = 0; i < n; ++i) {
    const LcpRow& row = lcp.rows[i];
    const auto no_motion = [&](Eigen::Index equation) {
      G.row(equation) = A.row(i);
      g[equation] = -lcp.b[i];
    };
    if (choices[i].row_mode == RowMode::clamping) {
      no_motion(i);
      continue;
    }
    const double scale = A(i, i) > 0 ? A(i, i) : 1;
    G(i, i) = scale;
    const bool upper = choices[i].row_mode == RowMode::at_upper;
    if (row.kind == RowKind::bounded) g[i] = scale * (upper ? row.upper : row.lower);
    if (row.kind == RowKind::friction && choices[i].row_mode != RowMode::separating) {
      G(i, row.normal) = scale * (upper ? -row.friction : row.friction);
    }
    if (choices[i].tied) no_motion(next++);
  }
  Eigen::CompleteOrthogonalDecomposition<MatX> qr(G.rows(), G.cols());
  qr.setThreshold(1e-10);
  qr.compute(G);
  return {qr.solve(g), qr.rank() == n};
}

}  // namespace

Verdict verify(const BoxedLcp& lcp, std::span<const double> f, std::span<const double> w) {
  const int n = lcp.size();
  const double scale = velocity_scale(lcp);
  Verdict verdict;
  const auto judge = [&](int row, const char* condition, double violation) {
    if (violation <= verdict.violation * scale) return;  // not so for NaN
    verdict.violation = std::isnan(violation) ? LcpRow::kInfinity : violation / scale;
    verdict.worst = fmt::format("row {}: {}, f = {}, w = {}", row, condition, f[row], w[row]);
  };
  for (int i = 0; i < n; ++i) {
    const LcpRow& row = lcp.rows[i];
    const double a = lcp.at(i, i);
    double lower = -LcpRow::kInfinity, upper = LcpRow::kInfinity;
    if (row.kind == RowKind::one_sided) lower = 0;
    if (row.kind == RowKind::bounded) lower = row.lower, upper = row.upper;
    if (row.kind == RowKind::friction) upper = row.friction * std::max(f[row.normal], 0.0), lower = -upper;

    // Room below and above, as velocities; also without A_ii it is infinite where there is no bound.
    const double below = std::isinf(lower) ? LcpRow::kInfinity : (f[i] - lower) * a;
    const double above = std::isinf(upper) ? LcpRow::kInfinity : (upper - f[i]) * a;
    if (!std::isfinite(f[i]) || !std::isfinite(w[i])) judge(i, "not finite", LcpRow::kInfinity);
    judge(i, "below its bound", -below);
    judge(i, "above its bound", -above);
    judge(i, "w > 0 above the lower bound", std::min(w[i], below));
    judge(i, "w < 0 below the upper bound", std::min(-w[i], above));

    long double sum = lcp.b[i];
    double size = std::abs(lcp.b[i]);
    for (int j = 0; j < n; ++j) {
      sum += static_cast<long double>(lcp.at(i, j)) * f[j];
      size += std::abs(lcp.at(i, j) * f[j]);
    }
    verdict.rounding = std::max(verdict.rounding, 4e-16 * size / scale);
    const double difference = std::abs(w[i] - static_cast<double>(sum));
    if (!(difference <= 1e-14 * size)) judge(i, "w is not A f + b", difference);
  }
  return verdict;
}

std::vector<OracleSolution> regular_solutions(const BoxedLcp& lcp, double tolerance) {
  const MatX A = dense(lcp);
  const Eigen::Map<const VecX> b(lcp.b.data(), lcp.size());
  std::vector<OracleSolution> result;
  Enumeration(lcp, false).any([&](const std::vector<Choice>& choices) {
    const ModePoint point = solve_mode(lcp, A, choices);
    const VecX w = A * point.f + b;
    if (!point.determined || !verify(lcp, as_span(point.f), as_span(w)).holds(tolerance)) return false;
    OracleSolution solution = {{}, point.f, w};
    for (const Choice& choice : choices) solution.modes.push_back(choice.row_mode);
    result.push_back(solution);
    return false;
  });
  return result;
}

bool solution_exists(const BoxedLcp& lcp, double tolerance, double largest) {
  const MatX A = dense(lcp);
  const Eigen::Map<const VecX> b(lcp.b.data(), lcp.size());
  const double most = largest * velocity_scale(lcp);
  return Enumeration(lcp, true).any([&](const std::vector<Choice>& choices) {
    const VecX f = solve_mode(lcp, A, choices).f, w = A * f + b;
    if (!((A.diagonal().array() * f.array()).abs().maxCoeff() <= most)) return false;
    return verify(lcp, as_span(f), as_span(w)).holds(tolerance);
  });
}

}  // namespace lithe::test
