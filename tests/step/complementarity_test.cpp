#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lithe/model/configuration.h"
#include "lithe/scenes/robots/drone.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/step/step_jacobians.h"
#include "tests/step/trajectory.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/constrained_model.h"
#include "tests/support/random_test.h"
#include "tests/support/step_worlds.h"

// Gradients that give rows other modes than the step's where the loss wants it.
namespace lithe::test {
namespace {

constexpr GradientOptions kAware = {.complementarity_aware = true};

// Gradient descent on the forces of 500 steps of the drone, from none, towards a height of 5 m: the paper's experiment.
struct Flight {
  double height;  // at the end
  double largest_gradient;
};
Flight learn_to_fly(const GradientOptions& options, int iterations) {
  const Scene scene = resting_drone();
  StepOptions step_options;
  step_options.time_step = scene.time_step;
  std::vector<VecX> tau(500, VecX::Zero(1));
  Flight flight = {};
  for (int i = 0; i <= iterations; ++i) {
    const Trajectory trajectory = roll_out(scene.model, {scene.q, scene.v}, tau, step_options);
    flight.height = trajectory.end().q[0];
    if (i == iterations) break;
    const double miss = flight.height - 5;
    const TrajectoryGradient gradient =
        gradient_of(scene.model, trajectory, at_end(trajectory, {.q = VecX::Constant(1, 2 * miss)}), options);
    for (std::size_t k = 0; k < tau.size(); ++k) {
      flight.largest_gradient = std::max(flight.largest_gradient, std::abs(gradient.tau[k][0]));
      tau[k][0] = std::clamp(tau[k][0] - 10 * gradient.tau[k][0], -10.0, 10.0);
    }
  }
  return flight;
}

TEST(Complementarity, TheDroneStaysOnTheGroundWithPlainGradients) {
  const Flight flight = learn_to_fly({}, 50);
  EXPECT_LT(flight.largest_gradient, 1e-15);
  EXPECT_NEAR(flight.height, 0.3, 1e-9);
}

TEST(Complementarity, TheDroneTakesOffWithAwareOnes) { EXPECT_NEAR(learn_to_fly(kAware, 50).height, 5, 0.1); }

StepRecord step_from(const Model& model, const VecX& q, const VecX& v, const VecX& tau = {}) {
  StepRecord record;
  step(model, {q, v}, {.tau = tau}, {}, record);
  return record;
}

StepVjp vjp_of(const Model& model, const StepRecord& record, const VecX& by_v, const GradientOptions& options) {
  StepVjp vjp;
  step_vjp(model, record, {.v = by_v}, vjp, options);
  return vjp;
}

void expect_same_gradient(const StepVjp& x, const StepVjp& y) {
  EXPECT_EQ(x.q, y.q);
  EXPECT_EQ(x.v, y.v);
  EXPECT_EQ(x.tau, y.tau);
  EXPECT_EQ(x.report.mode, y.report.mode);
}

// A ball of 0.01 kg on a platform, or `gap` above it, both on vertical rails (DoFs 1 and 0), without gravity.
Model ball_and_platform(double platform_mass, double gap) {
  const Material smooth = {.friction = 0, .restitution = 0};
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.add_body("world", {.name = "platform", .inertia = SpatialInertia::box(platform_mass, {1, 1, 0.2})},
                   prismatic("platform", Vec3::UnitZ(), Pose::translation(0, 0, -0.1)));
  builder.add_shape("platform", {.name = "platform", .geometry = Box{{0.5, 0.5, 0.1}}, .material = smooth});
  builder.add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(0.01, 0.1)},
                   prismatic("ball", Vec3::UnitZ(), Pose::translation(0, 0, 0.1 + gap)));
  builder.add_shape("ball", {.name = "ball", .geometry = Sphere{0.1}, .material = smooth});
  return builder.build();
}

