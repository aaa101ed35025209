#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/contact/islands.h"
#include "lithe/step/internal/row_memory.h"
#include "lithe/step/internal/step_stages.h"

namespace lithe::internal {

// Motors that are not saturated, as part of the smooth motion.
//
// A motor with finite gains follows its law, f = (d − v⁺)/c, as long as its effort is within its limits: it is a spring and a
// damper, and needs no row in the LCP. With 1/c on M̂'s diagonal and the impulse (d − v)/c it folds into the equations of motion,
//
//   (M̂ + C) (v⁺ − v) = p + Σ (d − v)/c + Jᵀf,
//
// and the LCP has the rows of contacts, limits, friction, loops and of motors that may saturate. What it gives is the solution of the
// whole problem if all folded motors are within their limits at v⁺. Those that are not become rows, and the smaller problem is
// posed and solved once more. Where the solver has doubts (targets that contradict one another, impulses that are not polished), all
// rows are posed, and the answer is theirs.
//
// A record never shows which motors were folded: it has all rows, with their impulses, velocities and modes.
class FoldedMotors {
 public:
  // Takes the motors to fold out of `constraints`: those that are expected to stay within their limits, and none where they are too
  // few to be worth it. Then finds the motion without the rows that are left.
  void choose(const Model& model, const StepRecord& record, const StepStages& stages, const WarmStart* guess,
              std::vector<Constraint>& constraints);
  // Nothing is folded, and `constraints` are all again.
  void unfold_all(std::vector<Constraint>& constraints);
  bool empty() const { return rows_.empty(); }

  // (M̂ + C)⁻¹, and the velocities at the step's end without the rows that are left.
  const InverseFactor& inverse() const { return inverse_; }
  const VecX& v_free() const { return v_free_; }
  const Lanes<1>& v_free_slots() const { return v_free_slots_; }
  // Of all rows.
  const Islands& islands() const { return islands_; }

  // Has the rows that are left measured as all rows would be (ContactProblem::scales), and keeps what adds_little_energy() needs:
  // how these rows would move without motors.
  void find_scales(const Model& model, const StepRecord& record, const StepStages& stages, ContactProblem& problem);

  // Whether correction adds no more energy than it may (correction_energy.h), all rows considered. Their free motion takes the
  // place of that of the rows that are left in the problem's b.
  bool adds_little_energy(const Model& model, const StepRecord& record, ContactProblem& problem);

  // Whether the targets that were dropped are those of rows that no impulse moves, with motors or without.
  static bool drops_for_certain(const ContactProblem& problem);

  // Whether all folded motors are within their limits at v⁺. Else `constraints` get those that are not, and the motion is
  // found anew.
  bool agrees(const Model& model, const StepRecord& record, const StepStages& stages, const VecX& v_next,
              std::vector<Constraint>& constraints);

  // Completes the record's answer, which is that of the rows that were left (`problem`), and `steady` (by island) with it.
  void complete(const Model& model, const ContactProblem& problem, const VecX& v_next, StepRecord& record,
                std::vector<std::uint8_t>& steady);

 private:
  struct Row {
    int constraint = -1;  // in all_
    int dof = -1;
    double target = 0;       // d
    double conductance = 0;  // 1/c
    double limit = 0;        // of the impulse
    double impulse_at(double velocity) const { return conductance * (target - velocity); }
  };
  // The motor as a row to fold; false if it may saturate or is too stiff.
  static bool is_free(const Model& model, const StepRecord& record, const StepStages& stages, const Constraint& motor,
                      Row& out);
  void find_rows(const Model& model, const StepRecord& record, const StepStages& stages);
  void find_motion(const Model& model, const StepRecord& record, const StepStages& stages);
  void leave(std::vector<Constraint>& constraints) const;
  template <class Folded, class Left>
  void for_each_constraint(const ContactProblem& problem, Folded folded, Left left);
  int island_of(const DofTree& tree, const Constraint& constraint) const;
  void complete_islands(const DofTree& tree, const ContactProblem& problem, StepRecord& record,
                        std::vector<std::uint8_t>& steady);

  std::vector<Constraint> all_;  // of the step, sorted by island
  Islands islands_;              // of all_
  std::vector<Row> rows_;        // that are folded, in the order of all_

  VecX added_diagonal_, impulse_;  // M̂ + C − M, and p + Σ (d − v)/c
  MassFactor factor_;              // of M̂ + C
  InverseFactor inverse_;
  VecX v_free_, v_without_;  // with and without what is folded
  Lanes<1> v_free_slots_;
  Lanes<1> z_;  // workspace of find_motion()

  // Workspace of complete(), and of those named.
  std::vector<double> f_, w_;
  std::vector<RowMode> modes_;
  std::vector<LcpReport> reports_;
  std::vector<std::uint8_t> steady_islands_, target_dropped_;
  std::vector<LcpScales> scales_;      // of find_scales(), by island of all_
  std::vector<double> free_velocity_;  // J v_free of the rows that are left, v_free being that without motors
  std::vector<double> gains_;          // of adds_little_energy(), by island of all_
};

}  // namespace lithe::internal
