#pragma once

#include "lithe/contact/contact_problem.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe::internal {

struct SweepWorkspace {
  std::vector<int> patch;       // by row of the island
  std::vector<double> impulse;  // by row
};

// Projected Gauss–Seidel on an island whose A is never formed: each push changes the velocities of the touches, and each row
// reads its own from them. A sweep costs O(rows), not O(rows²), in time and memory, so this is for islands that are too
// large to be solved directly (LcpOptions::direct_rows): piles of hundreds of bodies.
//
// f, w and modes are the island's. As precise as Gauss–Seidel is: see lithe/lcp/sweeps/gauss_seidel.h.
LcpReport solve_by_sweeps(ContactProblem& problem, int island, const LcpOptions& options, SweepWorkspace& work,
                          std::span<double> f, std::span<double> w, std::span<RowMode> modes);

}  // namespace lithe::internal
