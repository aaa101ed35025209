#pragma once

#include "lithe/step/internal/step_workspace.h"

namespace lithe::internal {

// Stage 5 of a step: the impulses f of the problem in work.stages, island by island, with the velocities w and the modes that they
// cause, and what the solver has to say about it. Islands know nothing of one another, so where they are many, threads share them
// (StepOptions::threads), each with memory of its own; the bits are the same on any number.
void solve_islands(const Model& model, StepRecord& record, StepWorkspace& work, const WarmStart* guess);

// The mass of each island's trees.
void weigh_islands(const DofTree& tree, const MassMatrix& M, const Islands& islands, std::vector<double>& masses);

}  // namespace lithe::internal
