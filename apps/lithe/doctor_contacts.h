#pragma once

#include <string>
#include <vector>

#include "lithe/io/loaded_model.h"

namespace lithe::cli {

// Two bodies that touch where a model starts.
struct TouchingPair {
  std::string a, b;  // in the order of their names
  double depth = 0;  // m; < 0: they are this far apart, within what contacts bridge
};
std::vector<TouchingPair> touching_pairs(const LoadedModel& loaded);

// "12 pairs of links do not touch: 4 joined, 5 often, 3 start; a and b (they touch in 92 % of poses), … and 5 more"; empty where none was
// excepted.
std::string describe_excepted_pairs(const LoadedModel& loaded);

// As JSON arrays of objects.
std::string touching_json(const std::vector<TouchingPair>& pairs);
std::string excepted_json(const LoadedModel& loaded);

}  // namespace lithe::cli
