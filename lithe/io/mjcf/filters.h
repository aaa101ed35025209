#pragma once

#include <compare>
#include <map>
#include <vector>

#include "lithe/io/mjcf/parts.h"

namespace lithe::internal::mjcf {

// Translates MuJoCo's rule for who may touch whom into collision filters. MuJoCo's rule is (contype₁ & conaffinity₂) ∨
// (contype₂ & conaffinity₁) ≠ 0, or a <pair> of the two; Lithe's is that each one's groups meet the other's mask. Every
// combination of contype, conaffinity and partners that the file has becomes a group of its own (geoms with the same
// partners are partners of the same geoms), and its mask leaves out the groups that it does not touch. This is exact
// for up to 32 combinations. The usual file has one combination, which gives the default filter.
class ContactFilters {
 public:
  explicit ContactFilters(const std::vector<GeomPart>& geoms);

  // The filter of a geom that touches anything; and whether all filters say exactly what MuJoCo's rule says.
  CollisionFilter filter(const GeomPart& geom) const;
  bool exact() const { return exact_; }

 private:
  struct Combination {
    std::uint32_t contype, conaffinity;
    std::vector<int> partners;  // GeomPart::partners
    auto operator<=>(const Combination&) const = default;
  };
  static Combination combination(const GeomPart& geom) { return {geom.contype, geom.conaffinity, geom.partners}; }

  std::map<Combination, CollisionFilter> filters_;
  bool exact_ = true;
};

}  // namespace lithe::internal::mjcf
