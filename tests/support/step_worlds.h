#pragma once

#include <string>
#include <string_view>

#include "lithe/scenes/scene.h"
#include "lithe/scenes/world.h"
#include "tests/support/constants.h"

namespace lithe::test {

// What the physics tests of the step share: worlds to start from, and runs that watch every step.

// A scene's model in its initial state, with its time step.
World world_of(const Scene& scene);
// In the neutral configuration, at rest.
World world_of(const ModelBuilder& builder, double time_step);

// Where a test takes place. What stands upright there stands along `place`'s z axis, against gravity.
struct Site {
  std::string name;
  Pose place = {};
};
Site at_the_origin();
Site in_a_tilted_world();  // gravity along no axis
Site a_kilometre_away();

// A builder whose gravity points down the site's z axis, with its half-space z ≤ 0 as the ground, or with the upper side of
// a fixed box there.
enum class Ground { plane, box };
ModelBuilder ground_at(const Site& site, const Material& material = {}, Ground ground = Ground::plane);

// What a run met.
struct RunReport {
  int steps = 0;
  int islands = 0, guessed = 0;  // with something to solve; of these, where the guess was right
  double deepest = 0;            // the largest penetration of any contact in any step, m

  double hit_rate() const { return islands == 0 ? 1 : static_cast<double>(guessed) / islands; }
};

// Steps for that many seconds. A step that is not solved is a failure of the test.
RunReport run(World& world, double seconds, const Control& control = {});

// Options with this time step.
StepOptions with_time_step(double h);

// A control that has only motor targets.
Control with_targets(const VecX& targets);

// Of a named body: its pose, the velocity of its centre of mass, and [ω; ṗ], world axes.
Pose pose_of(const World& world, std::string_view body);
Vec3 centre_velocity_of(const World& world, std::string_view body);
Vec6 velocity_of(const World& world, std::string_view body);

// Position and velocity of a named 1-DoF joint.
double q_of(const World& world, std::string_view joint);
double v_of(const World& world, std::string_view joint);
void set_joint_state(World& world, std::string_view joint, double q, double v = 0);

// Gives a body on a free_joint(body) this velocity of its origin and this spin, both in the axes of its joint's placement.
void set_free_velocity(World& world, const std::string& body, const Vec3& velocity, const Vec3& spin = Vec3::Zero());

// The force that the contacts of the last step exerted on a body, on average over the step.
Vec3 contact_force_on(const World& world, std::string_view body);

double energy_of(const World& world);
double fastest(const World& world);  // max |v|

}  // namespace lithe::test
