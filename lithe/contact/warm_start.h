#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/contact/contact_problem.h"
#include "lithe/core/heap_size.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe {

// How the rows of one step were classified and what they pushed with, by name, as a guess for the next one: state that a step
// takes in and gives out openly.
class WarmStart {
 public:
  // A guess for all rows of a problem, and by island whether its classes are likely to be right as they are: they were the
  // last time, and no row is new.
  struct Guess {
    std::vector<RowClass> classes;
    std::vector<double> impulses;
    std::vector<std::uint8_t> steady;
    std::vector<double> ridges;  // by island: the smallest ε that had found classes of its rows; 0: not known
  };

  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }
  std::size_t memory() const { return heap_size(entries_); }  // bytes on the heap

  // Keeps classes and impulses of all rows of constraints that are sorted by island, and how they were found. `steady`, by
  // island: the answer was what had been guessed.
  void remember(std::span<const Constraint> constraints, std::span<const Island> islands,
                std::span<const RowClass> classes, std::span<const double> impulses, std::span<const LcpReport> reports,
                std::span<const std::uint8_t> steady);

  // As remembered where a constraint of the same name was there, else as for a contact that has just closed (clamping if its
  // velocity would violate it, b < 0, friction sticking; no impulse). Returns how many constraints were found.
  int guess(const ContactProblem& problem, Guess& out) const;

 private:
  struct Entry {
    ConstraintKey key;
    RowClass classes[6];
    bool steady;
    float ridge;
    float impulses[6];  // where a path begins, which need not be exact
  };
  std::vector<Entry> entries_;  // ascending by key.pair
};

}  // namespace lithe
