#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lithe/contact/constraint_options.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/spatial/rotation.h"
#include "lithe/step/gradcheck.h"
#include "lithe/step/step_jacobians.h"
#include "tests/support/step_worlds.h"

// The tolerances of two shapes go by the smaller one. Two of a kind, and there are many in any scene, are right at the kink: each
// has half of the derivative, as differences to both sides see it.
namespace lithe::test {

using namespace internal;
namespace {

constexpr double kApproachTimeStep = 1e-3;

// A fixed shape and one that slides along x, still open by 2e-5 m and about to close.
World approaching(const Geometry& fixed, const Geometry& moving, double distance, const Mat3& turn = Mat3::Identity()) {
  ModelBuilder builder;
  const Material smooth = {.friction = 0};
  builder.add_shape("world", {.name = "fixed", .geometry = fixed, .material = smooth});
  builder.add_body("world", {.name = "slider", .inertia = solid_inertia(1, moving)},
                   prismatic("slide", Vec3::UnitX(), Pose::translation(distance + 2e-5, 0, 0)));
  builder.add_shape("slider",
                    {.name = "moving", .geometry = moving, .placement = {turn, Vec3::Zero()}, .material = smooth});
  World world = world_of(builder, kApproachTimeStep);
  world.set_state(VecX::Zero(1), VecX::Constant(1, -1));
  return world;
}

double velocity_by(const World& world, const std::string& parameter) {
  StepParameterJacobian jacobian;
  step_parameter_jacobian(world.model(), world.record(), jacobian,
                          {.bounce = Bounce::off, .parameters = StepParameters(world.model(), {parameter})});
  return jacobian.dvnext(0, 0);
}

void expect_right(const World& world, const std::vector<std::string>& parameters) {
  const GradcheckResult result =
      Gradcheck().check(world.model(), world.record(), StepParameters(world.model(), parameters));
  EXPECT_TRUE(result.comparable());
  EXPECT_EQ(result.switched, 0);
  EXPECT_TRUE(result[GradcheckBlock::vnext_parameters].compared);
  EXPECT_LE(result.max_error(), 1e-8);
}

TEST(EqualSizes, OfTwoBallsMoveTheKneeByHalf) {
  // Approaching, v⁺ = −(gap − 0.8·k)/Δt with gap = x − r_a − r_b and the knee k = 1e-5·min(r_a, r_b).
  const double knee = (1 - StepOptions{}.correction) * kContactKnee;
  const auto by_radii = [&](double fixed, double moving) {
    World world = approaching(Sphere{fixed}, Sphere{moving}, fixed + moving);
    world.step();
    expect_right(world, {"shape/fixed/radius", "shape/moving/radius"});
    return std::pair(velocity_by(world, "shape/fixed/radius"), velocity_by(world, "shape/moving/radius"));
  };
  const auto [smaller, larger] = by_radii(0.1, 0.2);
  EXPECT_NEAR(smaller, (1 + knee) / kApproachTimeStep, 1e-9);
  EXPECT_NEAR(larger, 1 / kApproachTimeStep, 1e-9);
  const auto [one, other] = by_radii(0.1, 0.1);
  EXPECT_NEAR(one, (1 + 0.5 * knee) / kApproachTimeStep, 1e-9);
  EXPECT_NEAR(other, (1 + 0.5 * knee) / kApproachTimeStep, 1e-9);
}

TEST(EqualSizes, OfPipesAndCansAreDifferentiable) {
  const Mat3 crossing = rotation_exp(Vec3(1, 0, 0));
  World pipes = approaching(Capsule{0.1, 0.3}, Capsule{0.1, 0.3}, 0.2, crossing);
  pipes.step();
  expect_right(pipes, {"shape/fixed/radius", "shape/fixed/half_length", "shape/moving/radius"});
  World cans = approaching(Cylinder{0.1, 0.3}, Cylinder{0.1, 0.3}, 0.2, crossing);
  cans.step();
  expect_right(cans, {"shape/fixed/radius", "shape/fixed/half_length", "shape/moving/half_length"});
}

TEST(EqualSizes, OfARodsTwoThinSidesCountHalfEach) {
  // Its length scale is 20 times the thinner of the two.
  World rod = approaching(Sphere{1}, Box{{2e-3, 2e-3, 0.1}}, 1 + 2e-3);
  rod.step();
  expect_right(rod, {"shape/moving/half_x", "shape/moving/half_y", "shape/moving/half_z"});
  EXPECT_NEAR(velocity_by(rod, "shape/moving/half_y"),
              0.5 * 20 * (1 - StepOptions{}.correction) * kContactKnee / kApproachTimeStep, 1e-9);
}

}  // namespace
}  // namespace lithe::test
