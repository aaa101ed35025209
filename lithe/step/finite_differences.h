#pragma once

#include <functional>
#include <memory>

#include "lithe/step/mode_switch.h"
#include "lithe/step/step_jacobians.h"

namespace lithe {

// Derivatives of a step by differences of steps: to check the analytic ones, to differentiate what one adds to a step
// oneself, and to compare with.
enum class DifferenceMethod : std::uint8_t {
  central,  // (f(x + h) − f(x − h)) / 2h
  ridders,  // central differences at ever smaller h, extrapolated to h = 0 (Ridders 1982)
};

// Steps are in the units of what is moved (m, rad, m/s, rad/s, N, N·m); of a parameter they are shares of its size.
struct DifferenceOptions {
  DifferenceMethod method = DifferenceMethod::central;
  double step = 1e-6;        // h of central
  double first_step = 1e-3;  // of ridders; where contacts or modes change within it, a smaller one
  int most_tables = 10;      // of ridders: steps that are tried at most, each half the one before (up to 12)
};

// What happened on the way: a difference across a change of the contacts or of a row's mode is no derivative.
struct DifferenceReport {
  int evaluations = 0;  // steps taken
  int switched = 0;     // of these, in another mode than the step itself (ModeSwitch)
  int one_sided = 0;    // parameters that can be moved in one direction only: nothing has less friction than none
  // What changed at points that the result rests on: with `none` it can be trusted. (Ridders' method avoids such points
  // where it can; central differences do not.)
  ModeSwitch modes = ModeSwitch::none;
  double error = 0;  // ridders: the largest estimate of what an entry is still wrong by
};

// Memory of the functions below, kept from one call to the next. It saves time and changes no result.
class DifferenceWorkspace {
 public:
  DifferenceWorkspace();
  ~DifferenceWorkspace();
  DifferenceWorkspace(DifferenceWorkspace&&) noexcept;
  DifferenceWorkspace& operator=(DifferenceWorkspace&&) noexcept;

  struct Buffers;
  Buffers& buffers();

 private:
  std::unique_ptr<Buffers> buffers_;
};

// The same blocks as step_jacobians(), of the same step (state, control, options and warm start of the record): 2 nv steps for
// each of q, v and τ that a wanted block is by. The bounce is that of the step as computed (GradientOptions::exact()).
// `out.report` is left empty.
DifferenceReport step_differences(const Model& model, const StepRecord& record, StepJacobians& out,
                                  StepBlocks blocks = StepBlocks::state, const DifferenceOptions& options = {},
                                  DifferenceWorkspace* workspace = nullptr);

// By parameters. A parameter that the step cannot depend on (it is infinite, or the target of a motor that is off) has the
// derivative zero. One that the model lets nobody change (an entry of a point mass's inertia) is an Error.
DifferenceReport step_parameter_differences(const Model& model, const StepRecord& record,
                                            const StepParameters& parameters, StepParameterJacobian& out,
                                            const DifferenceOptions& options = {},
                                            DifferenceWorkspace* workspace = nullptr);

// Of any function f: ℝⁿ → ℝᵐ of a small displacement δ (f(0) is the point of interest), in the same two ways.
using DisplacedFunction = std::function<VecX(const VecX& delta)>;
MatX difference_jacobian(const DisplacedFunction& f, int n, const DifferenceOptions& options = {});

}  // namespace lithe
