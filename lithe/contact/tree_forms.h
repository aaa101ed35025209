#pragma once

#include <span>
#include <vector>

#include "lithe/contact/touch_space.h"
#include "lithe/lcp/factored_lcp.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe::internal {

struct ContactProblem;
struct Patch;

// The rows of one island as linear forms on the whitened DoFs of its trees, for islands that are solved without A:
//
//   A = G Gᵀ,   G = T W   (TouchSpace),
//
// one block per tree. A row's compliance D is one coordinate more of its (first) tree, in which the row is √D.
class TreeForms {
 public:
  void compute(const DofTree& tree, const ContactProblem& problem, int island);
  // Of the island that was computed last. A view on both.
  FactoredLcp lcp(const ContactProblem& problem, int island) const;

 private:
  void find_blocks(const DofTree& tree, const ContactProblem& problem, int island);
  void find_groups(const ContactProblem& problem, int island);
  bool is_of_free_bodies(const DofTree& tree, const ContactProblem& problem, const Patch& patch,
                         const RowGroup& group) const;
  void write_side(const DofTree& tree, const ContactProblem& problem, int patch, bool second, double* rows, int width);

  std::vector<int> block_of_;  // per block of the touch space: the island's number for it, or −1
  std::vector<int> blocks_;    // the other way round, ascending
  std::vector<int> sizes_;     // coordinates
  std::vector<int> dofs_;      // of these, the tree's own
  std::vector<RowGroup> groups_;
  std::vector<double> diagonal_;
  AlignedBuffer G_;
  std::vector<int> coordinate_;  // of each place on a touch's path
};

// Whether the island is better solved without A: by its size, by the number of its trees, by options. (A robot alone is one tree,
// whose rows all meet.)
bool prefers_trees(const DofTree& tree, const ContactProblem& problem, int island, const LcpOptions& options);

}  // namespace lithe::internal
