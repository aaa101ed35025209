// How much the solver has to do in motion: times depend on the machine, these counts do not.
#include <gtest/gtest.h>

#include <string>

#include "bench/subject.h"
#include "lithe/scenes/solids/pile.h"
#include "lithe/scenes/world.h"
#include "tests/bench/own_models.h"

namespace lithe::bench {
namespace {

// Per step, means over the motions that three seeds give: what one of them needs depends on how the robot falls.
struct SolverWork {
  double factorizations = 0, events = 0;
};

SolverWork work_of(const std::string& model, Shaking shaking) {
  constexpr int kSkipped = 20, kSteps = 500, kSeeds = 3;
  const Subject subject = subject_from_file(model, own_models() + "/" + model + ".xml");
  SolverWork work;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    World world(subject.scene.model);
    world.options.time_step = subject.scene.time_step;
    world.set_state(subject.scene.q, subject.scene.v);
    Drive drive(subject, seed, shaking);
    for (int i = 0; i < kSkipped + kSteps; ++i) {
      drive.next();
      const StepStatus& status = world.step(drive.ours());
      if (i < kSkipped) continue;
      work.factorizations += status.factorizations / static_cast<double>(kSeeds * kSteps);
      work.events += status.events / static_cast<double>(kSeeds * kSteps);
    }
  }
  return work;
}

constexpr double kFew = 0.1;  // where there is almost nothing to do

struct RecordedWork {
  const char* model;
  Shaking shaking;
  SolverWork work;  // as it was when this was written
};

// Where a change makes the solver do more, it shows here before it shows on anyone's clock. Where it does less, lower the figures. (Under random
// forces the hull quadruped's paths begin again with larger ridges: more events, but hardly any of these takes an inversion.)
TEST(SolverWork, RisesByNoMoreThanAFifth) {
  const RecordedWork recorded[] = {{"friction_humanoid", Shaking::controls, {1.02, 0.08}},
                                   {"friction_humanoid", Shaking::forces, {8.08, 13.68}},
                                   {"hull_quadruped", Shaking::controls, {1.45, 1.37}},
                                   {"hull_quadruped", Shaking::forces, {22.36, 59.25}},
                                   {"planar_loops", Shaking::controls, {1.63, 0.45}},
                                   {"planar_loops", Shaking::forces, {8.49, 18.42}},
                                   {"hand", Shaking::controls, {6.89, 0.00}},
                                   {"hand", Shaking::forces, {7.52, 1.19}}};
  for (const RecordedWork& r : recorded) {
    const SolverWork now = work_of(r.model, r.shaking);
    const char* how = r.shaking == Shaking::controls ? "controls" : "forces";
    SCOPED_TRACE(std::string(r.model) + ", random " + how);
    EXPECT_LE(now.factorizations, 1.2 * r.work.factorizations + kFew);
    EXPECT_LE(now.events, 1.2 * r.work.events + kFew);
    RecordProperty(std::string(r.model) + "_" + how,
                   std::to_string(now.factorizations) + " factorisations, " + std::to_string(now.events) + " events");
  }
}

// Cubes jam while others come down on them: what moves a mode there is hard to find, and paths over the whole island are dear.
TEST(SolverWork, OfAHeapIsLittleAndNearlyAllOfItIsSolved) {
  constexpr int kSteps = 800;
  constexpr double kRecordedEvents = 16.1;  // per step, as it was when this was written
  const Scene scene = heap(100);
  World world(scene.model);
  world.set_state(scene.q, scene.v);
  double events = 0;
  int islands = 0, unsolved = 0;
  for (int i = 0; i < kSteps; ++i) {
    const StepStatus& status = world.step();
    ASSERT_FALSE(status.diverged);
    events += status.events / static_cast<double>(kSteps);
    islands += status.islands;
    unsolved += status.unsolved;
  }
  RecordProperty("heap",
                 std::to_string(events) + " events, " + std::to_string(unsolved) + " of " + std::to_string(islands));
  EXPECT_GT(islands, 10 * kSteps);
  EXPECT_LE(events, 1.2 * kRecordedEvents);
  EXPECT_LE(unsolved, islands / 1000);
}

// In the air, when everything falls alike and loops are closed up to rounding, as well as on the feet.
TEST(SolverWork, IsDoneInEveryStepOfAFallOntoTheFeet) {
  for (const char* model : {"friction_humanoid", "hull_quadruped", "planar_loops", "hand"}) {
    const Subject subject = subject_from_file(model, own_models() + "/" + model + ".xml");
    World world(subject.scene.model);
    world.options.time_step = subject.scene.time_step;
    world.set_state(subject.scene.q, subject.scene.v);
    Drive drive(subject);
    for (int i = 0; i < 300; ++i) {
      drive.next();
      ASSERT_TRUE(world.step(drive.ours()).solved()) << model << ", step " << i;
    }
  }
}

}  // namespace
}  // namespace lithe::bench
