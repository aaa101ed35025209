#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "lithe/optimize/residuals.h"
#include "python/bindings/values/arrays.h"

// Residuals that are Python functions.
namespace lithe::python {

// What a residual may look at, and is differentiated by.
enum class Input : unsigned { q, v, u, u_before, f, parameters };
inline constexpr int kInputs = 6;
const char* name_of(Input input);

// Some of them.
class Inputs {
 public:
  bool has(Input input) const { return (bits_ & bit(input)) != 0; }
  void add(Input input) { bits_ |= bit(input); }

 private:
  static unsigned bit(Input input) { return 1U << static_cast<unsigned>(input); }
  unsigned bits_ = 0;
};

// What a solver and the functions it calls tell one another. Written while holding the GIL.
struct CallState {
  // Ctrl-C was pressed: the solver shall stop at its next line of progress.
  std::atomic<bool> interrupted = false;
};

// lithe.Residual: one of the library's or, where `library` is null, a function.
struct PythonResidual {
  ResidualPtr library = {};
  nb::object function = {};
  std::string name = {};
  int size = 0;                           // 0: what the first call returns
  std::optional<Inputs> depends_on = {};  // none: whatever it looks at
  bool is_function() const { return !library; }
};

// A Residual as it is, and any other callable as a residual without a name or a size. Everything else is a TypeError.
nb::object residual_object(nb::handle residual, const char* argument);

// What a function sees: lithe.ResidualPoint. It owns nothing, and is over when the call is; arrays that were taken
// from it stay.
class PointView {
 public:
  // `stale`, where not null, is what at.kin refers to, and is computed when it is first needed.
  PointView(const ResidualPoint& at, bool wants_derivatives, Kinematics* stale);

  const ResidualPoint& look(Input input);              // notes that it was looked at
  const ResidualPoint& look_at_motion(bool velocity);  // with kinematics
  const ResidualPoint& look_at_all(const Residual& residual);
  const ResidualPoint& point() const;  // an Error where it is over
  bool wants_derivatives() const { return wants_derivatives_; }
  Inputs seen() const { return seen_; }

  // Where set, u_before and f may be looked at only if they are in here.
  void allow_only(Inputs inputs) { allowed_ = inputs; }
  void end() { at_ = nullptr; }

 private:
  const ResidualPoint* at_;
  bool wants_derivatives_;
  Kinematics* stale_;
  Inputs seen_;
  std::optional<Inputs> allowed_;
};

// Where a function is called for the first time, to see the size of what it returns and what it looks at.
struct FirstCall {
  const Model& model;
  State state;
  int t = 0;
  bool at_end = false;  // t is the end of the motion, where no step is taken
  VecX u = {}, u_before = {};
  StepOptions step = {};
  StepParameters parameters = {};
};

// The residual that solvers call. A function is called once with `first` unless it says everything about itself. The
// caller keeps the Python object alive for as long as the residual, and holds the GIL now; the residual takes it when
// it is called.
ResidualPtr residual_for(const PythonResidual& residual, const FirstCall& first, std::shared_ptr<CallState> state);

// Its parts by name: 'by_q' …
nb::dict to_dict(const ResidualJacobian& jacobian);

}  // namespace lithe::python
