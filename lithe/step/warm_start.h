#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lithe/lcp/boxed_lcp.h"

namespace lithe {

namespace internal {
struct RowMemory;
}  // namespace internal

// How the rows of one step were classified and what they pushed with, by name, as a guess for the next one: state that a step
// takes in and gives out openly. It saves time; what it holds is the solver's own affair.
class WarmStart {
 public:
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }
  std::size_t memory() const { return entries_.capacity() * sizeof(Entry); }  // bytes on the heap

 private:
  friend struct internal::RowMemory;

  // One constraint.
  struct Entry {
    std::uint64_t pair, feature;  // its name: internal::ConstraintKey
    std::uint8_t feature_kind;
    RowMode modes[6];
    bool steady;
    float ridge;
    float impulses[6];  // where a path begins, which need not be exact
  };
  std::vector<Entry> entries_;  // ascending by pair
};

}  // namespace lithe
