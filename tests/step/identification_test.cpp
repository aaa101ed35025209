#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/solids/balls.h"
#include "lithe/scenes/solids/solids.h"
#include "tests/step/trajectory.h"
#include "tests/support/step_worlds.h"

// What a body is like, found by gradient descent from how it was seen to move.
namespace lithe::test {
namespace {

// A motion that was recorded, and the parameter to find again.
struct Recording {
  Model model;
  State start;
  std::vector<VecX> tau;
  StepOptions options;
  std::string parameter;
};

Trajectory replay(const Recording& recording, const Model& model) {
  return roll_out(model, recording.start, recording.tau, recording.options);
}

// ℓ = ½ Σ_k |q_k ⊖ q̂_k|² over all steps, and its gradient by the parameter.
struct Mismatch {
  double loss = 0, gradient = 0;
};
Mismatch mismatch_of(const Recording& recording, const Trajectory& truth, double value) {
  Model model = recording.model;
  set_parameter(model, recording.parameter, value);
  const Trajectory trajectory = replay(recording, model);
  Mismatch mismatch;
  std::vector<StepCotangent> by_state(trajectory.records.size());
  for (int k = 0; k < trajectory.steps(); ++k) {
    const VecX miss = difference(model, trajectory.records[k].next.q, truth.records[k].next.q);
    mismatch.loss += 0.5 * miss.squaredNorm();
    by_state[k].q = difference_derivative_q1(model, miss).transpose() * miss;
  }
  const StepParameters parameters(model, {recording.parameter});
  mismatch.gradient = gradient_of(model, trajectory, by_state, {}, &parameters).parameters[0];
  return mismatch;
}

// Gradient descent with the step length of Barzilai & Borwein (1988), from a wrong value. Returns what it ends at.
double identify(const Recording& recording, double guess) {
  const Trajectory truth = replay(recording, recording.model);
  const double size = std::abs(guess);
  double x = guess;
  Mismatch at = mismatch_of(recording, truth, x);
  double step = at.gradient > 0 ? -0.02 * size : 0.02 * size;
  for (int i = 0; i < 30 && std::abs(step) > 1e-9 * size; ++i) {
    const Mismatch next = mismatch_of(recording, truth, x + step);
    const double curvature = (next.gradient - at.gradient) / step;
    x += step;
    at = next;
    if (at.gradient == 0) break;
    step = std::clamp(-at.gradient / std::abs(curvature), -0.2 * size, 0.2 * size);
  }
  return x;
}

void expect_found(const Recording& recording, double guess, double tolerance) {
  const double value = parameter(recording.model, recording.parameter);
  EXPECT_GT(std::abs(guess - value), 0.1 * value);
  EXPECT_NEAR(identify(recording, guess), value, tolerance * value) << recording.parameter;
}

// A block on rough ground.
Recording block(double speed, double pull, const std::string& parameter) {
  const Material rough = {.friction = 0.3, .restitution = 0};
  ModelBuilder builder;
  add_free_solid(builder, "block", 2, Box{{0.2, 0.2, 0.05}}, Pose::translation(0, 0, 0.05), rough);
  add_ground(builder, rough);
  const Model model = builder.build();
  VecX v = VecX::Zero(6);
  v[0] = speed;
  return {model,
          {neutral_configuration(model), v},
          std::vector<VecX>(200, pull * VecX::Unit(6, 0)),
          with_time_step(2e-3),
          parameter};
}

TEST(Identification, FindsTheMassOfAPulledBlock) { expect_found(block(0, 15, "body/block/mass"), 3, 1e-6); }

TEST(Identification, FindsTheFrictionOfASlidingBlock) {
  expect_found(block(1.5, 0, "shape/block/friction"), 0.45, 1e-6);  // the block stops before the recording ends
}

TEST(Identification, FindsTheRestitutionOfABouncingBall) {
  ModelBuilder builder;
  add_free_solid(builder, "ball", 1, Sphere{0.1}, Pose::translation(0, 0, 0.4), {.friction = 0.5, .restitution = 0.7});
  add_ground(builder, {.friction = 0.5, .restitution = 0});
  const Model model = builder.build();
  // Two bounces.
  const Recording recording = {model,
                               {neutral_configuration(model), 0.5 * VecX::Unit(6, 0)},
                               std::vector<VecX>(700),
                               with_time_step(1e-3),
                               "shape/ball/restitution"};
  expect_found(recording, 0.6, 1e-6);
}

TEST(Identification, FindsTheLengthOfALink) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "upper", .inertia = SpatialInertia::point(1, {0, 0, -0.5})},
                   revolute("shoulder", Vec3::UnitY()));
  builder.add_body("upper", {.name = "lower", .inertia = SpatialInertia::point(0.5, {0, 0, -0.4})},
                   revolute("elbow", Vec3::UnitY(), Pose::translation(0, 0, -0.5)));
  const Model model = builder.build();
  const Recording recording = {model,
                               {(VecX(2) << 0.8, -0.5).finished(), VecX::Zero(2)},
                               std::vector<VecX>(300, (VecX(2) << 1, -0.5).finished()),
                               with_time_step(2e-3),
                               "joint/elbow/z"};
  EXPECT_NEAR(identify(recording, -0.7), -0.5, 1e-6);
}

TEST(Identification, FindsTheLengthOfALegThatStands) {
  // A leg of two links pushes its foot along the ground: only the contact tells how long the shin is.
  const Material rubber = {.friction = 1, .restitution = 0};
  ModelBuilder builder;
  builder.add_body("world", {.name = "hip", .inertia = SpatialInertia::sphere(5, 0.1)},
                   {prismatic("x", Vec3::UnitX()), prismatic("z", Vec3::UnitZ())});
  builder.add_body("hip", {.name = "thigh", .inertia = SpatialInertia::point(1, {0, 0, -0.2})},
                   revolute("joint", Vec3::UnitY()));
  builder.add_body("thigh", {.name = "shin", .inertia = SpatialInertia::point(0.5, {0, 0, -0.2})},
                   revolute("knee", Vec3::UnitY(), Pose::translation(0, 0, -0.4)));
  builder.add_shape("shin", {.name = "foot",
                             .geometry = Sphere{0.05},
                             .placement = Pose::translation(0, 0, -0.4),
                             .material = rubber,
                             .margin = 0.01});
  const double angle = 0.6;
  const double height = 0.8 * std::cos(angle) + 0.05;
  add_ground(builder, rubber, Pose::translation(0, 0, -height));
  const Model model = builder.build();
  VecX q = VecX::Zero(4);
  q[2] = angle;
  q[3] = -2 * angle;
  VecX tau = VecX::Zero(4);
  tau[2] = -8;
  tau[3] = 14;
  const Recording recording = {
      model, {q, VecX::Zero(4)}, std::vector<VecX>(120, tau), with_time_step(1e-3), "joint/knee/z"};
  EXPECT_NEAR(identify(recording, -0.42), -0.4, 1e-5);
}

}  // namespace
}  // namespace lithe::test
