#pragma once

#include <functional>

#include "lithe/core/eigen.h"
#include "lithe/model/model.h"

namespace lithe::test {

// The one numeric differentiator: every analytic derivative in Lithe is compared with it.
//
// f takes a small tangent vector δ ∈ ℝⁿ (f(0) is the point of interest) and returns a vector. Central differences of
// sixth order, steps h, 2h, 3h: the truncation error is h⁶f⁽⁷⁾/140 and the rounding error about ε|f|/h. The default step
// balances them for forward dynamics of random trees: there the median of the relative error is 1e-12 and the worst of
// many below 1e-9, against 3e-12 and 1e-9 for the best step of fourth order.
using TangentFunction = std::function<VecX(const VecX& delta)>;

inline constexpr double kDifferenceStep = 3e-3;

// ∂f/∂δ at 0; n columns.
MatX central_difference(const TangentFunction& f, int n, double step = kDifferenceStep);

// For functions that are less smooth or of unknown scale: Ridders' extrapolation of ever smaller steps, entry
// by entry (Numerical Recipes, §5.7), with an estimate of what the value is still wrong by.
struct NumericDerivative {
  MatX value;
  MatX error;
};
NumericDerivative ridders_difference(const TangentFunction& f, int n, double first_step = 0.1);

// ∂f/∂q in the tangent, nv columns: f(q ⊕ δ) by δ.
using ConfigurationFunction = std::function<VecX(const VecX& q)>;
MatX central_difference(const Model& model, const VecX& q, const ConfigurationFunction& f,
                        double step = kDifferenceStep);

// The same where f's value is a configuration too: g(q ⊕ δ) ⊖ g(q) by δ, nv × nv.
MatX central_difference_of_configuration(const Model& model, const VecX& q, const ConfigurationFunction& g,
                                         double step = kDifferenceStep);

// max|analytic − numeric| / max(max|numeric|, floor); infinite for wrong sizes and anything not finite.
double relative_error(const MatX& analytic, const MatX& numeric, double floor = 1e-3);

}  // namespace lithe::test
