#include "lithe/step/internal/folded_motors.h"

#include <algorithm>
#include <cmath>

#include "lithe/contact/constraint_rows.h"
#include "lithe/contact/correction_energy.h"
#include "lithe/dynamics/internal/tree_sums.h"
#include "lithe/simd/internal/packed_vectors.h"
#include "lithe/step/internal/step_tape.h"

namespace lithe::internal {

namespace {

// The mass matrix is factorised once more for what is folded. With fewer motors, as a share of the DoFs, their rows take no longer.
constexpr double kLeastShare = 0.4;
// A motor is expected within its limits if this share of them is left.
constexpr double kSpareEffort = 0.2;
// Motors that resist more than this many times what their DoFs do by themselves are left to the LCP: their impulses, as
// differences of velocities, would lose digits.
constexpr double kStiffest = 1e4;
// Where a motor is closer to its limit than this share of it, the solver decides whether it is saturated.
constexpr double kNearLimit = 1e-6;

// (M̂⁻¹)_dd.
double own_response(const DofTree& tree, const InverseFactor& inverse, int dof) {
  const double* X = inverse.rows.data() + tree.row_start[dof];
  return sum_of_squares(X, (tree.position[dof] / kLanes + 1) * kLanes);
}

}  // namespace

bool FoldedMotors::is_free(const Model& model, const StepRecord& record, const StepStages& stages,
                           const Constraint& constraint, Row& out) {
  const MotorRow motor = motor_row(model, record.state.q, model.motors()[constraint.index],
                                   record.control.motor_targets[constraint.index], record.options.time_step);
  const double response = own_response(model.tree(), record.tape().inverse, constraint.dof_a);
  if (!(response <= kStiffest * motor.compliance) || !std::isfinite(motor.compliance)) return false;
  // What it would push with if there were nothing else.
  const double alone = (motor.target - stages.v_free[constraint.dof_a]) / (response + motor.compliance);
  out.dof = constraint.dof_a;
  out.target = motor.target;
  out.conductance = 1 / motor.compliance;
  out.limit = motor.limit;
  return std::abs(alone) < (1 - kSpareEffort) * motor.limit;
}

// Free motors are looked for twice: first to see whether there are enough of them, then in the order of the islands.
void FoldedMotors::choose(const Model& model, const StepRecord& record, const StepStages& stages,
                          const WarmStart* guess, std::vector<Constraint>& constraints) {
  rows_.clear();
  const bool warm = guess != nullptr && !guess->empty() && !record.options.lcp.cold;
  const bool usual = record.options.lcp.method == LcpMethod::direct && stages.factor.singular_dof < 0;
  const double least = kLeastShare * model.nv();
  if (!warm || !usual || static_cast<double>(record.control.motor_targets.size()) < least) return;
  for (const Constraint& constraint : constraints) {
    Row row;
    if (constraint.kind == ConstraintKind::motor && is_free(model, record, stages, constraint, row)) {
      rows_.push_back(row);
    }
  }
  if (static_cast<double>(rows_.size()) < least) return rows_.clear();
  all_ = constraints;
  islands_.find(model.tree(), all_);
  find_rows(model, record, stages);
  find_motion(model, record, stages);
  leave(constraints);
}

// The free motors once more, in the order of all_, which is sorted by island.
void FoldedMotors::find_rows(const Model& model, const StepRecord& record, const StepStages& stages) {
  rows_.clear();
  for (std::size_t c = 0; c < all_.size(); ++c) {
    Row row;
    row.constraint = static_cast<int>(c);
    if (all_[c].kind != ConstraintKind::motor || !is_free(model, record, stages, all_[c], row)) continue;
    all_[c].rule = TargetRule::motor;
    rows_.push_back(row);
  }
}

// Finds (M̂ + C)⁻¹, and v_free = v + (M̂ + C)⁻¹ (p + Σ (d − v)/c).
void FoldedMotors::find_motion(const Model& model, const StepRecord& record, const StepStages& stages) {
  const DofTree& tree = model.tree();
  const VecX& v = record.state.v;
  added_diagonal_ = stages.added_diagonal;
  impulse_ = stages.smooth_impulse;
  for (const Row& row : rows_) {
    added_diagonal_[row.dof] += row.conductance;
    impulse_[row.dof] += row.impulse_at(v[row.dof]);
  }
  factorize(model, stages.M, factor_, added_diagonal_);
  invert(model, factor_, inverse_);
  multiply_transposed(model, inverse_, impulse_, z_);
  v_free_.resize(tree.nv);
  multiply(model, inverse_, z_, v_free_);
  v_free_ += v;
  v_free_slots_.resize(tree.slot_count);
  dofs_to_slots(tree, v_free_.data(), v_free_slots_);
}

// Leaves the constraints that are not folded.
void FoldedMotors::leave(std::vector<Constraint>& constraints) const {
  constraints.clear();
  auto row = rows_.begin();
  for (std::size_t c = 0; c < all_.size(); ++c) {
    if (row != rows_.end() && row->constraint == static_cast<int>(c)) {
      ++row;
    } else {
      constraints.push_back(all_[c]);
    }
  }
}

void FoldedMotors::unfold_all(std::vector<Constraint>& constraints) {
  rows_.clear();
  constraints = all_;
}

// Which of the islands of all rows the constraint belongs to.
int FoldedMotors::island_of(const DofTree& tree, const Constraint& constraint) const {
  const int dof = constraint.dof_a >= 0 ? constraint.dof_a : constraint.dof_b;
  return islands_.island_of(tree.chains[tree.chain[dof]].tree);
}

// Rows on DoFs count by what they would be if nothing were folded. Contacts, which respond by far less than joints, and loops count
// as they are.
void FoldedMotors::find_scales(const Model& model, const StepRecord& record, const StepStages& stages,
                               ContactProblem& problem) {
  const DofTree& tree = model.tree();
  scales_.assign(islands_.islands().size(), {});
  const auto count = [&](LcpScales& scales, double diagonal, double velocity) {
    scales.mean_diagonal += diagonal;
    scales.velocity = std::max(scales.velocity, std::abs(velocity));
  };
  for (const Row& row : rows_) {
    count(scales_[island_of(tree, all_[row.constraint])],
          own_response(tree, record.tape().inverse, row.dof) + 1 / row.conductance,
          stages.v_free[row.dof] - row.target);
  }
  free_velocity_.resize(problem.rows.size() + kLanes);
  problem.touches.velocities(tree, stages.kin, stages.v_free_slots, problem.touch_vector.data());
  row_velocities(problem, problem.touch_vector.data(), free_velocity_.data());
  v_without_ = stages.v_free;
  problem.scales.resize(problem.island_count());
  for (int i = 0; i < problem.island_count(); ++i) {
    const Island& island = problem.islands.islands()[i];
    const LcpDiagonal diagonal = problem.diagonal(i);
    const int whole = island_of(tree, problem.constraints[island.first_constraint]);
    LcpScales& scales = scales_[whole];
    for (int c = island.first_constraint; c < island.first_constraint + island.constraint_count; ++c) {
      const Constraint& constraint = problem.constraints[c];
      const bool on_a_dof = !acts_on_bodies(constraint.kind) && constraint.dof_b < 0;
      for (int row = constraint.first_row; row < constraint.first_row + constraint.rows; ++row) {
        count(scales,
              on_a_dof ? own_response(tree, record.tape().inverse, constraint.dof_a) + problem.compliance[row]
                       : diagonal[row - island.first_row],
              free_velocity_[row] - problem.target[row]);
      }
    }
    scales.mean_diagonal /= islands_.islands()[whole].row_count;
    problem.scales[i] = scales;
  }
}

// What folded motors take out of the motion counts, what they put in does not, as for those that are rows (energy_gain()).
bool FoldedMotors::adds_little_energy(const Model& model, const StepRecord& record, ContactProblem& problem) {
  const DofTree& tree = model.tree();
  for (std::size_t row = 0; row < problem.rows.size(); ++row) {
    problem.b[row] = free_velocity_[row] - problem.target[row];
  }
  gains_.assign(islands_.islands().size(), 0.0);
  for (const Row& row : rows_) {
    const double velocity = record.next.v[row.dof];
    const double work = row.impulse_at(velocity) * (velocity + v_without_[row.dof]) / 2;
    gains_[island_of(tree, all_[row.constraint])] += std::min(work, 0.0);
  }
  const double gravity_step = model.gravity().norm() * record.options.time_step;
  for (int i = 0; i < problem.island_count(); ++i) {
    const Island& island = problem.islands.islands()[i];
    const auto part = [&](const auto& all) { return std::span(all).subspan(island.first_row, island.row_count); };
    const double gain = gains_[island_of(tree, problem.constraints[island.first_constraint])] +
                        energy_gain(problem, i, part(record.f), part(record.w));
    if (!(gain > 0)) continue;
    if (gain > energy_allowance(problem, i, record.tape().island_masses[i], gravity_step)) return false;
  }
  return true;
}

// An inert row's target cannot be met, whatever the motors do.
bool FoldedMotors::drops_for_certain(const ContactProblem& problem) {
  for (int i = 0; i < problem.island_count(); ++i) {
    const Island& island = problem.islands.islands()[i];
    const LcpDiagonal diagonal = problem.diagonal(i);
    double largest = 0;
    for (int row = 0; row < island.row_count; ++row) largest = std::max(largest, diagonal[row]);
    for (int row = 0; row < island.row_count; ++row) {
      const bool dropped = problem.target_dropped[island.first_row + row] != 0;
      if (dropped && diagonal[row] > kInertShare * largest) return false;
    }
  }
  return true;
}

// Motors that turn out to saturate become rows, and the others stay folded.
bool FoldedMotors::agrees(const Model& model, const StepRecord& record, const StepStages& stages, const VecX& v_next,
                          std::vector<Constraint>& constraints) {
  const auto saturated = std::erase_if(rows_, [&](const Row& row) {
    return !(std::abs(row.impulse_at(v_next[row.dof])) < (1 - kNearLimit) * row.limit);
  });
  if (saturated == 0) return true;
  find_motion(model, record, stages);
  leave(constraints);
  return false;
}

// Calls folded(constraint, row) or left(constraint, that of `problem`) for all constraints.
template <class Folded, class Left>
void FoldedMotors::for_each_constraint(const ContactProblem& problem, Folded folded, Left left) {
  auto row = rows_.begin();
  auto in_problem = problem.constraints.begin();
  for (std::size_t c = 0; c < all_.size(); ++c) {
    if (row != rows_.end() && row->constraint == static_cast<int>(c)) {
      folded(all_[c], *row++);
    } else {
      left(all_[c], *in_problem++);
    }
  }
}

// Rows that were folded get the impulse of their law and clamp; all others keep what the smaller problem has given them.
void FoldedMotors::complete(const Model& model, const ContactProblem& problem, const VecX& v_next, StepRecord& record,
                            std::vector<std::uint8_t>& steady) {
  const int row_count = islands_.row_count();
  RecordedProblem& out = record.tape().problem;
  for (auto* by_row : {&f_, &w_, &out.target, &out.diagonal}) by_row->resize(row_count);
  modes_.resize(row_count);
  target_dropped_.assign(row_count, 0);
  int island = 0;  // of the problem
  for_each_constraint(
      problem,
      [&](const Constraint& constraint, const Row& row) {
        const int at = constraint.first_row;
        f_[at] = row.impulse_at(v_next[row.dof]);
        w_[at] = 0;
        modes_[at] = RowMode::clamping;
        out.target[at] = row.target;
        out.diagonal[at] = own_response(model.tree(), record.tape().inverse, row.dof) + 1 / row.conductance;
      },
      [&](Constraint& constraint, const Constraint& posed) {
        constraint.rule = posed.rule;
        const int to = constraint.first_row, from = posed.first_row;
        std::copy_n(record.f.begin() + from, constraint.rows, f_.begin() + to);
        std::copy_n(record.w.begin() + from, constraint.rows, w_.begin() + to);
        std::copy_n(record.modes.begin() + from, constraint.rows, modes_.begin() + to);
        std::copy_n(problem.target.begin() + from, constraint.rows, out.target.begin() + to);
        std::copy_n(problem.target_dropped.begin() + from, constraint.rows, target_dropped_.begin() + to);
        const std::vector<Island>& islands = problem.islands.islands();
        while (from >= islands[island].first_row + islands[island].row_count) ++island;
        const LcpDiagonal diagonal = problem.diagonal(island);
        for (int k = 0; k < constraint.rows; ++k) {
          out.diagonal[to + k] = diagonal[from + k - islands[island].first_row];
        }
      });
  complete_islands(model.tree(), problem, record, steady);
  record.f.assign(f_.begin(), f_.end());
  record.w.assign(w_.begin(), w_.end());
  record.modes.assign(modes_.begin(), modes_.end());
  out.constraints = all_;
  out.islands = islands_.islands();
  const bool none = std::ranges::find(target_dropped_, 1) == target_dropped_.end();
  out.target_dropped.assign(target_dropped_.begin(), none ? target_dropped_.begin() : target_dropped_.end());
  index_contacts(all_, record.contacts.contacts.size(), out.constraint_of_contact);
}

// An island whose rows are all folded counts as one whose guess was right.
void FoldedMotors::complete_islands(const DofTree& tree, const ContactProblem& problem, StepRecord& record,
                                    std::vector<std::uint8_t>& steady) {
  const std::size_t count = islands_.islands().size();
  reports_.assign(count, LcpReport{.stage = LcpStage::guess});
  steady_islands_.assign(count, 1);
  for (std::size_t i = 0; i < record.reports.size(); ++i) {
    const Island& island = problem.islands.islands()[i];
    const int whole = island_of(tree, problem.constraints[island.first_constraint]);
    reports_[whole] = record.reports[i];
    steady_islands_[whole] = steady[i];
  }
  for (const Row& row : rows_) {
    LcpReport& report = reports_[island_of(tree, all_[row.constraint])];
    ++report.clamping_rows;
    if (report.rank >= 0) ++report.rank;  // what gives way is never redundant
  }
  record.status.guessed += static_cast<int>(count - record.reports.size());
  record.status.rows = islands_.row_count();
  record.status.islands = static_cast<int>(count);
  record.reports.assign(reports_.begin(), reports_.end());
  steady.assign(steady_islands_.begin(), steady_islands_.end());
}

}  // namespace lithe::internal
