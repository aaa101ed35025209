#pragma once

#include <vector>

#include "lithe/linalg/block_graph.h"
#include "lithe/simd/lanes.h"

namespace lithe::internal {

// Triangular factors of a matrix S over the blocks of a graph, whose pattern is symmetric: L Lᵀ where S is, else (I + L)(D + U)
// with row exchanges inside the blocks D on the diagonal only.
//
// A body that nothing holds in some direction has a block with the condition 1/ε. So there are triangular solves everywhere and no
// inverse of a block: what is left of sixteen digits is what one step of refinement can still mend.
class BlockFactor {
 public:
  // S = diagonal·I, to be added to. The graph is looked at until the next start.
  void start(const BlockGraph& graph, double diagonal);
  // A block of S (BlockGraph::offset), before it is factorised: columns padded(rows) apart.
  double* block(std::ptrdiff_t offset) { return values_.data() + offset; }

  // `symmetric`: S is, and positive definite; its upper triangle is not read, neither between blocks nor inside them. False where a
  // pivot is zero, negative (symmetric) or not finite.
  bool factorize(bool symmetric);

  // x ← S⁻¹ x and S⁻ᵀ x, vectors over all blocks (BlockGraph::start_of) with zeros in the padding.
  void solve(double* x) const;
  void solve_transposed(double* x) const;

 private:
  bool factorize_symmetric();
  bool factorize_general();
  bool cholesky(const BlockGraph::Column& column);
  bool eliminate(const BlockGraph::Column& column);
  void solve_six(double* x) const;

  const BlockGraph* graph_ = nullptr;
  AlignedBuffer values_;          // all blocks, at the offsets of the graph
  AlignedBuffer inverse_pivots_;  // by coordinate
  std::vector<int> exchanged_;    // by coordinate: the row of its block it was exchanged with
  std::vector<int> origin_;       // by coordinate: the row of its block that came there by all exchanges
  bool symmetric_ = true;         // as the last factorisation was told
};

}  // namespace lithe::internal
