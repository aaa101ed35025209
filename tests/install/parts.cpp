// A program for a library that may be without some of its parts: it steps a scene and optimises a motion.
//
//   parts ipopt        multiple_shooting() solves a problem
//   parts no-ipopt     multiple_shooting() says that it needs LITHE_WITH_IPOPT
#include <cmath>
#include <cstdio>
#include <string>

#include "lithe/core/check.h"
#include "lithe/model/model_builder.h"
#include "lithe/optimize/ddp.h"
#include "lithe/optimize/multiple_shooting.h"
#include "lithe/optimize/residuals.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/world.h"

namespace {

using namespace lithe;

bool steps_a_scene() {
  const Scene stack = scene("stack:3");
  World world(stack.model);
  world.set_state(stack.q, stack.v);
  for (int step = 0; step < 50; ++step) world.step();
  std::printf("%d contacts after %.2f s\n", world.status().contacts, world.time());
  return world.status().contacts > 0;
}

// A mass of 1 kg on a rail, which shall be 1 m further after a second.
Problem push() {
  Problem problem = {
      .model = ModelBuilder()
                   .add_body("world", {.name = "mass", .inertia = SpatialInertia::point(1, Vec3::Zero())},
                             prismatic("rail", Vec3::UnitX()))
                   .build(),
      .start = {VecX::Zero(1), VecX::Zero(1)},
      .steps = 50};
  problem.step.time_step = 0.02;
  actuate_joints(problem);
  problem.costs = {{.residual = residuals::configuration(VecX::Ones(1)), .times = Times::final(), .weight = 100},
                   {.residual = residuals::controls(VecX::Zero(1)), .weight = 1e-4}};
  return problem;
}

bool arrives(const char* solver, const Problem& problem, const Solution& solution) {
  const double end = solution.trajectory.q(0, problem.steps);
  std::printf("%s: %.3f m\n", solver, end);
  return std::abs(end - 1) < 0.1;
}

bool shoots(const Problem& problem) {
  return arrives("multiple shooting", problem, multiple_shooting(problem, initial_plan(problem)));
}

bool says_what_it_lacks(const Problem& problem) {
  try {
    shoots(problem);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return std::string(error.what()).find("LITHE_WITH_IPOPT") != std::string::npos;
  }
  return false;
}

}  // namespace

int main(int count, char** words) {
  const bool ipopt = count > 1 && std::string(words[1]) == "ipopt";
  const Problem problem = push();
  const bool well = steps_a_scene() && arrives("ddp", problem, ddp(problem, initial_plan(problem))) &&
                    (ipopt ? shoots(problem) : says_what_it_lacks(problem));
  return well ? 0 : 1;
}
