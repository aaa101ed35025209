#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lithe/scenes/solids/solids.h"
#include "lithe/step/gradcheck.h"
#include "lithe/step/step_jacobians.h"
#include "tests/support/step_worlds.h"

// Contact points that are almost one. The solver counts their rows as dependent, and yet shares the load out by what little
// distinguishes them; its derivatives do the same.
namespace lithe::test {
namespace {

constexpr double kFootRadius = 0.05;

// Spheres on a body.
void add_feet(ModelBuilder& builder, const std::string& body, const std::vector<Vec3>& places,
              const Material& material) {
  for (std::size_t k = 0; k < places.size(); ++k) {
    std::string name = "foot";
    name.append(std::to_string(k));
    builder.add_shape(body, {.name = name,
                             .geometry = Sphere{kFootRadius},
                             .placement = {Mat3::Identity(), places[k]},
                             .material = material});
  }
}

TEST(ClosePoints, OfALeverShareWhatTheyCarryByTheirArms) {
  const Vec3 axis = Vec3(1, 2, 0).normalized();
  for (const double spacing : {0.1, 1e-3, 1e-5, 4e-6, 1e-6, 1e-7, 0.0}) {
    SCOPED_TRACE(spacing);
    const std::vector<Vec3> feet = {Vec3(1, 0.7, 0), Vec3(1 + spacing, 0.7, 0), Vec3(1, 0.7 + spacing, 0)};
    ModelBuilder builder;
    const Material smooth = {.friction = 0};
    add_ground(builder, smooth);
    builder.add_body("world", {.name = "bar", .inertia = SpatialInertia::point(2, {0.5, 0, 0})},
                     revolute("hinge", axis, Pose::translation(0, 0, kFootRadius)));
    add_feet(builder, "bar", feet, smooth);
    World world = world_of(builder, 1e-3);
    world.step();
    const StepRecord& record = world.record();
    ASSERT_EQ(record.f.size(), 3u);
    ASSERT_EQ(record.status.flags, LcpFlag::none);
    StepJacobians jacobians;
    step_jacobians(world.model(), record, jacobians, StepBlocks::all);
    EXPECT_FALSE(jacobians.report.one_sided);
    // What a push of the hinge takes, −τΔt, is shared out in proportion to the arms: f_k = −τΔt·arm_k/Σ arm².
    Vec3 arm;
    for (int k = 0; k < 3; ++k) arm[k] = axis.cross(feet[k]).z();
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(jacobians.df_dtau(k, 0), -1e-3 * arm[k] / arm.squaredNorm(), 1e-3 * 1e-9) << k;
    }
    const GradcheckResult result = Gradcheck().check(world.model(), record);
    EXPECT_TRUE(result[GradcheckBlock::f_tau].compared);
    EXPECT_LE(result.max_error(), 1e-7);
  }
}

TEST(ClosePoints, OfAFreeBodyHaveTheDerivativesThatDifferencesShow) {
  // Two feet one beside the other hold a body against turns about two axes, the less so the closer they are; from some distance on
  // the solver does not ask them to. Just before that, at some 1e-5 m, the impulses that would be needed leave no digits to compare.
  for (const double spacing : {1e-2, 1e-3, 1e-6, 1e-7, 1e-8, 0.0}) {
    SCOPED_TRACE(spacing);
    ModelBuilder builder;
    add_ground(builder);
    const Pose centre = Pose::translation(spacing / 2, 0.02, 0.1);
    builder.add_body("world", {.name = "body", .inertia = SpatialInertia::sphere(2, 0.2).in(centre)},
                     free_joint("body", Pose::translation(0, 0, kFootRadius)));
    add_feet(builder, "body", {Vec3::Zero(), Vec3(spacing, 0, 0)}, {});
    World world = world_of(builder, 1e-3);
    set_free_velocity(world, "body", Vec3(0, -0.02, -0.1), Vec3(0.5, 0, 0));
    world.step();
    const GradcheckResult result = Gradcheck().check(world.model(), world.record());
    ASSERT_TRUE(result.comparable());
    EXPECT_EQ(result.report.clamping, 6);
    EXPECT_EQ(result.report.rank, spacing > 1e-5 ? 5 : 3);
    EXPECT_LE(result.max_error(), 1e-8);
  }
}

TEST(ClosePoints, ThatPartHaveAnotherRankAndSoAnotherMode) {
  // Two feet in one place. A step that does not say what rank its rows have must not pass off differences of feet that are
  // apart as derivatives of feet that are not.
  ModelBuilder builder;
  add_ground(builder);
  builder.add_body("world",
                   {.name = "body", .inertia = SpatialInertia::sphere(2, 0.2).in(Pose::translation(0, 0.02, 0.1))},
                   free_joint("body", Pose::translation(0, 0, kFootRadius)));
  add_feet(builder, "body", {Vec3::Zero(), Vec3::Zero()}, {});
  World world = world_of(builder, 1e-3);
  set_free_velocity(world, "body", Vec3(0, -0.02, -0.1), Vec3(0.5, 0, 0));
  world.step();
  StepRecord record = world.record();
  ASSERT_EQ(record.reports.size(), 1u);
  record.reports[0].rank = -1;
  const StepParameters parameters(world.model(), {"shape/foot1/x"});
  const GradcheckResult result = Gradcheck().check(world.model(), record, parameters);
  ASSERT_TRUE(result.comparable());
  EXPECT_LE(result.max_error(), 1e-7);
}

}  // namespace
}  // namespace lithe::test
