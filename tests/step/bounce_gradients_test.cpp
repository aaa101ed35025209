#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/step/internal/step_tape.h"
#include "tests/step/bounce_cases.h"
#include "tests/step/parameter_cases.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/constrained_model.h"
#include "tests/support/differentiate.h"
#include "tests/support/plain_step.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"
#include "tests/support/step_worlds.h"

// Derivatives through elastic impacts: those of the motion in continuous time, of which a simulation that stops at the very
// moment of the impact is the judge; and the paper's.
namespace lithe::test {

using namespace internal;
namespace {

struct Blocks {
  MatX qq, vq, qv, vv;
};

// By differences: q⁺ in the tangent of where it is.
Blocks difference_blocks(const Model& model, const StepRecord& record, const ContinuousImpact& motion) {
  const double h = record.options.time_step;
  const Motion start = {record.state.q, record.state.v};
  const Motion end = motion.after(h, start);
  const auto out = [&](const Motion& from) {
    const Motion to = motion.after(h, from);
    VecX both(2 * model.nv());
    both << difference(model, to.q, end.q), to.v;
    return both;
  };
  const double step = 1e-3 * h;
  const MatX by_q =
      central_difference([&](const VecX& d) { return out({retract(model, start.q, d), start.v}); }, model.nv(), step);
  const MatX by_v = central_difference([&](const VecX& d) { return out({start.q, start.v + d}); }, model.nv(), 1e-4);
  const int n = model.nv();
  return {by_q.topRows(n), by_q.bottomRows(n), by_v.topRows(n), by_v.bottomRows(n)};
}

// The largest relative error of the four blocks.
double state_error_of(const Striker& s, double h, double share) {
  const Model model = above_ground(s, h, share);
  const StepRecord record = one_step(model, s.q, s.v, s.tau, h);
  EXPECT_TRUE(bounces(record));
  const Blocks truth = difference_blocks(model, record, ContinuousImpact(model, record));
  const StepJacobians jacobians = jacobians_of(model, record, {});
  EXPECT_EQ(jacobians.report.mode, GradientMode::bounce_mass_metric);
  return std::max({relative_error(jacobians.dqnext_dq, truth.qq), relative_error(jacobians.dvnext_dq, truth.vq),
                   relative_error(jacobians.dqnext_dv, truth.qv, 1e-12),
                   relative_error(jacobians.dvnext_dv, truth.vv)});
}

TEST(Bounce, IsTheMotionThroughTheImpact) { expect_first_order(state_error_of); }

TEST(Bounce, DoesNotDependOnTheIntegrator) {
  for (const double friction : {0.0, 0.15, 3.0}) {
    for (const Bounce bounce : {Bounce::mass_metric, Bounce::paper}) {
      SCOPED_TRACE("friction " + std::to_string(friction));
      const Striker s = flying_rod({.friction = friction, .restitution = 0.7});
      const double h = 1e-5;
      const Model model = above_ground(s, h, 0.4);
      const auto blocks = [&](Integrator integrator) {
        return jacobians_of(model, one_step(model, s.q, s.v, s.tau, h, integrator), {.bounce = bounce});
      };
      const StepJacobians implicit = blocks(Integrator::semi_implicit);
      const StepJacobians now = blocks(Integrator::explicit_position);
      EXPECT_LT(relative_error(now.dqnext_dq, implicit.dqnext_dq), 1e-3);
      EXPECT_LT(relative_error(now.dqnext_dv, implicit.dqnext_dv, 1e-12), 1e-3);
      EXPECT_LT(relative_error(now.dvnext_dq, implicit.dvnext_dq), 1e-12);
    }
  }
}

// A free box of 1 kg over the ground, moving with v, at rest otherwise; `gap` under it.
Model box_over_ground(const Material& material, double gap) {
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  add_free_solid(builder, "box", 1, Box{{0.3, 0.2, 0.1}}, Pose::translation(0, 0, 0.1 + gap), material);
  add_ground(builder, material);
  return builder.build();
}

struct Normals {
  MatX N;     // rows × nv
  VecX e;     // restitution
  MatX Minv;  // of M̂
};
Normals bouncing_normals(const Model& model, const StepRecord& record) {
  const PlainStep plain = plain_step(model, record);
  Normals normals{MatX(0, model.nv()), VecX(), plain.M_hat.inverse()};
  for (const Constraint& constraint : record.tape().problem.constraints) {
    if (constraint.rule != TargetRule::restitution) continue;
    const Eigen::Index k = normals.N.rows();
    normals.N.conservativeResize(k + 1, Eigen::NoChange);
    normals.e.conservativeResize(k + 1);
    normals.N.row(k) = plain.J.row(constraint.first_row);
    normals.e[k] = constraint.material.restitution;
  }
  return normals;
}

TEST(Bounce, OfSeveralSmoothContactsIsTheImpactsMatrix) {
  // Four corners at once: S = I − M⁻¹NᵀA⁺(1 + e)N with A = N M⁻¹Nᵀ of rank three.
  const Model model = box_over_ground({.friction = 0, .restitution = 0.6}, -1e-9);
  const VecX v = (VecX(6) << 0.2, 0, -1, 0, 0, 0.1).finished();
  const StepRecord record = one_step(model, neutral_configuration(model), v, {}, 1e-7);
  const Normals normals = bouncing_normals(model, record);
  ASSERT_EQ(normals.N.rows(), 4);
  const MatX A = normals.N * normals.Minv * normals.N.transpose();
  const MatX S = MatX::Identity(6, 6) - normals.Minv * normals.N.transpose() *
                                            A.completeOrthogonalDecomposition().pseudoInverse() *
                                            (VecX::Ones(4) + normals.e).asDiagonal() * normals.N;
  const StepJacobians jacobians = jacobians_of(model, record, {});
  EXPECT_LT((jacobians.dqnext_dq - S).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((jacobians.dvnext_dv - S).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((jacobians.dqnext_dv - 1e-7 * S).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Bounce, OfAFlatLandingIsThatOfOneContactUnderItsMiddle) {
  // With gravity the velocity block counts the impact once, not once per corner: ∂v⁺/∂z = (1 + e) g/|v|.
  Model model = box_over_ground({.friction = 1, .restitution = 0.6}, -1e-9);
  model.set_gravity(Vec3(0, 0, -kGravity));
  const VecX v = -2 * VecX::Unit(6, 2);
  const StepRecord record = one_step(model, neutral_configuration(model), v, {}, 1e-6);
  const StepJacobians jacobians = jacobians_of(model, record, {});
  EXPECT_NEAR(jacobians.dqnext_dq(2, 2), -0.6, 1e-5);
  EXPECT_NEAR(jacobians.dvnext_dq(2, 2), 1.6 * kGravity / 2, 1e-4);
  // To raise the ground, or to make the box higher, is the opposite of raising the box.
  const StepParameterJacobian by = by_parameters(model, record, {"shape/ground/z", "shape/box/half_z"}, {});
  for (int k = 0; k < 2; ++k) {
    EXPECT_NEAR(by.dqnext(2, k), 1.6, 1e-5);
    EXPECT_NEAR(by.dvnext(2, k), -1.6 * kGravity / 2, 1e-4);
  }
}

TEST(Bounce, ByThePapersRuleSolvesItsLeastSquares) {
  // Over all entries of X: min ‖X − I‖² subject to n̂ᵢᵀ X n̂ᵢ/|n̂ᵢ|² = −eᵢ, as the appendix writes it: W holds n̂n̂ᵀ/|n̂|² as columns.
  const Model model = box_over_ground({.friction = 0.5, .restitution = 0.6}, -1e-9);
  const VecX v = (VecX(6) << 0.2, 0, -1, 0, 0, 0.1).finished();
  const StepRecord record = one_step(model, neutral_configuration(model), v, {}, 1e-7);
  const Normals normals = bouncing_normals(model, record);
  ASSERT_EQ(normals.N.rows(), 4);
  MatX W(36, 4);
  for (int k = 0; k < 4; ++k) {
    const VecX n = normals.N.row(k).transpose();
    const MatX block = n * n.transpose() / n.squaredNorm();
    W.col(k) = Eigen::Map<const VecX>(block.data(), 36);
  }
  const MatX I = MatX::Identity(6, 6);
  const VecX centre = Eigen::Map<const VecX>(I.data(), 36);
  const VecX x = centre - W.transpose().completeOrthogonalDecomposition().solve(normals.e + W.transpose() * centre);
  const MatX X = Eigen::Map<const MatX>(x.data(), 6, 6);
  const StepJacobians jacobians = jacobians_of(model, record, {.bounce = Bounce::paper});
  EXPECT_EQ(jacobians.report.mode, GradientMode::bounce_paper);
  EXPECT_LT((jacobians.dqnext_dq - X).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((jacobians.dqnext_dv - 1e-7 * X).cwiseAbs().maxCoeff(), 1e-12);
  const StepJacobians exact = jacobians_of(model, record, GradientOptions::exact());
  EXPECT_EQ(jacobians.dvnext_dq, exact.dvnext_dq);
  EXPECT_EQ(jacobians.dvnext_dv, exact.dvnext_dv);
}

TEST(Bounce, OfTwoBodiesApartDoesNotMixThem) {
  const Material rubber = {.friction = 0.8, .restitution = 0.5};
  ModelBuilder builder;
  add_free_solid(builder, "left", 1, Sphere{0.1}, Pose::translation(-1, 0, 0.1), rubber);
  add_free_solid(builder, "right", 2, Sphere{0.1}, Pose::translation(1, 0, 0.1), rubber);
  add_ground(builder, rubber);
  const Model model = builder.build();
  const VecX v = (VecX(12) << 1, 0, -2, 3, 1, 0, 0, 1, -3, 0, -4, 2).finished();
  const StepRecord record = one_step(model, neutral_configuration(model), v, {}, 1e-3);
  const StepJacobians both = jacobians_of(model, record, {});
  ASSERT_EQ(both.report.mode, GradientMode::bounce_mass_metric);
  for (const MatX* block : {&both.dqnext_dq, &both.dqnext_dv, &both.dvnext_dq, &both.dvnext_dv}) {
    EXPECT_EQ(block->topRightCorner(6, 6).norm(), 0);
    EXPECT_EQ(block->bottomLeftCorner(6, 6).norm(), 0);
    EXPECT_GT(block->bottomRightCorner(6, 6).norm(), 0);
  }
}

TEST(Bounce, LeavesWhatOnlyRestsAlone) {
  // A block that slides over smooth ground into an elastic wall: its way back is x ↦ −e x, and the ground holds it as before.
  const Material rubber = {.friction = 0, .restitution = 0.6};
  ModelBuilder builder;
  add_free_solid(builder, "block", 1, Box{Vec3::Constant(0.1)}, Pose::translation(0, 0, 0.1), rubber);
  add_ground(builder, rubber);
  builder.add_shape("world", {.name = "wall",
                              .geometry = Plane{},
                              .placement = {rotation_about(Vec3::UnitY(), -std::numbers::pi / 2), Vec3(0.1, 0, 0)},
                              .material = rubber});
  const Model model = builder.build();
  const StepRecord record = one_step(model, neutral_configuration(model), VecX::Unit(6, 0), {}, 1e-3);
  const StepJacobians bouncing = jacobians_of(model, record, {});
  const StepJacobians exact = jacobians_of(model, record, GradientOptions::exact());
  ASSERT_EQ(bouncing.report.mode, GradientMode::bounce_mass_metric);
  EXPECT_NEAR(bouncing.dqnext_dq(0, 0), -0.6, 1e-9);
  EXPECT_NEAR(exact.dqnext_dq(0, 0), 1, 1e-9);
  for (int k = 1; k < 3; ++k) {
    EXPECT_NEAR(bouncing.dqnext_dq(k, k), exact.dqnext_dq(k, k), 1e-9);
    EXPECT_NEAR(bouncing.dvnext_dq(k, k), exact.dvnext_dq(k, k), 1e-6);
  }
}

TEST(Bounce, BesideAPlasticLandingStaysBounded) {
  // A dumbbell lands on both ends, one of rubber and one of lead: targets of the order gap/Δt act on the lead in the same step.
  ModelBuilder builder;
  builder.add_body("world", {.name = "bar", .inertia = SpatialInertia::box(1, {1, 0.1, 0.1})},
                   free_joint("bar", Pose::translation(0, 0, 0.1)));
  for (const double side : {-1.0, 1.0}) {
    builder.add_shape("bar", {.name = side < 0 ? "rubber" : "lead",
                              .geometry = Sphere{0.1},
                              .placement = Pose::translation(0.5 * side, 0, 0),
                              .material = {.friction = 0.3, .restitution = side < 0 ? 0.7 : 0.0},
                              .margin = 0.01});
  }
  add_ground(builder, {.friction = 0.3, .restitution = 0});
  const Model model = builder.build();
  const auto correction = [&](double h) {
    VecX q = neutral_configuration(model);
    q[2] = 0.4 * h;
    const VecX v = (VecX(6) << 0, 0, -1, 0, 0.1, 0).finished();
    const StepRecord record = one_step(model, q, v, {}, h);
    EXPECT_TRUE(bounces(record));
    EXPECT_EQ(record.tape().problem.constraints.size(), 2U);
    return MatX(jacobians_of(model, record, {}).dvnext_dq -
                jacobians_of(model, record, GradientOptions::exact()).dvnext_dq);
  };
  const MatX coarse = correction(1e-4), fine = correction(1e-6);
  EXPECT_LT(coarse.cwiseAbs().maxCoeff(), 1e3);
  EXPECT_LT(relative_error(coarse, fine), 0.05);
}

// [∂q⁺/∂q ∂q⁺/∂v; ∂v⁺/∂q ∂v⁺/∂v] by Jacobians, 2nv × 2nv, and products with it.
Derivative derivative(const BouncingCase& c, const VecX& lambda, const VecX& x, Bounce bounce, GradientMode mode) {
  const int n = c.model.nv();
  const GradientOptions options = {.bounce = bounce};
  Derivative d{MatX(2 * n, 2 * n), VecX(2 * n), VecX(2 * n)};
  const StepJacobians J = jacobians_of(c.model, c.record, options);
  d.J << J.dqnext_dq, J.dqnext_dv, J.dvnext_dq, J.dvnext_dv;
  StepVjp vjp;
  step_vjp(c.model, c.record, {.q = lambda.head(n), .v = lambda.tail(n)}, vjp, options);
  d.left << vjp.q, vjp.v;
  StepJvp jvp;
  step_jvp(c.model, c.record, {.q = x.head(n), .v = x.tail(n)}, jvp, options);
  d.right << jvp.q, jvp.v;
  for (const GradientMode each : {J.report.mode, vjp.report.mode, jvp.report.mode}) EXPECT_EQ(each, mode);
  return d;
}

TEST(Bounce, CorrectsJacobiansAndProductsAlike) {
  // On top of the step's own derivative, whose products have tests of their own.
  for_random_cases(100, [](std::mt19937_64& random) {
    const std::optional<BouncingCase> c = random_bounce(random);
    if (!c) return Outcome::skipped;
    const int n = 2 * c->model.nv();
    const VecX lambda = random_vector(random, n), x = random_vector(random, n);
    const Derivative exact = derivative(*c, lambda, x, Bounce::off, GradientMode::exact);
    for (const Bounce bounce : {Bounce::mass_metric, Bounce::paper}) {
      const Derivative d =
          derivative(*c, lambda, x, bounce,
                     bounce == Bounce::paper ? GradientMode::bounce_paper : GradientMode::bounce_mass_metric);
      const MatX change = d.J - exact.J;
      const MatX size = d.J.cwiseAbs() + exact.J.cwiseAbs();  // what the difference is rounded by
      EXPECT_GT(change.norm(), 1e-3);
      EXPECT_LT((d.left - exact.left - change.transpose() * lambda).cwiseAbs().maxCoeff(),
                1e-12 * (size.transpose() * lambda.cwiseAbs()).maxCoeff());
      EXPECT_LT((d.right - exact.right - change * x).cwiseAbs().maxCoeff(), 1e-12 * (size * x.cwiseAbs()).maxCoeff());
    }
    return Outcome::checked;
  });
}

TEST(Bounce, ChangesNothingWhereNothingBounces) {
  for_random_cases(
      50,
      [](std::mt19937_64& random) {
        const ConstrainedCase c = random_constrained_case(random);
        StepRecord record;
        step(c.model, c.state, c.control, c.options, record);
        if (bounces(record)) return Outcome::skipped;
        const StepJacobians usual = jacobians_of(c.model, record, {});
        const StepJacobians exact = jacobians_of(c.model, record, GradientOptions::exact());
        EXPECT_EQ(usual.report.mode, GradientMode::exact);
        EXPECT_EQ(usual.dqnext_dq, exact.dqnext_dq);
        EXPECT_EQ(usual.dvnext_dq, exact.dvnext_dq);
        EXPECT_EQ(usual.dqnext_dv, exact.dqnext_dv);
        return Outcome::checked;
      },
      0.3);
}

TEST(Bounce, AllocatesNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  const Model model = box_over_ground({.friction = 0.5, .restitution = 0.6}, -1e-9);
  const VecX v = (VecX(6) << 0.2, 0, -1, 0.3, 0, 0.1).finished();
  const StepRecord record = one_step(model, neutral_configuration(model), v, {}, 1e-3);
  ASSERT_TRUE(bounces(record));
  const StepCotangent by_next = {VecX::Ones(6), VecX::Ones(6)};
  const StepParameters parameters(model, step_parameter_names(model));
  const StepTangent direction = {.q = VecX::Ones(6), .v = VecX::Ones(6), .parameters = VecX::Ones(parameters.size())};
  for (const Bounce bounce : {Bounce::mass_metric, Bounce::paper}) {
    const GradientOptions options = {.bounce = bounce};
    const GradientOptions with_parameters = {.bounce = bounce, .parameters = parameters};
    StepVjp vjp;
    StepJvp jvp;
    StepJacobians jacobians;
    StepParameterJacobian parameter_jacobian;
    const auto all = [&] {
      step_vjp(model, record, by_next, vjp, with_parameters);
      step_jvp(model, record, direction, jvp, with_parameters);
      step_jacobians(model, record, jacobians, StepBlocks::state, options);
      step_parameter_jacobian(model, record, parameter_jacobian, with_parameters);
    };
    all();
    const AllocationGuard guard;
    all();
    const long allocations = guard.count();
    EXPECT_EQ(allocations, 0);
  }
}

}  // namespace
}  // namespace lithe::test
