#include "lithe/rollout/controls.h"

#include <gtest/gtest.h>

#include "lithe/scenes/catalogue.h"
#include "tests/support/error_text.h"

namespace lithe::test {
namespace {

// A control with every part, different in each step.
Control some_control(const Model& model, int t) {
  Control control;
  control.tau = VecX::Constant(model.nv(), 0.1 * t);
  control.motor_targets = VecX::Constant(static_cast<int>(model.motors().size()), 0.01 * t);
  if (t % 2 == 1) control.wrenches = {{model.body("cube"), Vec6::Constant(t)}};
  return control;
}

TEST(Controls, AreReadBackAsTheyWereGiven) {
  const Model model = scene("gripper").model;
  std::vector<Control> list;
  for (int t = 0; t < 5; ++t) list.push_back(some_control(model, t));
  const Controls from_list = controls_of(list);
  const Controls from_function = controls_of(5, [&](int t) { return some_control(model, t); });
  for (const Controls* controls : {&from_list, &from_function}) {
    check_controls(model, *controls);
    Control control;
    for (int t = 0; t < 5; ++t) {
      control_at(*controls, t, control);
      EXPECT_EQ(control.tau, list[t].tau);
      EXPECT_EQ(control.motor_targets, list[t].motor_targets);
      ASSERT_EQ(control.wrenches.size(), list[t].wrenches.size());
      for (const auto& push : control.wrenches) EXPECT_EQ(push.wrench, list[t].wrenches[0].wrench);
    }
  }
}

TEST(Controls, WithoutForcesInAStepHaveZeroThere) {
  std::vector<Control> list(3);
  list[1].tau = VecX::Constant(2, 7);
  const Controls controls = controls_of(list);
  EXPECT_EQ(controls.tau, (MatX(2, 3) << 0, 7, 0, 0, 7, 0).finished());
  EXPECT_EQ(controls.motor_targets.size(), 0);
}

TEST(Controls, OfDifferentSizesAreRefused) {
  std::vector<Control> list(3);
  list[0].tau.setZero(4);
  list[2].tau.setZero(5);
  expect_error([&] { controls_of(list); }, "step 2", "tau", "5", "4");
  list = std::vector<Control>(3);
  list[1].motor_targets.setZero(1);
  expect_error([&] { controls_of(list); }, "step 1", "on");
  list[0].motor_targets.setZero(1);
  expect_error([&] { controls_of(list); }, "step 2", "off");
}

TEST(Controls, ThatDoNotFitTheModelAreRefused) {
  const Model model = scene("gripper").model;
  const auto refused = [&](Controls controls, auto... parts) {
    expect_error([&] { check_controls(model, controls); }, parts...);
  };
  refused({.steps = -3}, "-3", "steps");
  refused({.steps = 4, .tau = MatX::Zero(2, 4)}, "tau", "2 rows", "9 DoFs");
  refused({.steps = 4, .tau = MatX::Zero(9, 5)}, "tau", "5 columns", "4 steps");
  refused({.steps = 4, .motor_targets = MatX::Zero(3, 4)}, "motor_targets", "3 rows", "2 motors");
  refused({.steps = 4, .wrenches = std::vector<ExternalWrenches>(3)}, "wrenches", "3", "4");
}

}  // namespace
}  // namespace lithe::test
