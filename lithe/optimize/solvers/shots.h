#pragma once

#include <vector>

#include "lithe/optimize/solvers/evaluated_motion.h"

namespace lithe::internal {

// The steps `first` … `first` + `steps` − 1 of a motion, from a state of their own. What happens in a shot is a function of its
// columns, in this order:
//
//   u_before     the controls before it, where something depends on them (none in the first shot: these are given)
//   start        whatever moves its first state (Shot::start_map)
//   controls     of its knots, one after the other
//   parameters   the free numbers of the model
struct ShotColumns {
  int u_before = 0, start = 0, controls = 0, parameters = 0;  // how many

  int first_start() const { return u_before; }
  int first_control() const { return u_before + start; }
  int first_parameter() const { return u_before + start + controls; }
  int count() const { return u_before + start + controls + parameters; }
};

struct Shot {
  int first = 0, steps = 0;
  bool last = false;  // the end of the motion is part of it
  ShotColumns columns;

  // Where a constraint at one time has its numbers in `constraints`; late times first.
  struct ConstraintPlace {
    int t, constraint, row, size;
  };
  std::vector<ConstraintPlace> places;

  // In: the first state, and how the columns `start` move it, in its tangent (2nv × columns.start).
  State start;
  MatX start_map;

  // Out of simulate().
  bool finite = false;  // nothing diverged; else the rest does not count
  MatX q, v;            // nq, nv × (steps + 1)
  double cost = 0;
  VecX constraints;

  // Out of linearize(): derivatives by the columns.
  VecX gradient;        // of the cost
  MatX end;             // 2nv ×: the last state, in its tangent
  MatX by_constraints;  // of the constraints, one row each
  MatX hessian;         // of the cost, Gauss–Newton
};

// The whole motion in shots of `length` steps; the last may be shorter. `u_before`: whether something depends on the controls of the
// step before.
std::vector<Shot> cut_into_shots(const Problem& problem, int length, bool u_before);

// The column of the shot with the controls at time t, of the first of them; −1 for those that are not free (before the motion).
int control_column(const Problem& problem, const Shot& shot, int t);

// Simulates shots and differentiates them. One per thread.
class ShotWorker {
 public:
  explicit ShotWorker(const Problem& problem);

  // Without a warm start for the first step, so that the result depends on nothing that was done before.
  void simulate(const Plan& plan, Shot& shot);
  // After simulate() with the same plan. `hessian`: whether it is wanted. Takes the steps once more: to keep the records of
  // all shots would take more time, as they do not stay in the cache.
  //
  // One pass back through the steps, with one row ∂(…)/∂x_t for each number that is differentiated, and a block V of second
  // derivatives by (x_t, the columns). Forward sensitivities ∂x_t/∂columns would take nv²·columns per step and nv·columns²
  // for the Hessian; this takes nv²·(2nv + constraints) and nv²·columns.
  void linearize(const Plan& plan, const GradientOptions& options, bool hessian, Shot& shot);

  // What residuals see at time t of a shot that was simulated. Good until the worker does something else.
  ResidualPoint visit(const Plan& plan, Shot& shot, int t);
  MotionEvaluator& evaluator() { return evaluator_; }
  bool needs_previous_controls() const { return costs_.needs_previous_controls(); }

 private:
  // With all records, or with one.
  void take_steps(const Plan& plan, bool keep_records, Shot& shot);
  ResidualPoint point_of(const Plan& plan, const Shot& shot, int t, const StepRecord& record);
  void start_rows(const Shot& shot, bool hessian);
  // Rows from x_{t+1} back to x_t, and V with them.
  void pull_back_rows(const Shot& shot, int t);
  void pull_back_curvature(const Shot& shot, int t);
  void add_costs(const ResidualPoint& at, const Shot& shot, bool hessian);
  void add_curvature(const Shot& shot, int t);
  void add_constraint(const ResidualPoint& at, const Shot& shot, const Shot::ConstraintPlace& place);
  void add_constraints(const ResidualPoint& at, const Shot& shot);
  void finish(bool hessian, Shot& shot) const;

  const Problem& problem_;
  MotionEvaluator evaluator_;
  CostEvaluator costs_;
  std::vector<StepRecord> records_;
  Control control_;
  State state_;
  CostExpansion expansion_, by_impulses_;
  ResidualJacobian residual_;
  VecX value_;
  StepJacobians jacobians_;
  StepParameterJacobian by_parameters_;
  GradientOptions parameter_options_;
  MatX A_, E_;  // ∂x_{t+1}/∂x_t, and by (the controls, the parameters)

  // Rows: the cost, the last state (2nv), the constraints. The first `rows_` count already.
  int rows_ = 0;
  MatX by_state_, by_state_before_;  // ∂/∂x_t
  MatX by_columns_;
  // V: by x_t twice, by x_t and the columns (from `first_curved_` on; those before are zero), by the columns twice.
  bool curved_ = false;
  int first_curved_ = 0;
  MatX V_xx_, V_xc_, V_cc_, product_;
};

}  // namespace lithe::internal
