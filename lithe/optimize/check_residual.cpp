#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/model/configuration.h"
#include "lithe/optimize/residuals.h"
#include "lithe/simd/internal/finite.h"
#include "lithe/step/step.h"

namespace lithe {

using namespace internal;

namespace {

// At this step the truncation error of sixth-order differences is below rounding, for functions whose scale is about 1.
constexpr double kStep = 1e-3;
// Differences with kStep and with a tenth of it agree this well where a function is smooth.
constexpr double kSmooth = 1e-7;
// As many draws for each sample until they say that the residual is smooth nowhere.
constexpr int kDraws = 20;

// What a part of the derivatives is by.
enum class Input { q, v, u, u_before, f };
constexpr std::array kInputs = {Input::q, Input::v, Input::u, Input::u_before, Input::f};
constexpr std::array kPartNames = {"by_q", "by_v", "by_u", "by_u_before", "by_f"};

const char* name_of(Input input) { return kPartNames[static_cast<std::size_t>(input)]; }

// The part of a Jacobian, const or not, that has the derivatives by an input.
template <class Jacobian>
auto& part_of(Jacobian& jacobian, Input input) {
  switch (input) {
    case Input::q: return jacobian.by_q;
    case Input::v: return jacobian.by_v;
    case Input::u: return jacobian.by_u;
    case Input::u_before: return jacobian.by_u_before;
    case Input::f: break;
  }
  return jacobian.by_f;
}

// A point in a random state, where each input can be displaced while the others are held.
class Sample {
 public:
  Sample(const Model& model, const Residual& residual, int controls, std::mt19937_64& random)
      : model_(model), residual_(residual) {
    q_ = random_configuration(model, random);
    v_ = random_vector(random, model.nv());
    u_ = random_vector(random, controls);
    u_before_ = random_vector(random, controls);
    kinematics(model, q_, v_, kin_);
    if (residual.needs_impulses()) step(model, {q_, v_}, {}, {}, record_);
    size_ = residual.size(model);
  }

  int size() const { return size_; }
  // How many numbers an input has, which is how many columns its part of the derivatives should have.
  int count(Input input) const {
    if (input == Input::f) return static_cast<int>(record_.f.size());
    return static_cast<int>(input == Input::q || input == Input::v ? v_.size() : u_.size());
  }

  VecX value(ResidualJacobian* jacobian = nullptr) const {
    VecX result = VecX::Zero(size_);
    residual_.evaluate({.model = model_,
                        .t = 0,
                        .q = q_,
                        .v = v_,
                        .u = u_,
                        .u_before = u_before_,
                        .kin = kin_,
                        .record = residual_.needs_impulses() ? &record_ : nullptr,
                        .parameters = parameters_},
                       result, jacobian);
    return result;
  }

  // The derivatives by one input, by central differences of sixth order (Fornberg 1988, table 1).
  MatX differences(Input input, double h) {
    constexpr std::array kWeights = {3.0 / 4, -3.0 / 20, 1.0 / 60};
    MatX result = MatX::Zero(size_, count(input));
    for (int i = 0; i < count(input); ++i) {
      for (int k = 1; k <= 3; ++k) {
        result.col(i) += kWeights[k - 1] / h * (displaced(input, i, k * h) - displaced(input, i, -k * h));
      }
    }
    return result;
  }

 private:
  static VecX random_vector(std::mt19937_64& random, int size) {
    std::normal_distribution<double> normal;
    return VecX::NullaryExpr(size, [&] { return normal(random); });
  }

  // The value with number i of an input moved by this much. What follows from q and v is computed anew, and everything
  // is put back before returning.
  VecX displaced(Input input, int i, double by) {
    if (input == Input::q) {
      const VecX q = std::exchange(q_, retract(model_, q_, by * VecX::Unit(v_.size(), i)));
      kinematics(model_, q_, v_, kin_);
      const VecX result = value();
      q_ = q;
      kinematics(model_, q_, v_, kin_);
      return result;
    }
    double& number = input == Input::f          ? record_.f[i]
                     : input == Input::v        ? v_[i]
                     : input == Input::u_before ? u_before_[i]
                                                : u_[i];
    const double before = std::exchange(number, number + by);
    if (input == Input::v) kinematics(model_, q_, v_, kin_);
    const VecX result = value();
    number = before;
    if (input == Input::v) kinematics(model_, q_, v_, kin_);
    return result;
  }

