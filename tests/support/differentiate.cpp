#include "tests/support/differentiate.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "lithe/model/configuration.h"

namespace lithe::test {

namespace {

// f(step·e_i) − f(−step·e_i).
VecX symmetric_difference(const TangentFunction& f, int n, int i, double step) {
  VecX delta = VecX::Zero(n);
  delta[i] = step;
  const VecX forward = f(delta);
  delta[i] = -step;
  return forward - f(delta);
}

// Puts column(i) side by side; for n = 0 there is still a number of rows.
template <class Column>
MatX from_columns(const TangentFunction& f, int n, Column column) {
  MatX J(n > 0 ? 0 : f(VecX()).size(), n);
  for (int i = 0; i < n; ++i) {
    const VecX c = column(i);
    if (i == 0) J.resize(c.size(), n);
    J.col(i) = c;
  }
  return J;
}

}  // namespace

MatX central_difference(const TangentFunction& f, int n, double step) {
  // Fornberg (1988), table 1: the weights of f(kh) − f(−kh), k = 1, 2, 3.
  constexpr std::array kWeights = {3.0 / 4, -3.0 / 20, 1.0 / 60};
  return from_columns(f, n, [&](int i) {
    VecX sum = (kWeights[0] / step) * symmetric_difference(f, n, i, step);
    for (int k = 2; k <= 3; ++k) sum += (kWeights[k - 1] / step) * symmetric_difference(f, n, i, k * step);
    return sum;
  });
}

NumericDerivative ridders_difference(const TangentFunction& f, int n, double first_step) {
  constexpr int kSteps = 8;
  constexpr double kShrink = 1.6;
  NumericDerivative result;
  result.error = MatX::Constant(f(VecX::Zero(n)).size(), n, std::numeric_limits<double>::infinity());
  result.value = from_columns(f, n, [&](int i) {
    VecX best;
    std::vector<VecX> previous;
    double step = first_step;
    for (int s = 0; s < kSteps; ++s, step /= kShrink) {
      // Neville's tableau: column k cancels the error terms up to h²ᵏ.
      std::vector<VecX> row = {symmetric_difference(f, n, i, step) / (2 * step)};
      if (s == 0) best = row[0];
      double factor = 1;
      for (int k = 1; k <= s; ++k) {
        factor *= kShrink * kShrink;
        row.push_back((factor * row[k - 1] - previous[k - 1]) / (factor - 1));
        const VecX error = (row[k] - row[k - 1]).cwiseAbs().cwiseMax((row[k] - previous[k - 1]).cwiseAbs());
        for (int r = 0; r < best.size(); ++r) {
          if (error[r] > result.error(r, i)) continue;
          result.error(r, i) = error[r];
          best[r] = row[k][r];
        }
      }
      previous = std::move(row);
    }
    return best;
  });
  return result;
}

MatX central_difference(const Model& model, const VecX& q, const ConfigurationFunction& f, double step) {
  return central_difference([&](const VecX& delta) { return f(retract(model, q, delta)); }, model.nv(), step);
}

MatX central_difference_of_configuration(const Model& model, const VecX& q, const ConfigurationFunction& g,
                                         double step) {
  const VecX centre = g(q);
  return central_difference(model, q, [&](const VecX& x) { return difference(model, g(x), centre); }, step);
}

double relative_error(const MatX& analytic, const MatX& numeric, double floor) {
  const bool comparable = analytic.rows() == numeric.rows() && analytic.cols() == numeric.cols() &&
                          analytic.allFinite() && numeric.allFinite();
  if (!comparable) return std::numeric_limits<double>::infinity();
  if (numeric.size() == 0) return 0;
  return (analytic - numeric).cwiseAbs().maxCoeff() / std::max(numeric.cwiseAbs().maxCoeff(), floor);
}

}  // namespace lithe::test
