#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lithe/step/internal/step_tape.h"
#include "lithe/step/mode_switch.h"
#include "lithe/step/step_record.h"

namespace lithe::internal {

// Of two steps of one model, or of two that differ in numbers only.
ModeSwitch mode_switch(const Model& model_a, const StepRecord& a, const Model& model_b, const StepRecord& b);

enum class StepInput : std::uint8_t { q, v, tau };

// Where a number may go from its value: a friction coefficient of zero cannot be reduced.
enum class Directions : std::uint8_t { both, up, down };

// The step of a record, taken again with one of its inputs moved: what finite differences are made of.
//
// Colliders are the record's, and all memory is kept from one step to the next, so a displaced step costs what a step of a running
// simulation does. Its guess is the record's answer, found to be right once more: the rank of a mode is known only where a guess was right,
// and ranks are part of a mode.
class DisplacedStep {
 public:
  // `base` is a step of `model`. Both must stay as they are during the calls below.
  void start(const Model& model, const StepRecord& base);

  // Steps with one entry moved by h; of q in the tangent.
  void move(StepInput input, int dof, double h);

  // The same with a parameter (StepParameters) moved by h. False: the model refuses that value, and no step was taken.
  [[nodiscard]] bool move(const std::string& parameter, double h);

  // What of a parameter is a small change: its own size or, where that says nothing, the size of its like. Zero where a step
  // does not depend on it: it is infinite, or the target of a motor that is off.
  double size_of(const std::string& parameter) const;

  // In which directions the model lets a parameter move by h; nothing: in neither.
  std::optional<Directions> directions_of(const std::string& parameter, double h);

  // How far the last step went from where it goes if nothing is moved, which is where the base went but for the solver's tolerance:
  // [q⁺ ⊖ q⁺₀; v⁺ − v⁺₀; f − f₀] (output_size()). Impulses are matched by what their rows are named; those of rows that are not there are
  // zero.
  void write_outputs(VecRef out) const;
  int output_size() const;

  // And whether it went there in the same way.
  ModeSwitch switched() const;
  // By how much its rows contradict one another: the solver's residual, a share of the velocities at hand (StepStatus), and the largest
  // velocity that a clamping row is left with.
  double residual() const { return record_.status.residual; }
  double contradiction() const;

 private:
  void find_ranks();
  bool change(const std::string& parameter, double h);
  void step_with(const Model& model);
  void write_from_base(VecRef out) const;

  const Model* model_ = nullptr;
  const StepRecord* base_ = nullptr;
  std::vector<LcpReport> base_reports_;  // of the base, with ranks
  WarmStart guess_;
  VecX unmoved_;  // where a step goes if nothing is moved, from the base's
  StepRecord record_;
  State state_;
  Control control_;
  StepOptions options_;
  const Model* stepped_ = nullptr;  // the model of the last step
  std::optional<Model> changed_;    // the model with the parameter of the last such move changed
  std::string changed_parameter_;
  VecX delta_;
};

}  // namespace lithe::internal
