#pragma once

#include <vector>

#include "lithe/lcp/block/mode_system.h"
#include "lithe/lcp/modes/prepared_lcp.h"
#include "lithe/lcp/pivoting/small_lemke_path.h"

namespace lithe::internal {

// Exact modes for a few rows in dispute, while all others keep theirs.
//
// In a large island most modes are right long before all are: rows that go on changing sit in a few spots. The others, F, are
// eliminated through the factor of their own modes, and what they leave of the disputed rows Z is a small dense problem,
//
//   M = ε̄ G_Z S_F⁻¹ G_Zᵀ + ε̄ I,   q = w_Z where Z is absent,
//
// with one solve per row of Z. New violators join Z. Rows that are connected through blocks form a cluster and are repaired
// together, so that the work grows with the number of spots.
class ModeRepair {
 public:
  void start(const FactoredLcp& lcp);  // nothing is in dispute

  // Contacts any of whose rows change their mode from one to the other, of live rows.
  void join(const PreparedLcp& problem, std::span<const RowMode> from, std::span<const RowMode> to);
  // Gathers clusters that were joined just now; those that are too large are cut down to what was. Returns their number.
  int find_clusters();
  int rows_in(int cluster) const { return static_cast<int>(clusters_[cluster].size()); }

  // Finds the cluster's modes, within so many events. `ridge` is ε̄. False, and all modes as they were, where no path arrives.
  bool resolve(int cluster, double ridge, int most_events, BlockModeSystem& system, std::span<RowMode> modes);
  // In multiplications.
  double work_per_event(int cluster) const;
  int events() const { return events_; }  // of the last path

 private:
  int contact_of(int row) const;
  int root(int block);

  const FactoredLcp* lcp_ = nullptr;
  int round_ = 0;
  std::vector<int> joined_;  // per row: the last round in which it did; 0: never
  std::vector<int> group_of_;
  std::vector<char> bad_;  // per contact
  std::vector<int> parent_, cluster_of_;
  std::vector<std::vector<int>> clusters_;
  int cluster_count_ = 0;
  SmallLemkePath path_;
  std::vector<int> place_;
  std::vector<RowMode> rest_, small_;
  std::vector<double> w_;
  AlignedBuffer u_;
  int events_ = 0;
};

}  // namespace lithe::internal
