#include "lithe/contact/tree_response.h"

#include <algorithm>

namespace lithe::internal {

namespace {

// Passes take out what it bends: the fewer, the smaller it is; rounding of S allows for no less where masses differ.
constexpr double kResponseRidge = 1e-10;

}  // namespace

bool TreeResponse::compute(const DofTree& tree, const ContactProblem& problem, int island,
                           std::span<const RowMode> modes) {
  forms_.compute(tree, problem, island);
  lcp_ = forms_.lcp(problem, island);
  modes_.assign(modes.begin(), modes.end());
  system_.bind(lcp_, graphs_.graph_of(lcp_));
  // The ridge is a share of the mean response of rows that respond at all.
  double sum = 0;
  int live = 0;
  for (const double response : lcp_.diagonal) {
    sum += response;
    live += response > 0 ? 1 : 0;
  }
  return live > 0 && system_.factorize(modes_, kResponseRidge * sum / live);
}

}  // namespace lithe::internal
