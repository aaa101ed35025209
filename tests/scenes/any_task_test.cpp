#include "lithe/scenes/any_task.h"

#include <gtest/gtest.h>

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/catalogue.h"
#include "tests/support/differentiate.h"

namespace lithe::test {
namespace {

std::string task_error(const Scene& scene, const std::string& text) {
  try {
    task_from(scene, text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Somewhere else than where the scene starts, balls included.
VecX moved(const Scene& scene) {
  VecX by(scene.model.nv());
  for (int i = 0; i < by.size(); ++i) by[i] = 0.05 + 0.01 * (i % 7);
  return retract(scene.model, scene.q, by);
}

TEST(HoldTask, IsDoneAtTheStartAndNowhereElse) {
  for (const char* name : {"humanoid", "half_cheetah", "pendulum", "tumbling_body"}) {
    SCOPED_TRACE(name);
    Scene s = scene(name);
    s.v.setZero();
    const Task task = hold_task(s);
    EXPECT_NEAR(task.steps * s.time_step, 0.5, s.time_step);
    EXPECT_NEAR(task_loss(task, s.model, s.q, s.v).value, 0, 1e-20);
    for (int dof = 0; dof < s.model.nv(); ++dof) {
      const VecX off = retract(s.model, s.q, 0.1 * VecX::Unit(s.model.nv(), dof));
      EXPECT_GT(task_loss(task, s.model, off, s.v).value, 1e-3) << dof;
    }
    EXPECT_GT(task_loss(task, s.model, s.q, VecX::Constant(s.model.nv(), 0.5)).value, 1e-3);
  }
}

TEST(AnyTask, TheGradientIsThatOfDifferences) {
  const Scene s = scene("humanoid");
  const std::string hand = s.model.bodies().back().name;
  for (const Task& task : {hold_task(s), reach_task(s, hand, {0.3, -0.2, 1}), rise_task(s, 0.4)}) {
    SCOPED_TRACE(task.description);
    const VecX q = moved(s), v = VecX::Constant(s.model.nv(), 0.3);
    const TaskLoss loss = task_loss(task, s.model, q, v);
    const auto value = [&](const VecX& q_at, const VecX& v_at) {
      return VecX(VecX::Constant(1, task_loss(task, s.model, q_at, v_at).value));
    };
    const MatX by_q = central_difference(s.model, q, [&](const VecX& at) { return value(at, v); });
    const MatX by_v = central_difference([&](const VecX& delta) { return value(q, v + delta); }, s.model.nv());
    EXPECT_LT(relative_error(loss.by_q.transpose(), by_q), 1e-8);
    EXPECT_LT((loss.by_v.transpose() - by_v).norm(), 1e-8);
  }
}

TEST(ReachTask, IsOfABodyOrAFrame) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "left arm", .inertia = SpatialInertia::point(1, Vec3(1, 0, 0))},
                   revolute("shoulder", Vec3::UnitY()));
  builder.add_frame("left arm", {.name = "tip", .placement = Pose::translation(2, 0, 0)});
  builder.add_body("world", {.name = "table"}, weld());
  const Scene s = at_rest(builder);
  EXPECT_NEAR(task_loss(reach_task(s, "tip", {2, 0, 3}), s.model, s.q, s.v).value, 9, 1e-12);
  // A name may have a blank in it.
  EXPECT_NEAR(task_loss(task_from(s, "reach left arm 0 -4 0"), s.model, s.q, s.v).value, 16, 1e-12);
  EXPECT_NE(task_error(s, "reach tipp 0 0 0").find("'tip'"), std::string::npos);
  EXPECT_NE(task_error(s, "reach table 0 0 0").find("fixed in the world"), std::string::npos);
  EXPECT_NE(task_error(s, "reach tip 0 0 nan").find("'nan' is no number"), std::string::npos);
  EXPECT_NE(task_error(s, "reach tip 0 0").find("it is written 'reach NAME X Y Z'"), std::string::npos);
  EXPECT_NE(task_error(s, "rise").find("it is written 'rise HEIGHT'"), std::string::npos);
  EXPECT_NE(task_error(s, "fly").find("there is no task 'fly'"), std::string::npos);
  EXPECT_NE(task_error(s, "rise 1").find("for what can fall"), std::string::npos);
}

TEST(RiseTask, IsOfTheHeightWhicheverWayTheJointPoints) {
  for (const double sign : {1.0, -1.0}) {
    ModelBuilder builder;
    builder.add_body("world", {.name = "drone", .inertia = SpatialInertia::sphere(1, 0.1)},
                     prismatic("lift", sign * Vec3::UnitZ()));
    Scene s = at_rest(builder);
    s.q[0] = 0.25;
    const Task task = rise_task(s, 0.5);
    EXPECT_NEAR(task_loss(task, s.model, VecX::Constant(1, 0.25 + sign * 0.5), s.v).value, 0, 1e-12);
    EXPECT_NEAR(task_loss(task, s.model, s.q, s.v).value, 0.25, 1e-12);
  }
}

TEST(AnyTask, NeedsSomethingThatMoves) {
  EXPECT_NE(task_error(at_rest(ModelBuilder()), "hold").find("nothing in this model can move"), std::string::npos);
}

}  // namespace
}  // namespace lithe::test
