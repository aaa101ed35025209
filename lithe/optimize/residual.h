#pragma once

#include <memory>
#include <string>

#include "lithe/dynamics/kinematics.h"
#include "lithe/step/step_parameters.h"
#include "lithe/step/step_record.h"

namespace lithe {

// What a residual sees of a motion at one time.
struct ResidualPoint {
  const Model& model;
  int t;                             // 0 … T
  ConstVecRef q, v;                  // the state before step t; at t = T the end
  ConstVecRef u;                     // the controls of step t; at t = T none (size 0)
  ConstVecRef u_before;              // those of the step before; at t = 0 Problem::u_before
  const Kinematics& kin;             // of q and v
  const StepRecord* record;          // of step t; at t = T null
  const StepParameters& parameters;  // the free numbers of the model
};

// Derivatives of a residual: one row per number, parts that are empty (0 × 0) are zero. Memory stays from one time to the next, so
// a residual sets the parts it has, all of them at every call: by_q.setZero(size, nv).
struct ResidualJacobian {
  MatX by_q, by_v;  // nv columns, in the tangent of q
  MatX by_u, by_u_before;
  MatX by_f;           // columns: the rows of record->f
  MatX by_parameters;  // one column per free number of the model, at a fixed state
};

// A vector of numbers that a motion should make small, or hold at zero, or keep from being positive. Costs and constraints are
// made of these.
//
// Const and without memory: residuals are evaluated from several threads at once.
class Residual {
 public:
  virtual ~Residual() = default;

  virtual std::string name() const = 0;  // for messages: "position of frame 'hand'"
  virtual int size(const Model& model) const = 0;
  // `value` has size() numbers. `jacobian` is null where only the value is wanted.
  virtual void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const = 0;

  // Whether by_parameters holds the truth for this number of a model. Most residuals see the model through its state alone, and
  // depend on no number of it; lengths move frames.
  virtual bool knows(const StepParameters::Entry&) const { return true; }

  virtual bool needs_controls() const { return false; }           // u: cannot be asked for at the end
  virtual bool needs_previous_controls() const { return false; }  // u_before
  virtual bool needs_impulses() const { return false; }           // record->f: cannot be asked for at the end
};

using ResidualPtr = std::shared_ptr<const Residual>;

}  // namespace lithe
