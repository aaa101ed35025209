#include "lithe/io/mjcf/filters.h"

#include <algorithm>

namespace lithe::internal::mjcf {

namespace {

constexpr int kGroups = 32;  // bits of CollisionFilter::groups

}  // namespace

ContactFilters::ContactFilters(const std::vector<GeomPart>& geoms) {
  std::vector<Combination> combinations;
  std::vector<int> examples;  // a geom of each
  for (std::size_t g = 0; g < geoms.size(); ++g) {
    if (!geoms[g].touches()) continue;
    Combination one = combination(geoms[g]);
    if (filters_.contains(one)) continue;
    if (static_cast<int>(combinations.size()) == kGroups) {
      // One too many: it shares all groups, and so touches too much rather than too little.
      exact_ = false;
      filters_[std::move(one)] = {~std::uint32_t{0}, ~std::uint32_t{0}};
      continue;
    }
    filters_[one].groups = std::uint32_t{1} << combinations.size();
    combinations.push_back(std::move(one));
    examples.push_back(static_cast<int>(g));
  }
  for (const Combination& one : combinations) {
    for (std::size_t k = 0; k < combinations.size(); ++k) {
      // A mask begins with all bits; those of groups that it does not meet are taken out.
      const Combination& other = combinations[k];
      const bool meet = ((one.contype & other.conaffinity) | (other.contype & one.conaffinity)) != 0;
      const bool paired = std::ranges::binary_search(one.partners, examples[k]);
      if (!meet && !paired) filters_[one].mask &= ~filters_[other].groups;
    }
  }
}

CollisionFilter ContactFilters::filter(const GeomPart& geom) const { return filters_.at(combination(geom)); }

}  // namespace lithe::internal::mjcf
