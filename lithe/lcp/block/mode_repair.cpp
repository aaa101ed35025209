#include "lithe/lcp/block/mode_repair.h"

#include <algorithm>
#include <numeric>

namespace lithe::internal {

namespace {

constexpr int kMostDisputed = 120;  // rows of a cluster

}  // namespace

int ModeRepair::contact_of(int row) const {
  return lcp_->rows[row].kind == RowKind::friction ? lcp_->rows[row].normal : row;
}

int ModeRepair::root(int block) {
  while (parent_[block] != block) block = parent_[block] = parent_[parent_[block]];
  return block;
}

void ModeRepair::start(const FactoredLcp& lcp) {
  lcp_ = &lcp;
  round_ = 0;
  joined_.assign(lcp.rows.size(), 0);
  group_of_.resize(lcp.rows.size());
  for (std::size_t k = 0; k < lcp.groups.size(); ++k) {
    std::fill_n(group_of_.begin() + lcp.groups[k].first_row, lcp.groups[k].row_count, static_cast<int>(k));
  }
}

void ModeRepair::join(const PreparedLcp& problem, std::span<const RowMode> from, std::span<const RowMode> to) {
  ++round_;
  const int n = lcp_->size();
  bad_.assign(n, 0);
  for (int i = 0; i < n; ++i) {
    if (from[i] != to[i]) bad_[contact_of(i)] = 1;
  }
  for (int i = 0; i < n; ++i) {
    const LcpRow& row = lcp_->rows[i];
    const bool imposed = row.kind == RowKind::bounded && row.lower == row.upper;
    if (problem.live[i] && !imposed && bad_[contact_of(i)] != 0) joined_[i] = round_;
  }
}

int ModeRepair::find_clusters() {
  parent_.resize(lcp_->block_sizes.size());
  std::iota(parent_.begin(), parent_.end(), 0);
  for (int i = 0; i < lcp_->size(); ++i) {
    const RowGroup& group = lcp_->groups[group_of_[i]];
    if (joined_[i] > 0 && group.block_b >= 0) parent_[root(group.block_a)] = root(group.block_b);
  }
  cluster_of_.assign(parent_.size(), -1);
  cluster_count_ = 0;
  for (int i = 0; i < lcp_->size(); ++i) {  // only what was joined just now makes a cluster
    if (joined_[i] != round_) continue;
    int& cluster = cluster_of_[root(lcp_->groups[group_of_[i]].block_a)];
    if (cluster >= 0) continue;
    cluster = cluster_count_++;
    if (static_cast<int>(clusters_.size()) < cluster_count_) clusters_.emplace_back();
    clusters_[cluster].clear();
  }
  // The youngest rows first, where not all have room; whole contacts always.
  const auto gather = [&](int oldest) {
    for (int c = 0; c < cluster_count_; ++c) clusters_[c].clear();
    for (int i = 0; i < lcp_->size(); ++i) {
      if (joined_[i] == 0 || joined_[i] < oldest) continue;
      const int cluster = cluster_of_[root(lcp_->groups[group_of_[i]].block_a)];
      if (cluster < 0) continue;
      std::vector<int>& rows = clusters_[cluster];
      const bool follows = !rows.empty() && contact_of(rows.back()) == contact_of(i);
      if (oldest < round_ || follows || static_cast<int>(rows.size()) < kMostDisputed) rows.push_back(i);
    }
  };
  const auto too_large = [&] {
    for (int c = 0; c < cluster_count_; ++c) {
      if (rows_in(c) > kMostDisputed) return true;
    }
    return false;
  };
  gather(1);
  if (too_large()) gather(round_ - 1);
  if (too_large()) gather(round_);
  return cluster_count_;
}

double ModeRepair::work_per_event(int cluster) const {
  const double m = rows_in(cluster);
  return m * m * (m / 3 + 6);
}

bool ModeRepair::resolve(int cluster, double ridge, int most_events, BlockModeSystem& system,
                         std::span<RowMode> modes) {
  const std::vector<int>& Z = clusters_[cluster];
  const int m = static_cast<int>(Z.size());
  place_.assign(modes.size(), -1);
  for (int a = 0; a < m; ++a) place_[Z[a]] = a;
  rest_.assign(modes.begin(), modes.end());
  for (const int i : Z) rest_[i] = RowMode::separating;
  events_ = 0;
  if (!system.factorize(rest_, ridge)) return false;
  system.solve_exactly();
  w_.resize(modes.size());
  system.evaluate(system.f(), w_);

  grow(u_, system.coordinates());
  path_.M.resize(m, m);
  path_.q.resize(m);
  path_.rows.resize(m);
  small_.resize(m);
  for (int b = 0; b < m; ++b) {
    system.respond(Z[b], u_.data());
    double* column = path_.M.column(b);
    for (int a = 0; a < m; ++a) column[a] = system.form(Z[a], u_.data());
    std::fill(column + m, column + path_.M.stride, 0.0);
    column[b] += ridge;
    path_.q[b] = w_[Z[b]];
    LcpRow row = lcp_->rows[Z[b]];
    if (row.kind == RowKind::friction) row.normal = place_[row.normal];
    if (row.key == 0) row.key = static_cast<std::uint64_t>(Z[b]) + 1;
    path_.rows[b] = row;
    small_[b] = modes[Z[b]];
  }
  bool found = path_.follow(small_, std::min(2 * m + 40, most_events));
  events_ = path_.events();
  if (!found && events_ < most_events) {
    found = path_.follow_from_rest(small_, std::min(4 * m + 40, most_events - events_));
    events_ += path_.events();
  }
  if (!found) return false;
  for (int b = 0; b < m; ++b) modes[Z[b]] = small_[b];
  return true;
}

}  // namespace lithe::internal
