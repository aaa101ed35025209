#include "lithe/scenes/task.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "lithe/core/check.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/solids/incline.h"
#include "lithe/scenes/world.h"
#include "tests/support/differentiate.h"

namespace lithe::test {
namespace {

TEST(Task, ThePapersScenesHaveTheirs) {
  struct Expected {
    const char* scene;
    int steps, shot;
    double at_start;  // the loss of the initial state, by hand
  };
  for (const Expected& expected : {Expected{"cartpole", 500, 50, 2},       // 1² + 1²
                                   Expected{"drone", 500, 50, 4.7 * 4.7},  // from 0.3 to 5
                                   Expected{"jump_worm", 400, 20, 0},      // the root starts at 0
                                   Expected{"catapult", 500, 20, 2.2 * 2.2 + 2.1 * 2.1},
                                   Expected{"ball_and_wall", 288, 0, 1.5 * 1.5 + 0.5 * 0.5}}) {
    SCOPED_TRACE(expected.scene);
    const Scene s = scene(expected.scene);
    ASSERT_TRUE(s.task);
    EXPECT_EQ(s.task->steps, expected.steps);
    EXPECT_EQ(s.task->shot, expected.shot);
    EXPECT_FALSE(s.task->description.empty());
    const VecX v = expected.scene == std::string("ball_and_wall") ? VecX(VecX::Zero(3)) : s.v;
    EXPECT_NEAR(task_loss(*s.task, s.model, s.q, v).value, expected.at_start, 1e-12);
  }
}

TEST(Task, GoingUpIsRewardedAndGoingDownIsNot) {
  const Scene s = scene("jump_worm");
  const int z = s.model.joints()[s.model.joint("root.z")].q_index;
  VecX q = s.q;
  q[z] = 0.5;
  EXPECT_NEAR(task_loss(*s.task, s.model, q, s.v).value, -25, 1e-12);
  q[z] = -0.5;
  EXPECT_NEAR(task_loss(*s.task, s.model, q, s.v).value, 25, 1e-12);
}

TEST(Task, TheGradientIsThatOfDifferences) {
  int checked = 0;
  for (const std::string& name : scene_names()) {
    const Scene s = scene(name);
    if (!s.task) continue;
    ++checked;
    SCOPED_TRACE(name);
    // Away from the targets, where a signed square has a kink in its slope.
    const VecX q = s.q + 0.1 * VecX::Ones(s.q.size());
    const VecX v = s.v - 0.2 * VecX::Ones(s.v.size());
    const auto value = [&](const VecX& q_at, const VecX& v_at) {
      return VecX(VecX::Constant(1, task_loss(*s.task, s.model, q_at, v_at).value));
    };
    const TaskLoss loss = task_loss(*s.task, s.model, q, v);
    const MatX by_q = central_difference(s.model, q, [&](const VecX& at) { return value(at, v); });
    const MatX by_v = central_difference([&](const VecX& delta) { return value(q, v + delta); }, s.model.nv());
    EXPECT_LT(relative_error(loss.by_q.transpose(), by_q), 1e-9);
    EXPECT_LT(relative_error(loss.by_v.transpose(), by_v), 1e-9);
  }
  EXPECT_GE(checked, 6);
}

TEST(Task, ATermOnAnUnknownJointOrABallIsRefused) {
  const Scene s = scene("humanoid");
  EXPECT_THROW(task_loss({.terms = {{.joint = "no such joint"}}}, s.model, s.q, s.v), Error);
  EXPECT_THROW(task_loss({.terms = {{.joint = "root.ball"}}}, s.model, s.q, s.v), Error);
  EXPECT_THROW(task_loss({.points = {{.body = "no such body"}}}, s.model, s.q, s.v), Error);
}

// Along an axis one friction row works with μ g; along a diagonal both do.
TEST(SlidingCube, StopsWhereThePyramidSays) {
  const double mu = 0.5, g = 9.81, pi = std::numbers::pi;
  struct Case {
    double angle, deceleration;
  };
  for (const auto& [angle, deceleration] :
       {Case{0, mu * g}, Case{pi / 4, std::sqrt(2) * mu * g}, Case{pi / 2, mu * g}, Case{pi, mu * g}}) {
    SCOPED_TRACE(angle);
    const Scene s = sliding_cube(angle, mu);
    World world(s.model, {.time_step = 1e-4});
    world.set_state(s.q, s.v);
    for (int i = 0; i < 4000; ++i) world.step({});
    EXPECT_NEAR(world.state().q.head<2>().norm(), 1 / (2 * deceleration), 1e-4);
    EXPECT_LT(world.state().v.norm(), 1e-6);
  }
}

}  // namespace
}  // namespace lithe::test
