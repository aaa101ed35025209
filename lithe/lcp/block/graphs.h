#pragma once

#include <cstdint>
#include <vector>

#include "lithe/lcp/factored_lcp.h"
#include "lithe/linalg/block_graph.h"

namespace lithe::internal {

// Graphs of factored problems, kept from step to step: who touches whom changes less often than how.
class BlockGraphs {
 public:
  const BlockGraph& graph_of(const FactoredLcp& lcp);

 private:
  struct Kept {
    BlockGraph graph;
    std::uint64_t used = 0;
  };
  std::vector<Kept> kept_;
  std::vector<BlockGraph::Pair> pairs_;
  std::uint64_t clock_ = 0;
};

}  // namespace lithe::internal
