#include "lithe/lcp/solve_lcp.h"

#include "lithe/core/check.h"
#include "lithe/lcp/direct/direct_solver.h"
#include "lithe/lcp/direct/lcp_buffers.h"
#include "lithe/lcp/modes/doubtful_target.h"
#include "lithe/lcp/sweeps/gauss_seidel.h"

namespace lithe {

using namespace internal;

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

LcpWorkspace::LcpWorkspace() : buffers_(std::make_unique<LcpBuffers>()) {}
LcpWorkspace::~LcpWorkspace() = default;
LcpWorkspace::LcpWorkspace(LcpWorkspace&&) noexcept = default;
LcpWorkspace& LcpWorkspace::operator=(LcpWorkspace&&) noexcept = default;
LcpWorkspace::LcpWorkspace(const LcpWorkspace&) : LcpWorkspace() {}
LcpWorkspace& LcpWorkspace::operator=(const LcpWorkspace&) { return *this; }

LcpBuffers& LcpWorkspace::buffers() {
  if (!buffers_) buffers_ = std::make_unique<LcpBuffers>();  // it was moved from
  return *buffers_;
}

std::span<const std::uint8_t> LcpWorkspace::dropped_targets() const {
  if (!buffers_) return {};
  return buffers_->dropped;
}

LcpReport solve_lcp(const BoxedLcp& lcp, const LcpOptions& options, const LcpGuess& guess, LcpWorkspace& workspace,
                    std::span<double> f, std::span<double> w, std::span<RowMode> modes) {
  const std::size_t n = lcp.rows.size();
  LITHE_CHECK(f.size() == n && w.size() == n && modes.size() == n,
              "f, w and modes have {}, {} and {} entries, there are {} rows", f.size(), w.size(), modes.size(), n);
  LITHE_CHECK(guess.modes.empty() || guess.modes.size() == n, "the guess has {} entries, there are {} rows (or none)",
              guess.modes.size(), n);
  LITHE_CHECK(guess.impulses.empty() || guess.impulses.size() == n,
              "the guess has {} impulses, there are {} rows (or none)", guess.impulses.size(), n);
  LcpBuffers& buffers = workspace.buffers();
  buffers.problem.prepare(lcp);
  if (n == 0) return {};
  const bool too_large = static_cast<int>(n) > options.direct_rows;
  if (options.method == LcpMethod::dantzig) return solve_dantzig(lcp, buffers.dantzig, f, w, modes);
  if (options.method == LcpMethod::gauss_seidel || too_large) {
    std::fill(f.begin(), f.end(), 0.0);
    return solve_gauss_seidel(lcp, options, f, w, modes);
  }
  return DirectSolver(lcp, options, buffers).solve(guess, f, w, modes);
}

namespace {

// Islands with more rows than this are not given to the dense solver, which would take too long.
constexpr int kDenseRows = 300;

// A = G Gᵀ.
BoxedLcp form_matrix(const FactoredLcp& lcp, AlignedBuffer& A) {
  const int n = lcp.size(), stride = padded(n);
  A.assign(static_cast<std::size_t>(stride) * n, 0.0);
  for (const RowGroup& p : lcp.groups) {
    for (const RowGroup& q : lcp.groups) {
      for (const bool p_second : {false, true}) {
        for (const bool q_second : {false, true}) {
          const int block = p_second ? p.block_b : p.block_a;
          if (block < 0 || block != (q_second ? q.block_b : q.block_a)) continue;
          const int width = lcp.width_of(block), p_width = lcp.width(p), q_width = lcp.width(q);
          const double* left = lcp.G + p.start + (p_second ? lcp.width_of(p.block_a) : 0);
          const double* right = lcp.G + q.start + (q_second ? lcp.width_of(q.block_a) : 0);
          for (int j = 0; j < q.row_count; ++j) {
            double* column = A.data() + static_cast<std::ptrdiff_t>(stride) * (q.first_row + j) + p.first_row;
            for (int i = 0; i < p.row_count; ++i) {
              Pack sum = {};
              for (int k = 0; k < width; k += kLanes) {
                sum += as_pack(left + i * p_width + k) * as_pack(right + j * q_width + k);
              }
              column[i] += lane_sum(sum);
            }
          }
        }
      }
    }
  }
  return {.rows = lcp.rows, .A = A.data(), .stride = stride, .b = lcp.b, .target = lcp.target};
}

// The block solver drops all targets that may contradict others, or none.
void mark_dropped_targets(const FactoredLcp& lcp, const LcpReport& report, std::vector<std::uint8_t>& dropped) {
  dropped.assign(lcp.rows.size(), 0);
  if (!has(report.flags, LcpFlag::targets_dropped)) return;
  for (int i = 0; i < lcp.size(); ++i) {
    dropped[i] = !lcp.target.empty() && doubtful_target(lcp.rows[i], lcp.target[i]) != 0;
  }
}

}  // namespace

LcpReport solve_lcp(const FactoredLcp& lcp, const LcpOptions& options, const LcpGuess& guess, LcpWorkspace& workspace,
                    std::span<double> f, std::span<double> w, std::span<RowMode> modes) {
  const std::size_t n = lcp.rows.size();
  LITHE_CHECK(f.size() == n && w.size() == n && modes.size() == n,
              "f, w and modes have {}, {} and {} entries, there are {} rows", f.size(), w.size(), modes.size(), n);
  LITHE_CHECK(guess.modes.empty() || guess.modes.size() == n, "the guess has {} entries, there are {} rows (or none)",
              guess.modes.size(), n);
  if (n == 0) return {};
  LcpBuffers& buffers = workspace.buffers();
  BlockSolver solver(lcp, options, buffers.blocks);
  if (solver.solve(guess, f, w, modes)) {
    mark_dropped_targets(lcp, solver.report(), buffers.dropped);
    return solver.report();
  }
  if (static_cast<int>(n) <= kDenseRows) {
    const BoxedLcp dense = form_matrix(lcp, buffers.blocks.A);
    buffers.problem.prepare(dense);
    return DirectSolver(dense, options, buffers).solve(guess, f, w, modes);
  }
  solver.write_least_residual(f, w, modes);
  return solver.report();
}

LcpSolution solve_lcp(const BoxedLcp& lcp, const LcpOptions& options, const LcpGuess& guess) {
  LcpSolution solution;
  const std::size_t n = lcp.rows.size();
  solution.f.resize(n);
  solution.w.resize(n);
  solution.modes.resize(n);
  LcpWorkspace workspace;
  solution.report = solve_lcp(lcp, options, guess, workspace, solution.f, solution.w, solution.modes);
  if (has(solution.report.flags, LcpFlag::targets_dropped)) {
    const auto dropped = workspace.dropped_targets();
    solution.dropped_targets.assign(dropped.begin(), dropped.end());
  }
  return solution;
}

}  // namespace lithe
