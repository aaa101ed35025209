#pragma once

#include <functional>
#include <vector>

#include "lithe/optimize/solvers/cost_expansion.h"
#include "lithe/rollout/rollout_report.h"
#include "lithe/step/step_vjp.h"

namespace lithe::internal {

// A plan carried out, and what it costs.
struct EvaluatedMotion {
  MatX q, v;                        // nq, nv × (T + 1)
  std::vector<StepRecord> records;  // T if they are kept, else one for all
  std::vector<WarmStart> guesses;   // T if they are kept: what the solver of each step started from
  std::vector<StepStatus> status;   // of each step
  double cost = 0;                  // infinite if the motion diverges or a cost is not finite
  double value = 0;                 // with the constraints' part
  double violation = 0;             // the largest
  int diverged_at = -1;
};

// The gradient of EvaluatedMotion::value by everything that is free.
struct PlanGradient {
  MatX u;  // controls × knots
  VecX start;
  VecX parameters;
  RolloutReport report;
};

// Who wants to steer a motion while it is under way. Each may be missing.
struct Steering {
  std::function<bool(int t)> stops;  // before step t: whether to leave it at that, as if the motion diverged here
  std::function<void(int t, const State& state)> choose;  // before step t: may write the plan's controls of this step
  std::function<void(int t, State& next)> move;           // after it: may put the motion elsewhere
};

// Carries out plans of one problem, one after the other. One per thread: it has its own copy of the model.
class MotionEvaluator {
 public:
  explicit MotionEvaluator(const Problem& problem);

  // Guesses let any step be done again, on its own and with the same bits: a humanoid's take less than a hundredth of its records.
  enum class Keep : std::uint8_t { nothing, guesses, records };

  // From the start, without regard to a plan's guess of the states. Each step starts from the warm start of the last.
  void run(const Plan& plan, Keep keep, const Multipliers* multipliers, EvaluatedMotion& out,
           const Steering& steering = {});
  // Step t of a motion that run() carried out with this plan, keeping guesses. Writes to `record`.
  void repeat(const Plan& plan, const EvaluatedMotion& motion, int t, StepRecord& record);
  // `motion` must come from run() with this plan, with its records.
  void gradient(const Plan& plan, const EvaluatedMotion& motion, const Multipliers* multipliers,
                const GradientOptions& options, PlanGradient& out);
  // The multipliers that the violations of a motion ask for: λ ← λ + ρ c, for inequalities not below zero.
  void update(const Plan& plan, const EvaluatedMotion& motion, Multipliers& multipliers);

  // The state that a plan starts from, the model with its numbers and the force of one step.
  State start_of(const Plan& plan) const;
  const Model& model() const { return model_; }
  void set_parameters(const Plan& plan);
  void control_of(const Plan& plan, int t, Control& out) const;
  const StepParameters& parameters() const { return parameters_; }

  // What residuals see at time t of a motion with these states and this record (null: the end).
  ResidualPoint point(const Plan& plan, int t, const ConstVecRef& q, const ConstVecRef& v, const StepRecord* record);

 private:
  const Problem& problem_;
  Model model_;
  VecX model_values_;  // of the free parameters, as set
  StepParameters parameters_;
  CostEvaluator costs_;
  CostExpansion expansion_;
  Kinematics kin_;
  Control control_;
  State state_;
  VecX first_before_;  // what u is compared with at t = 0
  VecX no_controls_;
  StepVjp vjp_;
  GradientOptions gradient_;  // with the parameters
  StepCotangent cotangent_;
};

}  // namespace lithe::internal
