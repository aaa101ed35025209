#pragma once

#include <string>
#include <vector>

#include "lithe/io/loaded_model.h"

namespace lithe::cli {

// What is wrong with a robot, or looks as if it were.
struct Finding {
  enum class Severity { note, warning, error };
  Severity severity = Severity::note;
  std::string check;  // a short name, to look up in docs/files.md
  std::string text;
};
const char* to_string(Finding::Severity severity);

// All checks of a model that loads, in the order in which an author would want to read them.
std::vector<Finding> examine(const LoadedModel& loaded);

}  // namespace lithe::cli
