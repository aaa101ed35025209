#include <fmt/core.h>

#include <random>
#include <string>
#include <vector>

#include "apps/lithe/demo.h"
#include "apps/lithe/stopwatch.h"
#include "lithe/dynamics/forward_dynamics_derivatives.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/humanoid.h"

namespace lithe::cli {

namespace {

constexpr double kDifferenceStep = 1e-5;  // balances truncation (h²) and rounding (ε/h)

// ∂f/∂x, one column per entry of the tangent δ: (f(+h e_j) − f(−h e_j)) / 2h.
template <class Function>
void central_differences(const Function& f, MatX& out) {
  VecX delta = VecX::Zero(out.cols());
  for (int j = 0; j < out.cols(); ++j) {
    delta[j] = kDifferenceStep;
    out.col(j) = f(delta);
    delta[j] = -kDifferenceStep;
    out.col(j) = (out.col(j) - f(delta)) / (2 * kDifferenceStep);
    delta[j] = 0;
  }
}

class Experiment {
 public:
  explicit Experiment(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto fill = [&](VecX& x) { x = VecX::NullaryExpr(model_.nv(), [&] { return uniform(random); }); };
    q_ = random_configuration(model_, random);
    fill(v_);
    fill(a_);
    fill(tau_);
  }

  int size() const { return model_.nv(); }

  // Results stay in the workspaces until the next call.
  const VecX& inverse(const VecX& q, const VecX& v) {
    kinematics(model_, q, v, kin_);
    rnea(model_, kin_, a_, id_);
    return id_.tau;
  }
  const VecX& forward(const VecX& q, const VecX& v, const VecX& tau) {
    kinematics(model_, q, v, kin_);
    aba(model_, kin_, tau, fd_);
    return fd_.a;
  }
  const InverseDynamicsDerivatives& inverse_derivatives() {
    inverse(q_, v_);
    rnea_derivatives(model_, kin_, id_, did_);
    return did_;
  }
  const ForwardDynamicsDerivatives& forward_derivatives() {
    forward(q_, v_, tau_);
    aba_derivatives(model_, kin_, fd_, dfd_);
    return dfd_;
  }

  const VecX& moved(const VecX& delta) {
    retract(model_, q_, delta, moved_);
    return moved_;
  }
  const VecX& q() const { return q_; }
  const VecX& v() const { return v_; }
  const VecX& tau() const { return tau_; }

 private:
  const Model model_ = humanoid().build();
  VecX q_, v_, a_, tau_;
  VecX moved_ = VecX(model_.nq());
  Kinematics kin_;
  InverseDynamics id_;
  InverseDynamicsDerivatives did_;
  ForwardDynamics fd_;
  ForwardDynamicsDerivatives dfd_;
};

// Prints one row and returns the time that the differences took.
template <class Function>
double compare(const char* name, const MatX& analytic, const Function& f) {
  MatX numeric(analytic.rows(), analytic.cols());
  const double seconds = best_seconds(10, [&] { central_differences(f, numeric); });
  const double error = (analytic - numeric).cwiseAbs().maxCoeff() / analytic.cwiseAbs().maxCoeff();
  const std::string size = fmt::format("{}×{}", analytic.rows(), analytic.cols());
  fmt::print("  {:<12}{:<9}{:>9.1e}{:>14.1f} µs\n", name, size, error, 1e6 * seconds);
  return seconds;
}

void print_total(double numeric, double analytic) {
  fmt::print("  {:<30}{:>14.1f} µs{:>12.1f} µs{:>8.0f}×\n\n", "together", 1e6 * numeric, 1e6 * analytic,
             numeric / analytic);
}

}  // namespace

void show_derivatives(std::uint64_t seed) {
  Experiment x(seed);
  constexpr int kRuns = 300;
  fmt::print("Every derivative against central differences, on a humanoid with {} degrees of freedom\n\n", x.size());
  fmt::print("  {:<12}{:<9}{:>9}{:>17}{:>15}{:>9}\n", "derivative", "size", "error", "differences", "analytic",
             "faster");

  const double id_seconds = best_seconds(kRuns, [&] { x.inverse_derivatives(); });
  const InverseDynamicsDerivatives& did = x.inverse_derivatives();
  double differences = compare("∂ID/∂q", did.dtau_dq, [&](const VecX& d) { return x.inverse(x.moved(d), x.v()); });
  differences += compare("∂ID/∂v", did.dtau_dv, [&](const VecX& d) { return x.inverse(x.q(), x.v() + d); });
  print_total(differences, id_seconds);

  const double fd_seconds = best_seconds(kRuns, [&] { x.forward_derivatives(); });
  const ForwardDynamicsDerivatives& dfd = x.forward_derivatives();
  differences = compare("∂FD/∂q", dfd.da_dq, [&](const VecX& d) { return x.forward(x.moved(d), x.v(), x.tau()); });
  differences += compare("∂FD/∂v", dfd.da_dv, [&](const VecX& d) { return x.forward(x.q(), x.v() + d, x.tau()); });
  differences += compare("∂FD/∂τ", dfd.da_dtau, [&](const VecX& d) { return x.forward(x.q(), x.v(), x.tau() + d); });
  print_total(differences, fd_seconds);
  fmt::print("  ID and FD: inverse and forward dynamics. Error: relative to the matrix's largest entry.\n");
}

}  // namespace lithe::cli
