#include "lithe/step/internal/row_memory.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace lithe::internal {

namespace {

// The mode of a row that nothing is known of: a contact that approaches closes and sticks.
RowMode fresh_mode(const ContactProblem& problem, const Constraint& constraint, int k) {
  const bool pushes = problem.b[constraint.first_row] < 0;
  switch (problem.rows[constraint.first_row + k].kind) {
    case RowKind::one_sided:
    case RowKind::friction: return pushes ? RowMode::clamping : RowMode::separating;
    case RowKind::bounded:
    case RowKind::two_sided: break;
  }
  return RowMode::clamping;
}

// The nearest float, and never infinity.
float rounded(double impulse) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(impulse, -kLargest, kLargest));
}

// The row past an island's last one.
int end_of(const Island& island) { return island.first_row + island.row_count; }

}  // namespace

bool RowMemory::ByKey::operator()(const Entry& a, const Entry& b) const {
  return std::tie(a.pair, a.feature, a.feature_kind) < std::tie(b.pair, b.feature, b.feature_kind);
}

void RowMemory::remember(std::span<const Constraint> constraints, std::span<const Island> islands,
                         std::span<const RowMode> modes, std::span<const double> impulses,
                         std::span<const LcpReport> reports, std::span<const std::uint8_t> steady, WarmStart& out) {
  std::vector<Entry>& entries = out.entries_;
  entries.clear();
  int island = 0;
  for (const Constraint& constraint : constraints) {
    while (constraint.first_row >= end_of(islands[island])) ++island;
    Entry& entry = entries.emplace_back();
    entry.pair = constraint.key.pair;
    entry.feature = constraint.key.feature;
    entry.feature_kind = constraint.key.feature_kind;
    entry.steady = steady[island] != 0;
    entry.ridge = static_cast<float>(reports[island].ridge);
    std::copy_n(modes.begin() + constraint.first_row, constraint.rows, entry.modes);
    for (int k = 0; k < constraint.rows; ++k) entry.impulses[k] = rounded(impulses[constraint.first_row + k]);
    // A contact whose friction appears later starts by sticking.
    std::fill(entry.modes + constraint.rows, std::end(entry.modes), RowMode::clamping);
    std::fill(entry.impulses + constraint.rows, std::end(entry.impulses), 0.0F);
  }
  // Islands are in the order of their trees, which need not be that of the shapes.
  if (!std::is_sorted(entries.begin(), entries.end(), ByPair())) std::sort(entries.begin(), entries.end(), ByKey());
}

// Constraints come mostly in the order in which they were remembered.
int RowMemory::guess(const WarmStart& from, const ContactProblem& problem, RowGuess& out) {
  const std::vector<Entry>& entries = from.entries_;
  out.modes.resize(problem.rows.size());
  out.impulses.resize(problem.rows.size());
  out.steady.assign(problem.island_count(), 1);
  out.ridges.assign(problem.island_count(), 0.0);
  int found = 0, island = 0;
  auto cursor = entries.begin();
  for (const Constraint& constraint : problem.constraints) {
    while (constraint.first_row >= end_of(problem.islands.islands()[island])) ++island;
    const ConstraintKey& key = constraint.key;
    // Usually the next entry; else a search for the pair, then among its few entries.
    if (cursor == entries.end() || !(key_of(*cursor) == key)) {
      cursor = std::lower_bound(entries.begin(), entries.end(), key.pair,
                                [](const Entry& entry, std::uint64_t pair) { return entry.pair < pair; });
      while (cursor != entries.end() && cursor->pair == key.pair && !(key_of(*cursor) == key)) ++cursor;
    }
    const bool known = cursor != entries.end() && key_of(*cursor) == key;
    if (!known || !cursor->steady) out.steady[island] = 0;
    for (int k = 0; k < constraint.rows; ++k) {
      const int row = constraint.first_row + k;
      out.modes[row] = known ? cursor->modes[k] : fresh_mode(problem, constraint, k);
      out.impulses[row] = known ? cursor->impulses[k] : 0.0;
    }
    if (known) {
      double& ridge = out.ridges[island];
      if (cursor->ridge > 0 && (ridge == 0 || cursor->ridge < ridge)) ridge = cursor->ridge;
      ++found;
      ++cursor;
    }
  }
  return found;
}

}  // namespace lithe::internal
