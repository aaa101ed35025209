#pragma once

namespace lithe::internal {

// What counts as a solution (docs/lcp.md), for all solvers that give the exact one.

// The ridge ε, of mean(diag A), and the smaller ones where it bends the equations too much.
inline constexpr double kRidgeLevels[] = {1e-9, 1e-11, 1e-13};
// By more than this share of the velocity scale.
inline constexpr double kBend = 1e-6;
// residual() of polished impulses, and of those with the flag `unpolished`.
inline constexpr double kPolishedResidual = 1e-9;
inline constexpr double kUnpolishedResidual = 1e-5;
// In loops no smaller ridge is tried up to this residual of polished impulses, which then have that flag.
inline constexpr double kAlmostPolished = 1e-7;
// What two-sided rows leave of A_ii where they imply row i.
inline constexpr double kImpliedByLoops = 1e-9;
// The same where loops that almost close must not count as closed.
inline constexpr double kImpliedByRounding = 1e-13;

}  // namespace lithe::internal
