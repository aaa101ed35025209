#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "apps/lithe/demo.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/scenes/balls.h"
#include "lithe/scenes/four_bar.h"
#include "lithe/scenes/humanoid.h"
#include "lithe/scenes/incline.h"
#include "lithe/scenes/towers.h"
#include "lithe/step/world.h"

namespace lithe::cli {

namespace {

constexpr double kGravity = 9.81;
constexpr double kSlope = 20 * std::numbers::pi / 180;
constexpr double kFriction = 0.3;
constexpr double kRestitution = 0.8;

World start(const Scene& scene) {
  World world(scene.model);
  world.options.constraints.time_step = scene.time_step;
  world.set_state(scene.q, scene.v);
  return world;
}

Vec3 place_of(const World& world, const char* body) {
  Kinematics kin;
  kinematics(world.model(), world.state().q, kin);
  return body_pose(world.model(), kin, world.model().body(body)).p;
}

// One line of the table: what a scene does for some seconds, in a number that the textbook knows.
struct Experiment {
  const char* title;
  const char* quantity;
  Scene scene;
  double seconds;
  double expected;
  const char* unit;
  double factor;  // from SI to the unit
  // Called after each step; returns the measured quantity so far.
  std::function<double(const World&)> measure;
};

std::vector<Experiment> experiments() {
  std::vector<Experiment> all;
  all.push_back({"stack of 20 boxes", "drift", stack(20), 2, 0, "mm", 1e3, [](const World& world) {
                   const Vec3 top = place_of(world, "box_19");
                   return Vec3(top.x(), top.y(), top.z() - 3.9).norm();
                 }});
  all.push_back({"block on a slope of 20°", "slid in 1 s", incline(kSlope, kFriction), 1,
                 0.5 * kGravity * (std::sin(kSlope) - kFriction * std::cos(kSlope)), "m", 1,
                 [from = Vec3(Vec3::Zero()), first = true](const World& world) mutable {
                   const Vec3 p = place_of(world, "block");
                   if (first) from = p;
                   first = false;
                   return (p - from).norm();
                 }});
  all.push_back({"ball, restitution 0.8", "second peak", bouncing_ball(kRestitution, 1), 1.2,
                 kRestitution * kRestitution, "m", 1, [peak = 0.0](const World& world) mutable {
                   const double bottom = place_of(world, "ball").z() - kBallRadius;
                   if (world.time() > 0.5) peak = std::max(peak, bottom);  // the first impact is at 0.45 s
                   return peak;
                 }});
  all.push_back({"balls of 1 and 3 kg, e = 1", "left one's speed", two_balls(1, 3), 2, -2, "m/s", 1,
                 [](const World& world) { return world.state().v[0]; }});
  all.push_back({"sphere slides, then rolls", "speed", rolling_sphere(), 1, 5.0 / 7, "m/s", 1,
                 [](const World& world) { return world.state().v[0]; }});
  all.push_back({"four-bar linkage", "loop error", driven_four_bar(), 3, 0, "µm", 1e6, [](const World& world) {
                   const LoopClosure& loop = world.model().loops()[0];
                   Kinematics kin;
                   kinematics(world.model(), world.state().q, kin);
                   const auto at = [&](BodyIndex body, const Pose& placement) {
                     return (body_pose(world.model(), kin, body) * placement).p;
                   };
                   return (at(loop.a, loop.placement_a) - at(loop.b, loop.placement_b)).norm();
                 }});
  all.push_back({"humanoid falls", "unsolved islands", standing_humanoid(), 3, 0, "", 1,
                 [unsolved = 0.0](const World& world) mutable { return unsolved += world.status().unsolved; }});
  return all;
}

}  // namespace

void show_steps() {
  fmt::print("Hard contact: what a scene does, and what the textbook says\n\n");
  fmt::print("  {:<28}{:<18}{:>12}{:>12}     {:>8}{:>10}{:>10}\n", "", "", "simulated", "textbook", "contacts",
             "guessed", "per step");
  for (Experiment& experiment : experiments()) {
    World world = start(experiment.scene);
    Control control{.motor_targets = experiment.scene.motor_targets};
    double measured = 0;
    double seconds = 0;
    int steps = 0;
    int contacts = 0;
    int islands = 0;
    int guessed = 0;
    while (world.time() < experiment.seconds) {
      const auto before = std::chrono::steady_clock::now();
      const StepStatus& status = world.step(control);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
      ++steps;
      contacts = std::max(contacts, status.contacts);
      islands += status.islands;
      guessed += status.guessed;
      measured = experiment.measure(world);
    }
    const std::string hits = islands == 0 ? "–" : fmt::format("{:.0f} %", 100.0 * guessed / islands);
    fmt::print("  {:<28}{:<18}{:>12.4g}{:>12.4g} {:<4}{:>8}{:>10}{:>7.1f} µs\n", experiment.title, experiment.quantity,
               experiment.factor * measured, experiment.factor * experiment.expected, experiment.unit, contacts, hits,
               1e6 * seconds / steps);
  }
  fmt::print(
      "\n  Contacts: the most at once. Guessed: contact problems whose classes were those of the step before, "
      "verified.\n");
}

}  // namespace lithe::cli
