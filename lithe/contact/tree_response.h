#pragma once

#include "lithe/contact/contact_problem.h"
#include "lithe/contact/tree_forms.h"
#include "lithe/lcp/block/solver.h"

namespace lithe::internal {

// A_C# of one island's modes as products with vectors, by algebra over trees (lcp/block/mode_system.h): O(rows) each where the
// inverse of all coordinates of a large island would be O(rows³).
class TreeResponse {
 public:
  // False where the equations are singular.
  bool compute(const DofTree& tree, const ContactProblem& problem, int island, std::span<const RowMode> modes);
  // out = A_C# x or A_C#ᵀ x, by row of the island.
  void apply(std::span<const double> x, std::span<double> out, bool transposed) {
    system_.apply_inverse(x, out, transposed);
  }

 private:
  TreeForms forms_;
  FactoredLcp lcp_;
  BlockGraphs graphs_;
  BlockModeSystem system_;
  std::vector<RowMode> modes_;
};

}  // namespace lithe::internal
