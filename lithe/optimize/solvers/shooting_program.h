#pragma once

#include <memory>

#include "lithe/core/thread_pool.h"
#include "lithe/optimize/solvers/ipopt_program.h"
#include "lithe/optimize/solvers/shots.h"

namespace lithe::internal {

struct ShootingProgramOptions {
  int shot = 20;  // steps
  GradientOptions gradient = {};
  bool hessian = true;
};

// Multiple shooting as a nonlinear programme.
//
//   x   the free start, and shot after shot: the offset δ ∈ ℝ^{2nv} of its first state from a reference (not for the first
//       shot), the controls of its knots; then the free numbers of the model
//   f   the costs of all shots
//   c   shot after shot: how far its end is from the start of the next, x_end ⊖ x_start (2nv, not for the last shot), and the
//       problem's constraints in it
//
// A reference (q, v) with δ = (δq, δv) is the state (q ⊕ δq, v + δv). References are the states of the plan at hand.
class ShootingProgram final : public NonlinearProgram {
 public:
  // `plan` has its states. `problem` and `pool` must outlive this.
  ShootingProgram(const Problem& problem, const Plan& plan, const ShootingProgramOptions& options, ThreadPool& pool);

  const ProgramShape& shape() const override { return shape_; }
  VecX start() const override { return start_; }
  bool evaluate(const VecX& x) override;
  void linearize() override;
  double objective() const override { return objective_; }
  const VecX& constraints() const override { return constraints_; }
  const VecX& gradient() const override { return gradient_; }
  const VecX& jacobian() const override { return jacobian_; }
  const VecX& hessian() const override { return hessian_; }

  // Of the x of the last evaluate(): the plan, with the states of its shots (jumps included), and the largest jump between two shots.
  Plan plan() const;
  double largest_gap() const;
  const VecX& x() const { return x_; }

 private:
  // Where a shot has its parts in x and c.
  struct ShotPlace {
    std::vector<int> variables;    // one per column of the shot
    int offset = 0;                // of δ in x
    int gap = 0, constraints = 0;  // in c
    // Entries that are not always zero, by rows and columns of the shot.
    std::vector<ProgramShape::Place> end, by_constraints, hessian;
  };
  void place_shots();
  void set_bounds();
  void set_start(const Plan& plan);
  void set_jacobian_structure();
  void set_hessian_structure();
  bool read(const VecX& x);
  void set_start_maps();
  void write_jacobian();

  const Problem& problem_;
  ShootingProgramOptions options_;
  ThreadPool& pool_;
  std::vector<std::unique_ptr<ShotWorker>> workers_;
  std::vector<Shot> shots_;
  std::vector<ShotPlace> places_;
  std::vector<State> references_;
  std::vector<ProgramShape::Place> gap_by_offset_;  // entries of ∂(x_end ⊖ x_start)/∂δ of the next shot
  ProgramShape shape_;
  VecX start_, x_;
  Plan plan_;
  double objective_ = 0;
  VecX constraints_, gradient_, jacobian_, hessian_;
};

}  // namespace lithe::internal
