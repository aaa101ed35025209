#include "lithe/optimize/solvers/free_variables.h"

#include <cmath>

#include "lithe/core/infinity.h"
#include "lithe/model/parameters.h"
#include "lithe/simd/internal/finite.h"

namespace lithe::internal {

namespace {

constexpr double kLargestScale = 1e6;  // effort limits above are a way to say that there is none

// Half the range between two bounds, or 1 where there is none to speak of. Fixed numbers (a range of zero) have 1, too.
double scale_of(double lower, double upper) {
  const double half = (upper - lower) / 2;
  return half > 0 && half <= kLargestScale ? half : 1;
}

}  // namespace

FreeVariables::FreeVariables(const Problem& problem)
    : problem_(problem),
      controls_(problem.controls() * problem.knots()),
      start_(static_cast<int>(problem.free_start.size())),
      parameters_(static_cast<int>(problem.free_parameters.size())),
      model_parameters_(parameters_) {
  const int size = controls_ + start_ + parameters_;
  scale_.resize(size);
  lower_.resize(size);
  upper_.resize(size);
  int next = 0;
  const auto add = [&](double lower, double upper) {
    scale_[next] = scale_of(lower, upper);
    lower_[next] = lower / scale_[next];
    upper_[next] = upper / scale_[next];
    ++next;
  };
  for (int knot = 0; knot < problem.knots(); ++knot) {
    for (int k = 0; k < problem.controls(); ++k) {
      add(problem.lower.size() > 0 ? problem.lower[k] : -kInfinity,
          problem.upper.size() > 0 ? problem.upper[k] : kInfinity);
    }
  }
  for (const FreeStart& free : problem.free_start) add(-free.range, free.range);
  for (int k = 0; k < parameters_; ++k) {
    const FreeParameter& free = problem.free_parameters[k];
    add(free.lower, free.upper);
    model_parameters_[k] = parameter(problem.model, free.name);
  }
}

VecX FreeVariables::pack(const Plan& plan) const {
  VecX x = VecX::Zero(size());
  x.head(controls_) = plan.u.reshaped();
  if (plan.start.size() > 0) x.segment(controls_, start_) = plan.start;
  x.tail(parameters_) = plan.parameters.size() > 0 ? plan.parameters : model_parameters_;
  return project(x.cwiseQuotient(scale_));
}

// By the chain rule, ∂/∂y = scale · ∂/∂x.
VecX FreeVariables::pack(const PlanGradient& gradient) const {
  VecX x(size());
  x << gradient.u.reshaped(), gradient.start, gradient.parameters;
  return x.cwiseProduct(scale_);
}

void FreeVariables::unpack(const VecX& y, Plan& plan) const {
  const VecX x = y.cwiseProduct(scale_);
  plan.u = x.head(controls_).reshaped(problem_.controls(), problem_.knots());
  plan.start = x.segment(controls_, start_);
  plan.parameters = x.tail(parameters_);
  plan.q.resize(0, 0);
  plan.v.resize(0, 0);
  clamp(problem_, plan);
}

double FreeVariables::first_order(const VecX& y, const VecX& gradient) const {
  return size() > 0 ? (y - project(y - gradient)).cwiseAbs().maxCoeff() : 0;
}

bool is_finite(const Plan& plan) { return all_finite(plan.u) && all_finite(plan.start) && all_finite(plan.parameters); }

}  // namespace lithe::internal
