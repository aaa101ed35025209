#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "lithe/contact/delassus.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/world.h"
#include "lithe/step/internal/recorded_stages.h"
#include "lithe/step/step_jacobians.h"
#include "lithe/step/step_vjp.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/error_text.h"
#include "tests/support/step_worlds.h"

// What a record keeps, and that what it does not keep comes back with the same bits.
namespace lithe::test {

using namespace internal;
namespace {

StepCotangent ones(const Model& model) { return {.q = VecX::Ones(model.nv()), .v = VecX::Ones(model.nv())}; }

VecX gradient_of(const Model& model, const StepRecord& record) {
  StepVjp vjp;
  step_vjp(model, record, ones(model), vjp);
  VecX all(3 * model.nv());
  all << vjp.q, vjp.v, vjp.tau;
  return all;
}

MatX jacobian_of(const Model& model, const StepRecord& record) {
  StepJacobians J;
  step_jacobians(model, record, J);
  return J.dvnext_dq;
}

TEST(StepRecords, OfAStandingHumanoidTakeLittleMemory) {
  const Scene start = scene("humanoid");
  World world = world_of(start);
  const Control control = with_targets(start.motor_targets);
  for (int i = 0; i < 20; ++i) world.step(control);
  StepRecord record;
  step(world.model(), world.state(), control, world.options, record, &world.record().warm_start);
  ASSERT_EQ(record.status.contacts, 12);
  fmt::print("  {} bytes\n", memory_of(record));
  EXPECT_LE(memory_of(record), 16 * 1024u);
  // One that has been used for long is not larger than what it had to hold at once.
  EXPECT_LE(memory_of(world.record()), 24 * 1024u);
}

TEST(StepRecords, HaveTheLcpsThatWereSolved) {
  for (const char* name : {"humanoid", "stack:5", "gripper", "bouncing_ball"}) {
    World world = world_of(scene(name));
    for (int i = 0; i < 50; ++i) world.step();
    const StepRecord& record = world.record();
    const ContactProblem at_once = problem_of(record);
    World other = world;  // takes the stages
    other.step();
    const ContactProblem later = lcps_of(world.model(), record);
    ASSERT_EQ(later.rows.size(), record.f.size()) << name;
    AlignedBuffer A;
    TouchProductWorkspace workspace;
    for (int i = 0; i < later.island_count(); ++i) {
      const Island& island = later.islands.islands()[i];
      const BoxedLcp lcp = lcp_with_matrix(later, i, A, workspace);
      for (int row = 0; row < island.row_count; ++row) {
        EXPECT_DOUBLE_EQ(lcp.at(row, row), record.tape().problem.diagonal[island.first_row + row]) << name;
        EXPECT_EQ(lcp.target[row], at_once.target[island.first_row + row]) << name;
        double w = lcp.b[row];
        for (int k = 0; k < island.row_count; ++k) w += lcp.at(row, k) * record.f[island.first_row + k];
        EXPECT_NEAR(w, record.w[island.first_row + row], 1e-9) << name;
      }
    }
    if (later.island_count() > 0) expect_error([&] { stages_of(world.model(), record).problem.lcp(0); }, "lcps_of");
  }
}

TEST(StepStages, ComeBackWithTheSameBits) {
  // Records of one motion, of models with other structures in between, differentiated at once and later.
  for (const char* name : {"humanoid", "half_cheetah", "stack:3", "four_bar", "gripper", "bouncing_ball", "catapult"}) {
    const Scene start = scene(name);
    const Model& model = start.model;
    World other = world_of(scene("chain:4"));
    const Control control = with_targets(start.motor_targets);
    State state = {start.q, start.v};
    const StepOptions options = world_of(start).options;
    std::vector<StepRecord> records(30);
    std::vector<VecX> gradients;
    std::vector<MatX> jacobians;
    for (StepRecord& record : records) {
      step(model, state, control, options, record);
      gradients.push_back(gradient_of(model, record));
      jacobians.push_back(jacobian_of(model, record));
      state = record.next;
      other.step();
    }
    const auto compare = [&] {
      for (std::size_t i = records.size(); i-- > 0;) {
        EXPECT_EQ(gradient_of(model, records[i]), gradients[i]) << name << ", step " << i;
        EXPECT_EQ(jacobian_of(model, records[i]), jacobians[i]) << name << ", step " << i;
      }
    };
    compare();
    std::thread(compare).join();
  }
}

TEST(StepStages, OfARecordAreThoseOfItsStep) {
  World world = world_of(scene("humanoid"));
  for (int i = 0; i < 10; ++i) world.step();
  const StepRecord early = world.record();
  const StepStages at_once = mass_stages_of(world.model(), early);
  world.step();
  const StepStages& again = mass_stages_of(world.model(), early);
  EXPECT_EQ(again.v_free, at_once.v_free);
  EXPECT_EQ(again.M.rows, at_once.M.rows);
  EXPECT_EQ(again.factor.L, at_once.factor.L);
  EXPECT_EQ(again.bias.tau, at_once.bias.tau);
  EXPECT_EQ(again.smooth_impulse, at_once.smooth_impulse);
  expect_error([&] { stages_of(world.model(), StepRecord()); }, "no step");
}

TEST(WarmSteps, OfSeveralModelsInTurnAllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::vector<World> worlds;
  for (const char* name : {"humanoid", "half_cheetah", "boxes"}) worlds.push_back(world_of(scene(name)));
  const auto run = [&] {
    for (int i = 0; i < 50; ++i) {
      for (World& world : worlds) world.step();
    }
  };
  std::vector<State> starts;
  for (const World& world : worlds) starts.push_back(world.state());
  run();
  for (std::size_t i = 0; i < worlds.size(); ++i) worlds[i].set_state(starts[i].q, starts[i].v);
  const AllocationGuard guard;
  run();
  EXPECT_EQ(guard.count(), 0);
}

TEST(Worlds, HaveTheirCollidersBeforeTheFirstStep) {
  World world = world_of(scene("humanoid"));
  const auto colliders = world.record().tape().colliders;
  ASSERT_TRUE(colliders);
  world.step();
  EXPECT_EQ(world.record().tape().colliders, colliders);
}

}  // namespace
}  // namespace lithe::test
