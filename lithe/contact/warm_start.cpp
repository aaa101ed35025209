#include "lithe/contact/warm_start.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace lithe {

namespace {

struct ByPair {
  bool operator()(const auto& a, const auto& b) const { return a.key.pair < b.key.pair; }
};
struct ByKey {
  bool operator()(const auto& a, const auto& b) const {
    return std::tie(a.key.pair, a.key.feature, a.key.feature_kind) <
           std::tie(b.key.pair, b.key.feature, b.key.feature_kind);
  }
};

// A row that nothing is known of.
RowClass fresh_class(const ContactProblem& problem, const Constraint& constraint, int k) {
  const bool pushes = problem.b[constraint.first_row] < 0;
  switch (problem.rows[constraint.first_row + k].kind) {
    case RowKind::one_sided:
    case RowKind::friction: return pushes ? RowClass::clamping : RowClass::separating;
    case RowKind::bounded:
    case RowKind::two_sided: break;
  }
  return RowClass::clamping;
}

// The nearest float, and never infinity.
float rounded(double impulse) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(impulse, -kLargest, kLargest));
}

int end_of(const Island& island) { return island.first_row + island.row_count; }

}  // namespace

void WarmStart::remember(std::span<const Constraint> constraints, std::span<const Island> islands,
                         std::span<const RowClass> classes, std::span<const double> impulses,
                         std::span<const LcpReport> reports, std::span<const std::uint8_t> steady) {
  entries_.clear();
  int island = 0;
  for (const Constraint& constraint : constraints) {
    while (constraint.first_row >= end_of(islands[island])) ++island;
    Entry& entry = entries_.emplace_back();
    entry.key = constraint.key;
    entry.steady = steady[island] != 0;
    entry.ridge = static_cast<float>(reports[island].ridge);
    std::copy_n(classes.begin() + constraint.first_row, constraint.rows, entry.classes);
    for (int k = 0; k < constraint.rows; ++k) entry.impulses[k] = rounded(impulses[constraint.first_row + k]);
    // A contact whose friction appears later starts by sticking.
    std::fill(entry.classes + constraint.rows, std::end(entry.classes), RowClass::clamping);
    std::fill(entry.impulses + constraint.rows, std::end(entry.impulses), 0.0F);
  }
  // Islands are in the order of their trees, which need not be that of the shapes.
  if (!std::is_sorted(entries_.begin(), entries_.end(), ByPair())) std::sort(entries_.begin(), entries_.end(), ByKey());
}

int WarmStart::guess(const ContactProblem& problem, Guess& out) const {
  out.classes.resize(problem.rows.size());
  out.impulses.resize(problem.rows.size());
  out.steady.assign(problem.island_count(), 1);
  out.ridges.assign(problem.island_count(), 0.0);
  int found = 0, island = 0;
  auto cursor = entries_.begin();
  for (const Constraint& constraint : problem.constraints) {
    while (constraint.first_row >= end_of(problem.islands.islands()[island])) ++island;
    const ConstraintKey& key = constraint.key;
    // Usually the next entry; else a search for the pair, then among its few entries.
    if (cursor == entries_.end() || !(cursor->key == key)) {
      cursor =
          std::lower_bound(entries_.begin(), entries_.end(),
                           Entry{.key = key, .classes = {}, .steady = false, .ridge = 0, .impulses = {}}, ByPair());
      while (cursor != entries_.end() && cursor->key.pair == key.pair && !(cursor->key == key)) ++cursor;
    }
    const bool known = cursor != entries_.end() && cursor->key == key;
    if (!known || !cursor->steady) out.steady[island] = 0;
    for (int k = 0; k < constraint.rows; ++k) {
      const int row = constraint.first_row + k;
      out.classes[row] = known ? cursor->classes[k] : fresh_class(problem, constraint, k);
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

}  // namespace lithe
