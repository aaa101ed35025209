#include <cstdio>

#include "lithe/model/model_builder.h"
#include "lithe/optimize/ddp.h"
#include "lithe/optimize/residuals.h"

int main() {
  using namespace lithe;
  Joint hinge = revolute("hinge", Vec3::UnitY());
  hinge.effort_limit = 2;  // N·m; to hold 1 kg on 0.5 m to the side takes 4.9
  Problem problem = {
      .model = ModelBuilder()
                   .add_body("world", {.name = "bob", .inertia = SpatialInertia::point(1.0, {0, 0, -0.5})}, hinge)
                   .build(),
      .start = {VecX::Zero(1), VecX::Zero(1)},  // hanging, at rest
      .steps = 300};
  problem.step.time_step = 0.01;
  actuate_joints(problem);  // one control: the hinge's torque, within ± 2 N·m
  problem.costs = {
      {.residual = residuals::joint_position(problem.model, "hinge", 3.14159), .times = Times::final(), .weight = 10},
      {.residual = residuals::joint_velocity(problem.model, "hinge"), .times = Times::final()},
      {.residual = residuals::controls(VecX::Zero(1)), .weight = 1e-3}};

  const Solution solution = ddp(problem, initial_plan(problem));
  std::printf("%s\ncost %.4f, hinge at %.3f rad\n", solution.message.c_str(), solution.cost,
              solution.trajectory.q(0, problem.steps));
}
