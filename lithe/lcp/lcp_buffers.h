#pragma once

#include <cstdint>
#include <vector>

#include "lithe/lcp/class_path.h"
#include "lithe/lcp/dantzig.h"
#include "lithe/lcp/prepared_lcp.h"
#include "lithe/lcp/ridge_solution.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe {

struct LcpWorkspace::Buffers {
  PreparedLcp problem;
  RidgeSolution solution;
  ClassPath path;
  DantzigBuffers dantzig;
  std::vector<RowClass> classes;     // of the attempt
  std::vector<RowClass> right;       // the last ones found right
  std::vector<double> w;             // of the attempt
  std::vector<double> f_polished, w_polished;
  std::vector<double> f_best;        // least residual so far
  std::vector<double> b_free;        // b without targets
  std::vector<std::uint64_t> seen;   // hashes of the classes tried
};

}  // namespace lithe
