#pragma once

#include "lithe/dynamics/internal/slot_vectors.h"
#include "lithe/step/gradients/parameter_columns.h"
#include "lithe/step/internal/recorded_stages.h"

namespace lithe::internal {

// The rows' part of a column: e of the step, or e₂.
struct ColumnPart {
  const RowPoint& point;
  const VecX& u;  // v⁺ or z
  bool is_step;   // e₂ knows no targets
  double* e;      // by row
};

// A column under construction, and the few ways in which parameters enter it.
struct ColumnWriter {
  const Model& model;
  const StepRecord& record;
  const StepLinearization& linearization;
  ParameterColumn& column;
  const StepStages& stages = force_stages_of(model, record);
  const DofTree& tree = model.tree();
  const ContactProblem& problem = stages.problem;
  const double h = record.options.time_step;  // Δt

  // Calls write(part) for e and, if there is one, for e₂.
  template <class Write>
  void for_each_part(Write write) const {
    write(main());
    if (linearization.has_null) write(null());
  }
  ColumnPart main() const { return {linearization.main, record.next.v, true, column.e.data()}; }
  ColumnPart null() const { return {linearization.null, linearization.null.z, false, column.e2.data()}; }

  // Calls visit(constraint, report of its island) for every constraint of the step.
  template <class Visit>
  void for_each_constraint(Visit visit) const {
    for (int i = 0; i < problem.island_count(); ++i) {
      const Island& island = problem.islands.islands()[i];
      for (int c = 0; c < island.constraint_count; ++c) {
        visit(problem.constraints[island.first_constraint + c], record.reports[i]);
      }
    }
  }

  // r grows by S·F in every DoF that moves the link behind `dof`: a force F (about the tree's origin) that the links have to
  // overcome. A fixed body (−1) feels nothing.
  void add_force(int dof, const Force<double>& F) const;

  // r grows by x times the row's Jᵀ.
  void add_row_force(int row, double x) const;

  // An impulse at its bound moves by x.
  void move_impulse(int row, double x) const;

  // +1 at its upper bound, −1 at its lower one, 0 elsewhere.
  double bound_sign(int row) const;
};

}  // namespace lithe::internal
