#include "lithe/optimize/identification.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lithe/core/check.h"
#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/rollout/rollout.h"
#include "lithe/scenes/robots/identification_subjects.h"

namespace lithe::test {
namespace {

// A motion of the true model, measured with noise of this size in every number.
ObservedMotion measured(const Model& truth, const State& start, const Controls& controls, const StepOptions& options,
                        double noise, std::mt19937_64& random) {
  const Trajectory motion = rollout(truth, start, controls, options);
  EXPECT_LT(motion.diverged_at, 0);
  std::normal_distribution<double> normal;  // of size one: a size of zero is not allowed
  ObservedMotion seen = {.controls = controls, .q = motion.q, .v = motion.v};
  for (int t = 0; t <= controls.steps; ++t) {
    const VecX off = VecX::NullaryExpr(truth.nv(), [&] { return noise * normal(random); });
    seen.q.col(t) = retract(truth, motion.q.col(t), off);
    seen.v.col(t) += VecX::NullaryExpr(truth.nv(), [&] { return noise * normal(random); });
  }
  return seen;
}

Identification with_wrong(const Model& truth, const std::vector<FreeParameter>& unknown, const StepOptions& options,
                          double factor) {
  Identification problem = {.model = truth, .step = options, .parameters = unknown};
  for (const FreeParameter& free : unknown) {
    set_parameter(problem.model, free.name, factor * parameter(truth, free.name));
  }
  return problem;
}

void expect_found(const Model& truth, const Identification& problem, const IdentificationResult& found, double share) {
  for (int k = 0; k < found.parameters.size(); ++k) {
    const std::string& name = problem.parameters[k].name;
    const double wanted = parameter(truth, name);
    EXPECT_NEAR(found.parameters[k], wanted, share * std::abs(wanted)) << name << ": " << found.message;
    // The truth is where the deviation lets expect it.
    EXPECT_LT(std::abs(found.parameters[k] - wanted), 4 * found.deviations[k]) << name;
  }
}

TEST(Identification, FindsAMassAndALinkLength) {
  const Model truth = two_link_arm().build();
  StepOptions options;
  options.time_step = 5e-3;
  std::mt19937_64 random(1);
  Controls controls = {.steps = 300, .tau = MatX::Zero(2, 300)};
  for (int t = 0; t < 300; ++t) controls.tau.col(t) << 3 * std::sin(0.03 * t), std::cos(0.05 * t);
  Identification problem = with_wrong(truth, {{"body/lower/mass", 0.1, 5}, {"joint/elbow/z", -2, -0.1}}, options, 1.3);
  problem.motions = {measured(truth, {VecX::Zero(2), VecX::Zero(2)}, controls, options, 0.01, random)};
  expect_found(truth, problem, identify(problem), 0.02);
}

TEST(Identification, WithoutNoiseFindsTheNumbersThemselves) {
  const Model truth = two_link_arm().build();
  StepOptions options;
  options.time_step = 5e-3;
  std::mt19937_64 random(1);
  const Controls controls = {.steps = 200};
  Identification problem = with_wrong(truth, {{"body/lower/mass", 0.1, 5}, {"joint/elbow/z", -2, -0.1}}, options, 0.8);
  problem.motions = {measured(truth, {VecX::Constant(2, 0.5), VecX::Zero(2)}, controls, options, 0, random)};
  const IdentificationResult found = identify(problem, {.tolerance = 1e-10});
  for (int k = 0; k < 2; ++k) {
    const double wanted = parameter(truth, problem.parameters[k].name);
    // Free fall alone does not tell masses but for their ratio, which one of them fixed does.
    EXPECT_NEAR(found.parameters[k], wanted, 1e-6 * std::abs(wanted)) << found.message;
  }
}

TEST(Identification, FindsFrictionFromASlide) {
  const Model truth = sliding_block().build();
  StepOptions options;
  options.time_step = 5e-3;
  std::mt19937_64 random(2);
  Controls controls = {.steps = 150, .tau = MatX::Zero(2, 150)};
  controls.tau.row(0).head(60).setConstant(12);  // against μ m g = 6.9 N
  Identification problem = with_wrong(truth, {{"shape/block/friction", 0.01, 2}}, options, 1.4);
  problem.motions = {measured(truth, {Eigen::Vector2d(0, 0.05), VecX::Zero(2)}, controls, options, 0.01, random)};
  expect_found(truth, problem, identify(problem), 0.02);
}

TEST(Identification, FindsRestitutionFromBounces) {
  const Model truth = dropped_ball().build();
  StepOptions options;
  options.time_step = 1e-3;
  std::mt19937_64 random(3);
  const Controls controls = {.steps = 900};
  State start = {neutral_configuration(truth), VecX::Zero(6)};
  start.q[2] = 0.6;
  start.v << 0.4, 0, 0, 0.5, 1, 0.2;
  Identification problem = with_wrong(truth, {{"shape/ball/restitution", 0.01, 0.99}}, options, 0.85);
  // A bounce at another time is a large difference of velocities for a short while: the way up says more.
  problem.segment = 300;
  problem.motions = {measured(truth, start, controls, options, 0.01, random)};
  expect_found(truth, problem, identify(problem), 0.02);
}

TEST(Identification, UsesSegmentsAndSeveralMotionsAndHasTheSameBitsOnAnyNumberOfThreads) {
  const Model truth = two_link_arm().build();
  StepOptions options;
  options.time_step = 5e-3;
  std::mt19937_64 random(4);
  const Controls controls = {.steps = 120};
  Identification problem =
      with_wrong(truth, {{"body/lower/mass", 0.1, 5}, {"joint/shoulder/damping", 0, 1}}, options, 1.2);
  problem.segment = 30;
  for (const double angle : {0.4, 1.0, 2.0}) {
    problem.motions.push_back(
        measured(truth, {VecX::Constant(2, angle), VecX::Zero(2)}, controls, options, 1e-3, random));
  }
  const IdentificationResult one = identify(problem);
  EXPECT_NEAR(one.parameters[0], 0.8, 0.05) << one.message;
  EXPECT_NEAR(one.parameters[1], 0, 0.02) << one.message;
  for (const int threads : {2, 3}) {
    const IdentificationResult several = identify(problem, {.threads = threads});
    EXPECT_EQ(several.parameters, one.parameters);
    EXPECT_EQ(several.cost, one.cost);
  }
}

TEST(Identification, StaysWithinBounds) {
  const Model truth = two_link_arm().build();
  StepOptions options;
  options.time_step = 5e-3;
  std::mt19937_64 random(5);
  Identification problem = with_wrong(truth, {{"body/lower/mass", 0.9, 5}}, options, 1.5);
  problem.motions = {measured(truth, {VecX::Constant(2, 1.0), VecX::Zero(2)}, {.steps = 100}, options, 1e-3, random)};
  EXPECT_EQ(identify(problem).parameters[0], 0.9);  // the truth is below
}

TEST(Identification, RefusesWhatMakesNoSense) {
  const Model truth = two_link_arm().build();
  std::mt19937_64 random(6);
  Identification problem = {.model = truth};
  EXPECT_THROW(identify(problem), Error);
  problem.parameters = {{"body/lower/mass", 0.1, 5}};
  EXPECT_THROW(identify(problem), Error);
  problem.motions = {measured(truth, {VecX::Zero(2), VecX::Zero(2)}, {.steps = 10}, {}, 0, random)};
  problem.motions[0].q(0, 3) = std::nan("");
  EXPECT_THROW(identify(problem), Error);
  problem.motions[0].q.resize(2, 5);
  EXPECT_THROW(identify(problem), Error);
}

}  // namespace
}  // namespace lithe::test
