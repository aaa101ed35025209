// A cart balances its pole while somebody pushes it: a plan of one second, made anew 100 times a second.
#include <cstdio>

#include "lithe/model/model_builder.h"
#include "lithe/optimize/receding_horizon.h"
#include "lithe/optimize/residuals.h"
#include "lithe/scenes/world.h"

using namespace lithe;

Model cart_and_pole() {
  ModelBuilder builder;
  Joint rail = prismatic("rail", Vec3::UnitX());
  rail.effort_limit = 20;
  const Vec3 cart(0.4, 0.2, 0.1), pole(0.04, 0.04, 1.0);
  builder.add_body("world", {.name = "cart", .inertia = SpatialInertia::box(1.0, cart)}, rail);
  builder.add_body(
      "cart",
      {.name = "pole", .inertia = SpatialInertia::box(0.2, pole), .placement = Pose::translation(0, 0, pole.z() / 2)},
      revolute("hinge", Vec3::UnitY()));
  return builder.build();
}

int main() {
  // Δt = 10 ms, 100 steps ahead; the hinge at 0 is upright.
  Problem problem = {.model = cart_and_pole(), .start = {VecX::Zero(2), VecX::Zero(2)}, .steps = 100};
  problem.step.time_step = 0.01;
  actuate_joints(problem, {"rail"});
  problem.costs = {{.residual = residuals::configuration(VecX::Zero(2)), .times = Times::all()},
                   {.residual = residuals::velocity(VecX::Zero(2)), .times = Times::all(), .weight = 0.1},
                   {.residual = residuals::controls(VecX::Zero(1)), .weight = 1e-3}};
  RecedingHorizon controller(problem, {{.max_iterations = 3}});

  World world(problem.model, problem.step);
  world.set_state(Eigen::Vector2d(0.5, 0.3), VecX::Zero(2));  // off the middle, and leaning
  for (int t = 0; t <= 500; ++t) {
    if (t % 50 == 0)
      std::printf("%4.1f s  cart %6.3f m  pole %6.3f rad\n", world.time(), world.state().q[0], world.state().q[1]);
    VecX tau = VecX::Zero(2);
    tau[0] = controller.update(world.state(), 1)[0];
    if (t >= 200 && t < 210) tau[0] += 30;  // a push of 3 N·s
    world.step(tau);
  }
}
