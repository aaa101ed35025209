#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lithe/lcp/boxed_lcp.h"
#include "lithe/lcp/factored_lcp.h"

namespace lithe {

namespace internal {
struct LcpBuffers;
}  // namespace internal

enum class LcpMethod : std::uint8_t {
  direct,        // the pipeline below: exact
  dantzig,       // Baraff's and the paper's row by row pivoting, for comparison
  gauss_seidel,  // projected Gauss–Seidel sweeps: approximate
};

struct LcpOptions {
  LcpMethod method = LcpMethod::direct;
  bool cold = false;  // ignore the guess
  // A is formed up to here. Above, islands of the step are solved by algebra over trees (FactoredLcp) or swept without it; a
  // BoxedLcp is swept.
  int direct_rows = 1000;
  // `direct`: islands of several trees with more rows than this are solved without A where that is predicted to be faster.
  int block_rows = 40;
  int sweeps = 2000;  // of Gauss–Seidel, at most
};

// Which stage answered.
enum class LcpStage : std::uint8_t {
  none,        // there was nothing to solve: no row, or no row that pushes
  guess,       // the given classification was right
  follow,      // the given impulses' solution was followed to this problem's
  active_set,  // a few rounds of moving all violators
  path,        // the pivoting path on modes
  dantzig,
  gauss_seidel,
  unsolved,  // no stage met its tolerance: f is the least-residual one, finite and within its bounds
};
const char* to_string(LcpStage stage);

enum class LcpFlag : std::uint8_t {
  none = 0,
  unpolished = 1,  // f is the ridge problem's (the exact solution of its modes leaves the bounds, or depends on the
                   // ridge), or rounding keeps the residual above 1e-9
  tied = 2,        // a row is about to change its mode, and w there is not implied by the clamping rows
  targets_dropped = 4,  // targets contradicted one another: positive and two-sided ones were set to zero
  unsolved = 8,
};
constexpr LcpFlag operator|(LcpFlag a, LcpFlag b) {
  return static_cast<LcpFlag>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool has(LcpFlag flags, LcpFlag flag) {
  return (static_cast<std::uint8_t>(flags) & static_cast<std::uint8_t>(flag)) != 0;
}

struct LcpReport {
  LcpStage stage = LcpStage::none;
  LcpFlag flags = LcpFlag::none;
  double residual = 0;  // residual() of f, w; with targets_dropped that of the problem without them
  double ridge = 0;     // the ε of the last ridge problem
  int rank = 0;         // of A_CC; −1 where it was not needed
  int clamping_rows = 0;
  int factorizations = 0;  // of a mode's matrix, small ones for a path included
  int events = 0;          // mode changes on the way from the given impulses
  int rounds = 0;          // of the active set
  int pivots = 0;          // of the path or of Dantzig; sweeps of Gauss–Seidel
  int tied_rows = 0;       // f and w both at zero within tolerance, implied or not

  bool solved() const { return !has(flags, LcpFlag::unsolved); }
};

// Memory of the solver, kept from one call to the next. It saves allocations and changes no result.
class LcpWorkspace {
 public:
  LcpWorkspace();
  ~LcpWorkspace();
  LcpWorkspace(LcpWorkspace&&) noexcept;
  LcpWorkspace& operator=(LcpWorkspace&&) noexcept;
  LcpWorkspace(const LcpWorkspace&);  // a copy starts empty
  LcpWorkspace& operator=(const LcpWorkspace&);

  // Of the last problem, by row: whether its target was dropped (LcpFlag::targets_dropped).
  std::span<const std::uint8_t> dropped_targets() const;

  internal::LcpBuffers& buffers();  // the library's own

 private:
  std::unique_ptr<internal::LcpBuffers> buffers_;
};

// What is known of the solution, as that of the step before: n entries or none of each.
struct LcpGuess {
  std::span<const RowMode> modes = {};
  std::span<const double> impulses = {};  // a path begins here (LcpStage::follow)
  bool steady = true;                     // the modes are likely to be right as they are: they are tried first
  double ridge = 0;                       // the ε that had found the modes (LcpReport::ridge); 0: not known

  LcpGuess() = default;
  // Modes alone, in whatever holds them.
  template <std::convertible_to<std::span<const RowMode>> Modes>
  LcpGuess(const Modes& given_modes) : modes(given_modes) {}  // NOLINT: they are a guess
  LcpGuess(std::span<const RowMode> given_modes, std::span<const double> given_impulses, bool is_steady,
           double given_ridge = 0)
      : modes(given_modes), impulses(given_impulses), steady(is_steady), ridge(given_ridge) {}
};

// Solves the problem: f, w and modes (n entries each) are written, always finite. Among several true solutions the guess
// can choose; apart from that the result does not depend on it. Same input, same bits.
LcpReport solve_lcp(const BoxedLcp& lcp, const LcpOptions& options, const LcpGuess& guess, LcpWorkspace& workspace,
                    std::span<double> f, std::span<double> w, std::span<RowMode> modes);

// The same for a problem given by factors, whose A is never formed; a friction row is in the group of its normal. By the direct
// method, whatever the options say.
LcpReport solve_lcp(const FactoredLcp& lcp, const LcpOptions& options, const LcpGuess& guess, LcpWorkspace& workspace,
                    std::span<double> f, std::span<double> w, std::span<RowMode> modes);

// In one call, for occasional use.
struct LcpSolution {
  std::vector<double> f, w;
  std::vector<RowMode> modes;
  std::vector<std::uint8_t> dropped_targets;  // by row; empty where none were
  LcpReport report;
};
LcpSolution solve_lcp(const BoxedLcp& lcp, const LcpOptions& options = {}, const LcpGuess& guess = {});

}  // namespace lithe
