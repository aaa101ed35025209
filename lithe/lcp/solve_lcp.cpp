#include "lithe/lcp/solve_lcp.h"

#include "lithe/core/check.h"
#include "lithe/lcp/direct_solver.h"
#include "lithe/lcp/gauss_seidel.h"
#include "lithe/lcp/lcp_buffers.h"

namespace lithe {

const char* to_string(LcpStage stage) {
  switch (stage) {
    case LcpStage::none: return "none";
    case LcpStage::guess: return "guess";
    case LcpStage::follow: return "follow";
    case LcpStage::active_set: return "active_set";
    case LcpStage::path: return "path";
    case LcpStage::dantzig: return "dantzig";
    case LcpStage::gauss_seidel: return "gauss_seidel";
    case LcpStage::unsolved: break;
  }
  return "unsolved";
}

LcpWorkspace::LcpWorkspace() : buffers_(std::make_unique<Buffers>()) {}
LcpWorkspace::~LcpWorkspace() = default;
LcpWorkspace::LcpWorkspace(LcpWorkspace&&) noexcept = default;
LcpWorkspace& LcpWorkspace::operator=(LcpWorkspace&&) noexcept = default;
LcpWorkspace::LcpWorkspace(const LcpWorkspace&) : LcpWorkspace() {}
LcpWorkspace& LcpWorkspace::operator=(const LcpWorkspace&) { return *this; }

std::span<const std::uint8_t> LcpWorkspace::dropped_targets() const { return buffers_->dropped; }

LcpReport solve_lcp(const BoxedLcp& lcp, const LcpOptions& options, const LcpGuess& guess, LcpWorkspace& workspace,
                    std::span<double> f, std::span<double> w, std::span<RowClass> classes) {
  const std::size_t n = lcp.rows.size();
  LITHE_CHECK(f.size() == n && w.size() == n && classes.size() == n,
              "f, w and classes have {}, {} and {} entries, there are {} rows", f.size(), w.size(), classes.size(), n);
  LITHE_CHECK(guess.classes.empty() || guess.classes.size() == n,
              "the guess has {} entries, there are {} rows (or none)", guess.classes.size(), n);
  LITHE_CHECK(guess.impulses.empty() || guess.impulses.size() == n,
              "the guess has {} impulses, there are {} rows (or none)", guess.impulses.size(), n);
  LcpWorkspace::Buffers& buffers = workspace.buffers();
  buffers.problem.prepare(lcp);
  if (n == 0) return {};
  const bool too_large = static_cast<int>(n) > options.direct_rows;
  if (options.method == LcpMethod::dantzig) return solve_dantzig(lcp, buffers.dantzig, f, w, classes);
  if (options.method == LcpMethod::gauss_seidel || too_large) {
    std::fill(f.begin(), f.end(), 0.0);
    return solve_gauss_seidel(lcp, options, f, w, classes);
  }
  return DirectSolver(lcp, options, buffers).solve(guess, f, w, classes);
}

LcpSolution solve_lcp(const BoxedLcp& lcp, const LcpOptions& options, const LcpGuess& guess) {
  LcpSolution solution;
  const std::size_t n = lcp.rows.size();
  solution.f.resize(n);
  solution.w.resize(n);
  solution.classes.resize(n);
  LcpWorkspace workspace;
  solution.report = solve_lcp(lcp, options, guess, workspace, solution.f, solution.w, solution.classes);
  if (has(solution.report.flags, LcpFlag::targets_dropped)) {
    const auto dropped = workspace.dropped_targets();
    solution.dropped_targets.assign(dropped.begin(), dropped.end());
  }
  return solution;
}

}  // namespace lithe