  const Model& model_;
  const Residual& residual_;
  const StepParameters parameters_;
  VecX q_, v_, u_, u_before_;
  Kinematics kin_;
  StepRecord record_;
  int size_ = 0;
};

double largest(const MatX& matrix) { return matrix.size() == 0 ? 0.0 : matrix.cwiseAbs().maxCoeff(); }

// What makes comparing pointless; empty: nothing.
std::string flaw_of(const Sample& sample, const VecX& value, const ResidualJacobian& jacobian) {
  for (int i = 0; i < value.size(); ++i) {
    if (!std::isfinite(value[i])) return fmt::format("value[{}] is {}", i, value[i]);
  }
  if (sample.value() != value) return "the value differs when derivatives are asked for";
  for (const Input input : kInputs) {
    const MatX& part = part_of(jacobian, input);
    if (part.size() == 0) continue;
    if (part.rows() != sample.size() || part.cols() != sample.count(input)) {
      return fmt::format("{} is {} × {}; it must be {} × {}, or empty where it is zero", name_of(input), part.rows(),
                         part.cols(), sample.size(), sample.count(input));
    }
    if (!all_finite(part)) {
      return fmt::format("{} has a number that is not finite, or that evaluate() does not set at every call",
                         name_of(input));
    }
  }
  return {};
}

// Compares one part. Returns false where the differences themselves are in doubt: the residual jumps or bends nearby.
bool compare(Sample& sample, Input input, const ResidualJacobian& jacobian, double scale_of_value, double tolerance,
             ResidualCheck& result) {
  const MatX numeric = sample.differences(input, kStep);
  const MatX& given = part_of(jacobian, input);
  const MatX analytic = given.size() > 0 ? given : MatX::Zero(numeric.rows(), numeric.cols());
  // Differences of large numbers are rounded more.
  const double scale = std::max(largest(numeric), 1e-3 * std::max(1.0, scale_of_value));
  if (!(largest(numeric - sample.differences(input, kStep / 10)) <= kSmooth * scale)) return false;
  for (Eigen::Index j = 0; j < numeric.cols(); ++j) {
    for (Eigen::Index i = 0; i < numeric.rows(); ++i) {
      const double error = std::abs(analytic(i, j) - numeric(i, j)) / scale;
      if (error <= result.largest_error) continue;
      result.largest_error = error;
      if (error <= tolerance) continue;
      result.worst = fmt::format("{}({}, {}) is {:.9g}, differences give {:.9g}", name_of(input), i, j, analytic(i, j),
                                 numeric(i, j));
    }
  }
  return true;
}

}  // namespace

ResidualCheck check_residual(const Model& model, const Residual& residual, const ResidualCheckOptions& options) {
  LITHE_CHECK(options.samples > 0, "ResidualCheckOptions::samples is {}; give at least one", options.samples);
  LITHE_CHECK(options.controls > 0 || !(residual.needs_controls() || residual.needs_previous_controls()),
              "the residual '{}' needs controls; set ResidualCheckOptions::controls to how many there are",
              residual.name());
  std::mt19937_64 random(options.seed);
  ResidualCheck result;
  ResidualJacobian jacobian;
  int draws = 0;
  for (int compared = 0; compared < options.samples; ++draws) {
    if (draws == kDraws * options.samples) {
      return {kInfinity, false,
              "differences of two lengths disagree: the residual is not smooth, or its scale is tiny"};
    }
    Sample sample(model, residual, options.controls, random);
    const VecX value = sample.value(&jacobian);
    if (std::string flaw = flaw_of(sample, value, jacobian); !flaw.empty()) return {kInfinity, false, std::move(flaw)};
    // A state next to a jump says nothing of the derivatives; another one is drawn in its place.
    const bool settled = std::ranges::all_of(kInputs, [&](Input input) {
      return compare(sample, input, jacobian, largest(value), options.tolerance, result);
    });
    if (settled) ++compared;
    // Whatever a residual does not set at its next call will show.
    for (const Input input : kInputs) part_of(jacobian, input).setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  result.passed = result.largest_error <= options.tolerance;
  return result;
}

}  // namespace lithe
