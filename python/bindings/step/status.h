#pragma once

#include <string>
#include <vector>

#include "lithe/lcp/solve_lcp.h"

namespace lithe::python {

// 'unpolished', 'tied', 'targets_dropped', 'unsolved'.
std::vector<std::string> flag_names(LcpFlag flags);

}  // namespace lithe::python