TEST(Complementarity, AnOpenContactMayClose) {
  // The ball leaves the platform slowly, and the loss wants it down. Closed, the contact would share its force with the platform:
  // ∂v/∂τ = Δt/(m + M) for both.
  const double platform = 0.001, ball = 0.01, h = 1e-3;
  const Model model = ball_and_platform(platform, 1e-7);
  const StepRecord record = step_from(model, VecX::Zero(2), 1e-3 * VecX::Unit(2, 1));
  ASSERT_EQ(record.modes, std::vector{RowMode::separating});
  const StepVjp plain = vjp_of(model, record, VecX::Unit(2, 1), {});
  EXPECT_EQ(plain.tau[0], 0);
  EXPECT_NEAR(plain.tau[1], h / ball, 1e-15);
  const StepVjp aware = vjp_of(model, record, VecX::Unit(2, 1), kAware);
  EXPECT_EQ(aware.report.mode, GradientMode::complementarity_aware);
  EXPECT_EQ(aware.report.relabelled_rows, 1);
  EXPECT_EQ(aware.report.clamping, 1);
  EXPECT_NEAR(aware.tau[0], h / (ball + platform), 1e-15);
  EXPECT_NEAR(aware.tau[1], h / (ball + platform), 1e-15);
}

TEST(Complementarity, TheLargerGradientStays) {
  // Under a heavy platform there is less to gain from the contact than to lose.
  const Model model = ball_and_platform(1, 1e-7);
  const StepRecord record = step_from(model, VecX::Zero(2), 1e-3 * VecX::Unit(2, 1));
  expect_same_gradient(vjp_of(model, record, VecX::Unit(2, 1), kAware), vjp_of(model, record, VecX::Unit(2, 1), {}));
}

TEST(Complementarity, AClosedContactOpensWhereTheLossPullsItApart) {
  // Ball and platform are pressed together. Apart, each would answer its own force.
  const double platform = 0.02, ball = 0.01, h = 1e-3;
  const Model model = ball_and_platform(platform, 0);
  const StepRecord record = step_from(model, VecX::Zero(2), VecX::Zero(2), (VecX(2) << 1, -1).finished());
  ASSERT_EQ(record.modes, std::vector{RowMode::clamping});
  const VecX apart = (VecX(2) << 1, -1).finished();  // the loss falls where the ball rises and the platform sinks
  const StepVjp aware = vjp_of(model, record, apart, kAware);
  EXPECT_EQ(aware.report.mode, GradientMode::complementarity_aware);
  EXPECT_EQ(aware.report.relabelled_rows, 1);
  EXPECT_NEAR(aware.tau[0], h / platform, 1e-15);
  EXPECT_NEAR(aware.tau[1], -h / ball, 1e-15);
  // The other way round it is right to be closed.
  expect_same_gradient(vjp_of(model, record, -apart, kAware), vjp_of(model, record, -apart, {}));
}

TEST(Complementarity, FrictionGoesWithItsContact) {
  // A box on rough ground that the loss wants to rise: its four corners open, with two friction rows each.
  ModelBuilder builder;
  add_free_solid(builder, "box", 0.1, Box{Vec3::Constant(0.1)}, Pose::translation(0, 0, 0.1), {.friction = 0.8});
  add_ground(builder, {.friction = 0.8});
  const Model model = builder.build();
  const StepRecord record = step_from(model, neutral_configuration(model), VecX::Zero(6));
  ASSERT_EQ(record.modes.size(), 12U);
  const VecX up = -VecX::Unit(6, 2);
  EXPECT_LT(vjp_of(model, record, up, {}).tau.norm(), 1e-15);
  const StepVjp aware = vjp_of(model, record, up, kAware);
  EXPECT_EQ(aware.report.relabelled_rows, 12);
  EXPECT_EQ(aware.report.separating, 12);
  EXPECT_LT((aware.tau - 1e-3 / 0.1 * up).norm(), 1e-15);
  EXPECT_LT((aware.v - up).norm(), 1e-12);
}

TEST(Complementarity, ALimitOpensToo) {
  ModelBuilder builder;
  Joint slide = prismatic("slide", Vec3::UnitZ());
  slide.lower = 0;
  builder.add_body("world", {.name = "weight", .inertia = SpatialInertia::sphere(0.1, 0.1)}, slide);
  const Model model = builder.build();
  const StepRecord record = step_from(model, VecX::Zero(1), VecX::Zero(1));
  ASSERT_EQ(record.modes, std::vector{RowMode::clamping});
  EXPECT_EQ(vjp_of(model, record, VecX::Constant(1, -1), kAware).report.mode, GradientMode::complementarity_aware);
  EXPECT_EQ(vjp_of(model, record, VecX::Constant(1, 1), kAware).report.mode, GradientMode::exact);
}

