#pragma once

#include <span>
#include <vector>

#include "lithe/contact/contact_problem.h"

namespace lithe {

// How the rows of one step were classified, by name, as a guess for the next one: state that a step takes in and gives
// out openly.
class WarmStart {
 public:
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }

  // Keeps the classes of all rows.
  void remember(const ContactProblem& problem, std::span<const RowClass> classes);

  // The class of every row of `problem`: as remembered where a constraint of the same name was there, else as for a contact
  // that has just closed (clamping if its velocity would violate it, b < 0, friction sticking). Returns how many
  // constraints were found.
  int guess(const ContactProblem& problem, std::span<RowClass> classes) const;

 private:
  struct Entry {
    ConstraintKey key;
    RowClass classes[6];
  };
  std::vector<Entry> entries_;  // ascending by key.pair
};

}  // namespace lithe
