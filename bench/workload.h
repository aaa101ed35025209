#pragma once

#include <random>
#include <utility>

#include "lithe/dynamics/forward_dynamics_derivatives.h"
#include "lithe/dynamics/internal/inverse_factor.h"
#include "lithe/model/configuration.h"

namespace lithe::bench {

using namespace internal;

// One model with states to visit and a workspace for every kernel.
//
// Kernels that start from (q, v) cycle through the states, so that no branch predictor learns one of them by heart.
// Kernels that start from another's products find them in cache, where the step leaves them. All workspaces have
// seen a call before anything is timed, so nothing allocates.
struct Workload {
  static constexpr int kStates = 16;

  Model model;
  MatX q, v, a, tau;  // one column per state
  VecX rhs, solution;
  int visited = 0;

  Kinematics kin;
  InverseDynamics id;
  InverseDynamicsDerivatives did;
  MassMatrix M;
  MassFactor factor;
  InverseFactor inverse;
  ForwardDynamics fd;
  ForwardDynamicsDerivatives dfd;

  explicit Workload(Model m) : model(std::move(m)) {
    std::mt19937_64 random(1);
    const int nv = model.nv();
    q.resize(model.nq(), kStates);
    for (int i = 0; i < kStates; ++i) q.col(i) = random_configuration(model, random);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto fill = [&](MatX& x) { x = MatX::NullaryExpr(nv, kStates, [&] { return uniform(random); }); };
    fill(v);
    fill(a);
    fill(tau);
    rhs = tau.col(0);
    solution.resize(nv);
    compute_everything();
  }

  // The index of the state whose turn it is.
  int next_state() {
    visited = (visited + 1) % kStates;
    return visited;
  }

  // Leaves consistent products of state 0 in every workspace.
  void compute_everything() {
    kinematics(model, q.col(0), v.col(0), kin);
    rnea(model, kin, a.col(0), id);
    rnea_derivatives(model, kin, id, did);
    mass_matrix(model, kin, M);
    factorize(model, M, factor);
    invert(model, factor, inverse);
    aba(model, kin, tau.col(0), fd);
    aba_derivatives(model, kin, fd, dfd);
  }
};

}  // namespace lithe::bench