TEST(Complementarity, ABouncingContactKeepsItsMode) {
  const Material rubber = {.friction = 0, .restitution = 0.8};
  ModelBuilder builder;
  add_free_solid(builder, "ball", 0.01, Sphere{0.1}, Pose::translation(0, 0, 0.1), rubber);
  add_ground(builder, rubber);
  const Model model = builder.build();
  const StepRecord record = step_from(model, neutral_configuration(model), -2 * VecX::Unit(6, 2));
  for (const double sign : {-1.0, 1.0}) {
    const StepVjp aware = vjp_of(model, record, sign * VecX::Unit(6, 2), kAware);
    expect_same_gradient(aware, vjp_of(model, record, sign * VecX::Unit(6, 2), {}));
    EXPECT_EQ(aware.report.mode, GradientMode::bounce_mass_metric);
    EXPECT_NEAR(aware.v[2], -0.8 * sign, 1e-12);
  }
}

double weight_of(const StepVjp& gradient, const StepRecord& record) {
  return gradient.v.squaredNorm() + gradient.tau.squaredNorm() / record.options.time_step;
}

TEST(Complementarity, IsNeverTheSmallerGradient) {
  int won = 0;
  for_random_cases(200, [&](std::mt19937_64& random) {
    const ConstrainedCase c = random_constrained_case(random);
    StepRecord record;
    step(c.model, c.state, c.control, c.options, record);
    const VecX lambda = random_vector(random, c.model.nv());
    const GradientOptions exact_aware = {.bounce = Bounce::off, .complementarity_aware = true};
    const StepVjp plain = vjp_of(c.model, record, lambda, GradientOptions::exact());
    const StepVjp aware = vjp_of(c.model, record, lambda, exact_aware);
    EXPECT_GE(weight_of(aware, record), weight_of(plain, record));
    if (aware.report.mode == GradientMode::complementarity_aware) {
      ++won;
      EXPECT_GT(aware.report.relabelled_rows, 0);
    } else {
      expect_same_gradient(aware, plain);
    }
  });
  if (!few_cases()) {
    EXPECT_GT(won, 20);
  }
}

TEST(Complementarity, AllocatesNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  const Scene scene = resting_drone();
  const StepRecord record = step_from(scene.model, scene.q, scene.v);
  const StepCotangent up = {.v = VecX::Constant(1, -1)}, down = {.v = VecX::Constant(1, 1)};
  StepVjp vjp;
  const auto both = [&] {
    step_vjp(scene.model, record, up, vjp, kAware);
    step_vjp(scene.model, record, down, vjp, kAware);
  };
  both();
  const AllocationGuard guard;
  both();
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

// Whole Jacobians under the classification that the loss suggests: their products with it are the aware VJP.
TEST(Complementarity, JacobiansAreThoseOfTheProduct) {
  int relabelled = 0, compared = 0;
  for_random_cases(400, [&](std::mt19937_64& random) {
    const ConstrainedCase c = random_constrained_case(random, {.max_dofs = 20});
    StepRecord record;
    step(c.model, c.state, c.control, c.options, record);
    if (!record.status.solved()) return Outcome::skipped;
    const int nv = c.model.nv();
    const StepCotangent by_next = {.q = random_vector(random, nv), .v = random_vector(random, nv)};
    StepVjp vjp, product;
    step_vjp(c.model, record, by_next, product, kAware);
    StepJacobians jacobians;
    step_jacobians(c.model, record, by_next, vjp, jacobians, StepBlocks::state, kAware);
    EXPECT_EQ(jacobians.report.mode, product.report.mode);
    EXPECT_EQ(jacobians.report.relabelled_rows, product.report.relabelled_rows);
    const auto compare = [&](const MatX& by_q, const MatX& by_v, const VecX& expected, const char* what) {
      const VecX found = by_q.transpose() * by_next.q + by_v.transpose() * by_next.v;
      // What the sum is rounded by, of which little may be left.
      const double terms = by_q.norm() * by_next.q.norm() + by_v.norm() * by_next.v.norm();
      EXPECT_LE((found - expected).norm(), 1e-9 * std::max(1.0, terms)) << what;
    };
    compare(jacobians.dqnext_dq, jacobians.dvnext_dq, product.q, "q");
    compare(jacobians.dqnext_dv, jacobians.dvnext_dv, product.v, "v");
    compare(jacobians.dqnext_dtau, jacobians.dvnext_dtau, product.tau, "tau");
    ++compared;
    relabelled += product.report.mode == GradientMode::complementarity_aware ? 1 : 0;
    return Outcome::checked;
  });
  if (!few_cases()) {
    EXPECT_GE(relabelled, compared / 20) << compared;
  }
}

}  // namespace
}  // namespace lithe::test
