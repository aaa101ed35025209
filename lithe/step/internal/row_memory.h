#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/contact/contact_problem.h"
#include "lithe/lcp/solve_lcp.h"
#include "lithe/step/warm_start.h"

namespace lithe::internal {

// A guess for all rows of a problem, and by island whether its modes are likely to be right as they are: they were the
// last time, and no row is new.
struct RowGuess {
  std::vector<RowMode> modes;
  std::vector<double> impulses;
  std::vector<std::uint8_t> steady;
  std::vector<double> ridges;  // by island: the smallest ε that had found modes of its rows; 0: not known
};

// What writes and reads a WarmStart.
struct RowMemory {
  // Keeps modes and impulses of all rows of constraints that are sorted by island, and how they were found. `steady`, by
  // island: the answer was what had been guessed.
  static void remember(std::span<const Constraint> constraints, std::span<const Island> islands,
                       std::span<const RowMode> modes, std::span<const double> impulses,
                       std::span<const LcpReport> reports, std::span<const std::uint8_t> steady, WarmStart& out);

  // As remembered where a constraint of the same name was there, else as for a contact that has just closed (clamping if its
  // velocity would violate it, b < 0, friction sticking; no impulse). Returns how many constraints were found.
  static int guess(const WarmStart& from, const ContactProblem& problem, RowGuess& out);

 private:
  using Entry = WarmStart::Entry;
  struct ByPair {
    bool operator()(const Entry& a, const Entry& b) const { return a.pair < b.pair; }
  };
  struct ByKey {
    bool operator()(const Entry& a, const Entry& b) const;
  };
  static ConstraintKey key_of(const Entry& entry) {
    return {.pair = entry.pair, .feature = entry.feature, .feature_kind = entry.feature_kind};
  }
};

}  // namespace lithe::internal
