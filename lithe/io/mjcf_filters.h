#pragma once

#include <map>
#include <utility>
#include <vector>

#include "lithe/io/mjcf_parts.h"

namespace lithe::mjcf {

// Who may touch whom. MuJoCo's rule is (contype₁ & conaffinity₂) ∨ (contype₂ & conaffinity₁) ≠ 0; Lithe's is that each one's groups meet
// the other's mask. Every combination of contype and conaffinity that the file has becomes a group of its own, and its mask leaves out
// the groups that it does not touch: exact for up to 32 combinations. The most frequent file, with one combination, has the default filter.
class ContactFilters {
 public:
  explicit ContactFilters(const std::vector<GeomPart>& geoms);

  CollisionFilter filter(const GeomPart& geom) const;
  bool exact() const { return exact_; }

 private:
  using Combination = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Combination, CollisionFilter> filters_;
  bool exact_ = true;
};

}  // namespace lithe::mjcf
