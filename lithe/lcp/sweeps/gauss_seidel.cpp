#include "lithe/lcp/sweeps/gauss_seidel.h"

#include "lithe/lcp/sweeps/gauss_seidel_iteration.h"

namespace lithe::internal {

namespace {

// A as a matrix: a push is felt by all rows at once.
struct DenseOperator {
  const BoxedLcp& lcp;
  std::span<double> w;

  double diagonal(int i) const { return lcp.at(i, i); }
  double velocity(int i) const { return w[i]; }
  void push(int i, double change) const {
    const double* column = lcp.column(i);
    for (int j = 0; j < lcp.size(); ++j) w[j] += column[j] * change;
  }
  void evaluate(std::span<const double> f, std::span<double> out) const { lithe::evaluate(lcp, f, out); }
  double velocity_scale() const { return lithe::velocity_scale(lcp); }
  double residual(std::span<const double> f, std::span<const double> at) const { return lithe::residual(lcp, f, at); }
};

}  // namespace

LcpReport solve_gauss_seidel(const BoxedLcp& lcp, const LcpOptions& options, std::span<double> f, std::span<double> w,
                             std::span<RowMode> modes) {
  DenseOperator A{lcp, w};
  return gauss_seidel::iterate(lcp.rows, A, options, f, w, modes);
}

}  // namespace lithe::internal
