#include "lithe/io/mjcf_filters.h"

namespace lithe::mjcf {

namespace {

constexpr int kGroups = 32;

}  // namespace

ContactFilters::ContactFilters(const std::vector<GeomPart>& geoms) {
  std::vector<Combination> combinations;
  for (const GeomPart& geom : geoms) {
    if (!geom.touches()) continue;
    const Combination combination = {geom.contype, geom.conaffinity};
    if (filters_.contains(combination)) continue;
    if (static_cast<int>(combinations.size()) == kGroups) {
      // One too many: it shares all groups, and so touches too much rather than too little.
      exact_ = false;
      filters_[combination] = {~std::uint32_t{0}, ~std::uint32_t{0}};
      continue;
    }
    filters_[combination].groups = std::uint32_t{1} << combinations.size();
    combinations.push_back(combination);
  }
  for (const Combination& one : combinations) {
    for (const Combination& other : combinations) {
      const bool touch = ((one.first & other.second) | (other.first & one.second)) != 0;
      if (!touch) filters_[one].mask &= ~filters_[other].groups;
    }
  }
}

CollisionFilter ContactFilters::filter(const GeomPart& geom) const {
  return filters_.at({geom.contype, geom.conaffinity});
}

}  // namespace lithe::mjcf
