#include "lithe/lcp/block/graphs.h"

#include <algorithm>

namespace lithe::internal {

namespace {

constexpr std::size_t kMostGraphs = 8;

}  // namespace

const BlockGraph& BlockGraphs::graph_of(const FactoredLcp& lcp) {
  pairs_.clear();
  for (const RowGroup& group : lcp.groups) {
    if (group.block_b >= 0) pairs_.push_back(std::minmax(group.block_a, group.block_b));
  }
  if (!std::is_sorted(pairs_.begin(), pairs_.end())) std::sort(pairs_.begin(), pairs_.end());
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
  ++clock_;
  for (Kept& kept : kept_) {
    if (!kept.graph.is_of(lcp.block_sizes, pairs_)) continue;
    kept.used = clock_;
    return kept.graph;
  }
  if (kept_.size() < kMostGraphs) {
    kept_.reserve(kMostGraphs);  // graphs stay where they are
    kept_.emplace_back();
  }
  Kept& oldest =
      *std::min_element(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  oldest.graph.analyse(lcp.block_sizes, pairs_);
  oldest.used = clock_;
  return oldest.graph;
}

}  // namespace lithe::internal
