#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "lithe/step/gradient_report.h"
#include "lithe/step/mode_switch.h"
#include "lithe/step/step_parameters.h"
#include "lithe/step/step_record.h"

namespace lithe {

// Are the analytic derivatives of a step those of the step? Each block is compared with differences of steps that are
// accurate to about ten digits (Ridders' method; the steps adapt to how far away the next change of mode is), and the
// vector products with the blocks.

enum class GradcheckBlock : std::uint8_t {
  qnext_q,
  qnext_v,
  qnext_tau,
  vnext_q,
  vnext_v,
  vnext_tau,
  f_q,
  f_v,
  f_tau,
  qnext_parameters,
  vnext_parameters,
  f_parameters,
};
inline constexpr int kGradcheckBlocks = 12;
const char* to_string(GradcheckBlock block);  // "dqnext_dq"

// One block: max|analytic − numeric| / max(max|numeric|, floor). The floor is what the block is for a body of its own mass
// that nothing holds, so that a block of zeros is not judged by rounding:
//
//            by q        by v    by τ        by a parameter of size p
//   q⁺       1           Δt      Δt² μ       10⁻³/p
//   v⁺       10 Δt       1       Δt μ        10 Δt/p
//   f        10 Δt m     m       Δt          10 Δt m/p
//
// with μ = max|M̂⁻¹|, m = 1/max A_ii and 10 m/s² for gravity. Parameters have units of their own: each is compared for itself
// and the worst one counts.
struct BlockCheck {
  bool compared = false;      // false: there was nothing to compare, or nothing could be
  double error = 0;           // relative, as above
  double doubt = 0;           // the same of what differences may be wrong by themselves
  int row = -1, column = -1;  // of the largest error
  double analytic = 0, numeric = 0;
};

struct GradcheckResult {
  std::array<BlockCheck, kGradcheckBlocks> blocks;
  const BlockCheck& operator[](GradcheckBlock block) const { return blocks[static_cast<int>(block)]; }

  // Largest error of step_vjp() and step_jvp() against the products with the blocks, relative to |J||x|.
  double vjp_error = 0, jvp_error = 0;

  // Columns are inputs: entries of q, v, τ and parameters. A column is left out where a change of mode is too close for
  // differences (`switched`, of the kinds in `switches`), and a parameter also where the model refuses to have it changed. Its
  // part in one of the blocks is left out where differences do not settle (`unsettled`: doubt above
  // GradcheckOptions::largest_doubt), and where it depends on a choice among many impulses, which the solver can make only as well as
  // redundant rows agree: impulses where they contradict one another by more than rounding, velocities where it shows.
  int columns = 0, switched = 0, refused = 0;
  int unsettled = 0;  // of 3·columns
  ModeSwitch switches = ModeSwitch::none;

  // The step's own report. Where comparable() is false, a row is tied, or the derivative is known to be incomplete (targets
  // dropped, unpolished, unsolved; a DoF that nothing resists, StepStatus::singular_dof): then nothing was compared but products.
  GradientReport report;
  int singular_dof = -1;
  bool comparable() const { return !report.diverged && report.lcp_flags == LcpFlag::none && singular_dof < 0; }
  bool stopped = false;  // by GradcheckOptions::stop: nothing was compared but products

  // Of all columns' parts in blocks (but those of parameters that the model refuses) the share that was compared.
  double share_compared() const;
  double max_error() const;  // of all blocks
};

struct GradcheckOptions {
  std::uint64_t seed = 1;       // of the vectors that the products are tried with
  double largest_doubt = 1e-7;  // relative, see above
  // Asked before each displaced step, where there is one: true ends the comparison without a result.
  std::function<bool()> stop = {};
};

class Gradcheck {
 public:
  Gradcheck();
  ~Gradcheck();

  // `record` must come from step() with this model. The result is valid until the next call.
  const GradcheckResult& check(const Model& model, const StepRecord& record, const StepParameters& parameters = {},
                               const GradcheckOptions& options = {});
  const GradcheckResult& result() const { return result_; }

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
  GradcheckResult result_;
};

// In one call: takes the step, and checks its derivatives.
GradcheckResult gradcheck(const Model& model, const State& state, const Control& control = {},
                          const StepOptions& step_options = {}, const StepParameters& parameters = {},
                          const GradcheckOptions& options = {});

}  // namespace lithe
