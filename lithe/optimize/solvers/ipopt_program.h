#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "lithe/core/eigen.h"

namespace lithe::internal {

// A sparse nonlinear programme:  minimise f(x),  lower ≤ x ≤ upper,  constraint_lower ≤ c(x) ≤ constraint_upper.
struct ProgramShape {
  VecX lower, upper;  // one per variable; infinite: none
  VecX constraint_lower, constraint_upper;
  // Which entries of the matrices are not always zero. Entries that are named twice are summed.
  struct Place {
    int row, column;
  };
  std::vector<Place> jacobian;
  std::vector<Place> hessian;  // lower triangle
};

class NonlinearProgram {
 public:
  virtual ~NonlinearProgram() = default;

  virtual const ProgramShape& shape() const = 0;
  virtual VecX start() const = 0;

  // f and c at x; false where they are not finite, and then nothing may be asked for.
  virtual bool evaluate(const VecX& x) = 0;
  // The derivatives at the x of the last evaluate().
  virtual void linearize() = 0;

  virtual double objective() const = 0;
  virtual const VecX& constraints() const = 0;
  virtual const VecX& gradient() const = 0;  // of f
  virtual const VecX& jacobian() const = 0;  // of c, one number per place
  virtual const VecX& hessian() const = 0;   // of f, or what stands for it; c counts as linear
};

// The largest amount by which c is outside of its bounds.
inline double infeasibility(const ProgramShape& shape, const VecX& constraints) {
  double largest = 0;
  for (Eigen::Index i = 0; i < constraints.size(); ++i) {
    largest =
        std::max({largest, constraints[i] - shape.constraint_upper[i], shape.constraint_lower[i] - constraints[i]});
  }
  return largest;
}

// The accepted point after each iteration.
struct IpoptIteration {
  int iteration = 0;
  double objective = 0;
  double infeasibility = 0;
  double dual_infeasibility = 0;  // scaled
  double step = 0;                // the share that was taken
  double best = 0;                // the lowest objective of a feasible point so far; infinite: none
};

struct IpoptSettings {
  double tolerance = 1e-6;    // tol
  double feasibility = 1e-6;  // constr_viol_tol
  double barrier = 0.1;       // mu_init
  bool hessian = true;        // the programme's; else limited memory
  // Called after each iteration; returning false stops.
  std::function<bool(const IpoptIteration&)> iteration = {};
};

enum class IpoptOutcome {
  solved,
  infeasible,   // a local minimum of the violation
  stopped,      // by the callback
  no_progress,  // the step became too small, the restoration failed …
  overdetermined,
  not_finite,  // at the start
  failed,
};

struct IpoptResult {
  IpoptOutcome outcome = IpoptOutcome::failed;
  VecX x;     // where it ended
  VecX best;  // of the accepted points: the one with the lowest objective among the feasible, else the least infeasible
  std::string words;  // IPOPT's own name of the outcome
  double evaluate_seconds = 0, linearize_seconds = 0;
};

// Prints nothing and reads no option file. An exception of the programme or of the callback is passed on.
//
// MUMPS, the linear solver beneath, has global state: calls from several threads take turns.
IpoptResult solve_with_ipopt(NonlinearProgram& program, const IpoptSettings& settings);

}  // namespace lithe::internal
