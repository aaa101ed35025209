// How much the solver has to do in motion: times depend on the machine, these counts do not.
#include <gtest/gtest.h>

#include <string>

#include "bench/subject.h"
#include "lithe/step/world.h"

namespace lithe::bench {
namespace {

// Per step, means over the motion that a seed gives.
struct SolverWork {
  double factorizations = 0, events = 0;
};

SolverWork work_of(const std::string& model, Shaking shaking) {
  constexpr int kSkipped = 20, kSteps = 300;
  const Subject subject = subject_from_file(model, std::string(LITHE_BENCH_MODELS) + "/" + model + ".xml");
  World world(subject.scene.model);
  world.options.constraints.time_step = subject.scene.time_step;
  world.set_state(subject.scene.q, subject.scene.v);
  Drive drive(subject, 1, shaking);
  SolverWork work;
  for (int i = 0; i < kSkipped + kSteps; ++i) {
    drive.next();
    const StepStatus& status = world.step(drive.ours());
    if (i < kSkipped) continue;
    work.factorizations += status.factorizations / static_cast<double>(kSteps);
    work.events += status.events / static_cast<double>(kSteps);
  }
  return work;
}

constexpr double kFew = 0.1;  // where there is almost nothing to do

struct RecordedWork {
  const char* model;
  Shaking shaking;
  SolverWork work;  // as it was when this was written
};

// Where a change makes the solver do more, it shows here before it shows on anyone's clock. Where it does less, lower the figures.
TEST(SolverWork, RisesByNoMoreThanAFifth) {
  const RecordedWork recorded[] = {{"friction_humanoid", Shaking::controls, {1.98, 0.34}},
                                   {"friction_humanoid", Shaking::forces, {7.56, 12.50}},
                                   {"hull_quadruped", Shaking::controls, {3.71, 5.14}},
                                   {"hull_quadruped", Shaking::forces, {30.51, 24.72}},
                                   {"planar_loops", Shaking::controls, {3.62, 0.19}},
                                   {"planar_loops", Shaking::forces, {23.48, 32.78}},
                                   {"hand", Shaking::controls, {8.08, 0.00}},
                                   {"hand", Shaking::forces, {7.48, 1.22}}};
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

}  // namespace
}  // namespace lithe::bench
