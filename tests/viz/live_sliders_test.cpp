#include "lithe/viz/live/internal/live_sliders.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "lithe/core/infinity.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/solids/solids.h"
#include "tests/support/constants.h"
#include "tests/support/error_text.h"
#include "tests/viz/live_subjects.h"

namespace lithe::test {

using namespace internal;
namespace {

const LiveSlider& named(const std::vector<LiveSlider>& sliders, const std::string& name) {
  for (const LiveSlider& slider : sliders) {
    if (slider.name == name) return slider;
  }
  throw Error("there is no slider " + name);
}

int number_of(const std::vector<LiveSlider>& sliders, const std::string& name) {
  return static_cast<int>(&named(sliders, name) - sliders.data());
}

std::vector<std::string> names(const std::vector<LiveSlider>& sliders) {
  std::vector<std::string> all;
  for (const LiveSlider& slider : sliders) all.push_back(slider.name);
  return all;
}

// An arm of two hinges and a slide on the world; each link has 1 kg.
ModelBuilder arm() {
  ModelBuilder builder;
  const auto link = [](const char* name) {
    return Body{.name = name, .inertia = SpatialInertia::box(1, Vec3::Constant(0.1))};
  };
  builder.add_body("world", link("upper"), revolute("shoulder", Vec3::UnitY()));
  Joint elbow = revolute("elbow", Vec3::UnitY(), Pose::translation(0, 0, 1));
  elbow.effort_limit = 7;
  elbow.lower = -0.5;
  elbow.upper = 2;
  elbow.velocity_limit = 3;
  builder.add_body("upper", link("lower"), elbow);
  Joint slide = prismatic("slide", Vec3::UnitZ());
  slide.lower = 0.1;
  builder.add_body("lower", link("hand"), slide);
  return builder;
}

LiveSubject subject_at_rest(const ModelBuilder& builder) {
  const Scene scene = at_rest(builder);
  return {.name = "arm", .model = scene.model, .start = {scene.q, scene.v}, .motor_targets = scene.motor_targets};
}

TEST(LiveControls, AJointHasItsLimitOfEffortOrHalfTheWeightThatItCarries) {
  const LiveControls controls(subject_at_rest(arm()));
  EXPECT_EQ(names(controls.sliders()), (std::vector<std::string>{"shoulder", "elbow", "slide"}));
  const LiveSlider& shoulder = named(controls.sliders(), "shoulder");
  EXPECT_NEAR(shoulder.upper, 0.5 * 3 * 9.81, 1e-12);
  EXPECT_EQ(shoulder.lower, -shoulder.upper);
  EXPECT_EQ(shoulder.unit, "N·m");
  EXPECT_EQ(shoulder.value, 0);
  EXPECT_EQ(shoulder.initial, 0);
  EXPECT_EQ(named(controls.sliders(), "elbow").lower, -7);
  EXPECT_EQ(named(controls.sliders(), "elbow").upper, 7);
  EXPECT_NEAR(named(controls.sliders(), "slide").upper, 0.5 * 9.81, 1e-12);
  EXPECT_EQ(named(controls.sliders(), "slide").unit, "N");
}

TEST(LiveControls, AMotorHasTheRangeOfItsJoint) {
  ModelBuilder builder = arm();
  builder.add_motor("shoulder", position_servo("turn"));
  builder.add_motor("elbow", velocity_motor("bend"));
  builder.add_motor("slide", position_servo("reach"));
  LiveSubject subject = subject_at_rest(builder);
  subject.motor_targets = Vec3(4, 0, 0.5);
  const LiveControls controls(subject);
  EXPECT_EQ(names(controls.sliders()), (std::vector<std::string>{"turn", "bend", "reach"}));
  const LiveSlider& turn = named(controls.sliders(), "turn");
  EXPECT_EQ(turn.unit, "rad");
  EXPECT_EQ(turn.lower, -std::numbers::pi);
  EXPECT_EQ(turn.upper, 4);  // where it starts is always within
  EXPECT_EQ(turn.initial, 4);
  const LiveSlider& bend = named(controls.sliders(), "bend");
  EXPECT_EQ(bend.unit, "rad/s");
  EXPECT_EQ(bend.lower, -3);
  EXPECT_EQ(bend.upper, 3);
  const LiveSlider& reach = named(controls.sliders(), "reach");
  EXPECT_EQ(reach.unit, "m");
  EXPECT_EQ(reach.lower, 0.1);
  EXPECT_EQ(reach.upper, 1);
  EXPECT_EQ(reach.value, 0.5);
}

TEST(LiveControls, MotorsWithoutLimitsHaveARangeToo) {
  ModelBuilder builder = arm();
  builder.add_motor("shoulder", velocity_motor("turn"));
  LiveSubject subject = subject_at_rest(builder);
  const LiveControls controls(subject);
  EXPECT_EQ(named(controls.sliders(), "turn").lower, -10);
  EXPECT_EQ(named(controls.sliders(), "turn").upper, 10);
}

TEST(LiveControls, MotorsThatAreOffLeaveTheirJointsForces) {
  ModelBuilder builder = arm();
  builder.add_motor("shoulder", position_servo("turn"));
  LiveSubject subject = subject_at_rest(builder);
  subject.motor_targets = {};
  LiveControls controls(subject);
  EXPECT_EQ(names(controls.sliders()), (std::vector<std::string>{"shoulder", "elbow", "slide"}));
  Control control = controls.initial_control();
  EXPECT_EQ(control.motor_targets.size(), 0);
  controls.set(0, 1, control);
  EXPECT_EQ(control.tau[0], 1);
}

TEST(LiveControls, WhatNothingDrivesHasNoSlider) {
  EXPECT_TRUE(LiveControls(falling_box()).sliders().empty());
  const LiveControls humanoid(scene_subject("humanoid"));
  EXPECT_EQ(humanoid.sliders().size(), 27u);
  for (const LiveSlider& slider : humanoid.sliders()) EXPECT_NE(slider.name.substr(0, 4), "root") << slider.name;
  EXPECT_EQ(names(LiveControls(scene_subject("catapult")).sliders()),
            (std::vector<std::string>{"segment_1", "segment_2", "segment_3"}));
  EXPECT_EQ(names(LiveControls(scene_subject("cartpole")).sliders()).front(), "cart");
  ModelBuilder builder;
  builder.add_body("world", {.name = "top", .inertia = SpatialInertia::sphere(1, 0.1)}, ball("socket"));
  EXPECT_TRUE(LiveControls(subject_at_rest(builder)).sliders().empty());
}

// A slider that cannot be moved would only be in the way.
TEST(LiveControls, AJointThatCarriesNothingHasNoSlider) {
  ModelBuilder builder = arm();
  Joint knob = revolute("knob", Vec3::UnitZ());
  knob.armature = 0.01;
  builder.add_body("hand", {.name = "knob"}, knob);
  const LiveControls controls(subject_at_rest(builder));
  EXPECT_EQ(names(controls.sliders()), (std::vector<std::string>{"shoulder", "elbow", "slide"}));
}

TEST(LiveControls, EverySliderOfEverySceneHasARangeWithItsValueInIt) {
  for (const std::string& name : scene_names()) {
    const LiveSubject subject = scene_subject(name);
    const LiveControls controls(subject);
    const LiveParameters parameters(subject.model);
    for (const std::vector<LiveSlider>& sliders : {controls.sliders(), parameters.sliders()}) {
      for (const LiveSlider& slider : sliders) {
        EXPECT_LT(slider.lower, slider.upper) << name << " " << slider.name;
        EXPECT_TRUE(std::isfinite(slider.lower) && std::isfinite(slider.upper)) << name << " " << slider.name;
        EXPECT_LE(slider.lower, slider.initial) << name << " " << slider.name;
        EXPECT_GE(slider.upper, slider.initial) << name << " " << slider.name;
        EXPECT_EQ(slider.value, slider.initial) << name << " " << slider.name;
      }
    }
  }
}

TEST(LiveControls, AreSetWithinTheirRangesAndRestored) {
  ModelBuilder builder = arm();
  builder.add_motor("shoulder", position_servo("turn"));
  LiveSubject subject = subject_at_rest(builder);
  subject.motor_targets[0] = 0.3;
  LiveControls controls(subject);
  Control control = controls.initial_control();
  EXPECT_EQ(control.tau, VecX::Zero(3));
  EXPECT_EQ(control.motor_targets, VecX::Constant(1, 0.3));
  const int elbow = number_of(controls.sliders(), "elbow"), turn = number_of(controls.sliders(), "turn");
  controls.set(elbow, 100, control);
  EXPECT_EQ(control.tau, Vec3(0, 7, 0));
  EXPECT_EQ(controls.sliders()[static_cast<std::size_t>(elbow)].value, 7);
  controls.set(elbow, -1e300, control);
  EXPECT_EQ(control.tau, Vec3(0, -7, 0));
  controls.set(turn, -2, control);
  EXPECT_EQ(control.motor_targets[0], -2);
  controls.restore(control);
  EXPECT_EQ(control.tau, VecX::Zero(3));
  EXPECT_EQ(control.motor_targets, VecX::Constant(1, 0.3));
  for (const LiveSlider& slider : controls.sliders()) EXPECT_EQ(slider.value, slider.initial);
}

TEST(LiveControls, RefuseWhatIsNoSliderAndNoNumber) {
  LiveControls controls(subject_at_rest(arm()));
  Control control = controls.initial_control();
  expect_error([&] { controls.set(3, 1, control); }, "there is no control 3; there are 3");
  expect_error([&] { controls.set(-1, 1, control); }, "there is no control -1");
  expect_error([&] { controls.set(0, kNan, control); }, "control 0 cannot be nan");
  expect_error([&] { controls.set(1, kInfinity, control); }, "control 1 cannot be inf");
  EXPECT_EQ(control.tau, VecX::Zero(3));
}

// Ground, box, and a damped hinge, with numbers that are not round.
Model odd_model() {
  ModelBuilder builder;
  builder.set_gravity(Vec3(1.1, -0.37, -8.3));
  add_ground(builder, {.friction = 0.37, .restitution = 0.1});
  add_free_solid(builder, "box", 1.7, Box{Vec3(0.1, 0.21, 0.33)}, Pose::translation(0, 0, 1), {.friction = 1.3});
  Joint hinge = revolute("hinge", Vec3(0.3, 0.2, 1));
  hinge.damping = 0.123;
  builder.add_body("world", {.name = "rod", .inertia = SpatialInertia::point(1, Vec3(0, 1, 0))}, hinge);
  return builder.build();
}

TEST(LiveParameters, AreThoseThatHaveAnEffect) {
  EXPECT_EQ(names(LiveParameters(odd_model()).sliders()),
            (std::vector<std::string>{"gravity", "friction", "least restitution", "joint damping"}));
  EXPECT_EQ(names(LiveParameters(arm().build()).sliders()), std::vector<std::string>{"gravity"});
  ModelBuilder fixed;
  fixed.add_shape("world", {.name = "ground", .geometry = Plane{}, .material = {.friction = 0}});
  EXPECT_EQ(names(LiveParameters(fixed.build()).sliders()), std::vector<std::string>{"least restitution"});
}

TEST(LiveParameters, ChangeTheModel) {
  Model model = odd_model();
  LiveParameters parameters(model);
  const auto set = [&](const std::string& name, double value) {
    parameters.set(number_of(parameters.sliders(), name), value, model);
  };
  set("gravity", 3);
  EXPECT_NEAR(model.gravity().norm(), 3, 1e-12);
  EXPECT_NEAR((model.gravity().normalized() - odd_model().gravity().normalized()).norm(), 0, 1e-12);
  set("gravity", 0);
  EXPECT_EQ(model.gravity(), Vec3::Zero());
  set("gravity", 5);  // the direction is remembered
  EXPECT_NEAR((model.gravity() / 5 - odd_model().gravity().normalized()).norm(), 0, 1e-12);
  set("friction", 2);
  EXPECT_EQ(model.shapes()[0].material.friction, 2 * 0.37);
  EXPECT_EQ(model.shapes()[1].material.friction, 2 * 1.3);
  EXPECT_EQ(model.shapes()[0].material.restitution, 0.1);
  set("least restitution", 0.5);
  EXPECT_EQ(model.shapes()[0].material.restitution, 0.5);
  EXPECT_EQ(model.shapes()[1].material.restitution, 0.5);
  EXPECT_EQ(model.shapes()[1].material.friction, 2 * 1.3);
  set("least restitution", 0.05);
  EXPECT_EQ(model.shapes()[0].material.restitution, 0.1);
  EXPECT_EQ(model.shapes()[1].material.restitution, 0.05);
  set("joint damping", 10);
  EXPECT_EQ(model.joints()[model.joint("hinge")].damping, 1.23);
  EXPECT_EQ(model.joints()[model.joint("box.x")].damping, 0);
}

TEST(LiveParameters, StayWithinTheirRanges) {
  Model model = odd_model();
  LiveParameters parameters(model);
  for (std::size_t i = 0; i < parameters.sliders().size(); ++i) {
    parameters.set(static_cast<int>(i), 1e300, model);
    EXPECT_EQ(parameters.sliders()[i].value, parameters.sliders()[i].upper);
    parameters.set(static_cast<int>(i), -1e300, model);
    EXPECT_EQ(parameters.sliders()[i].value, 0);
  }
  EXPECT_EQ(model.gravity(), Vec3::Zero());
  expect_error([&] { parameters.set(4, 1, model); }, "there is no parameter 4; there are 4");
  expect_error([&] { parameters.set(0, kNan, model); }, "parameter 0 cannot be nan");
}

TEST(LiveParameters, GravityPointsDownWhereThereIsNone) {
  Model model = scene_subject("tumbling_body").model;
  ASSERT_EQ(model.gravity(), Vec3::Zero());
  LiveParameters parameters(model);
  EXPECT_EQ(named(parameters.sliders(), "gravity").value, 0);
  parameters.set(number_of(parameters.sliders(), "gravity"), 9.81, model);
  EXPECT_EQ(model.gravity(), Vec3(0, 0, -9.81));
  parameters.restore(model);
  EXPECT_EQ(model.gravity(), Vec3::Zero());
}

TEST(LiveParameters, RestoreGivesTheModelsNumbersBack) {
  const auto all = [](const Model& model) {
    std::vector<double> numbers = {model.gravity().x(), model.gravity().y(), model.gravity().z()};
    for (const Shape& shape : model.shapes()) {
      numbers.push_back(shape.material.friction);
      numbers.push_back(shape.material.restitution);
    }
    for (const Joint& joint : model.joints()) numbers.push_back(joint.damping);
    return numbers;
  };
  std::vector<Model> models = {odd_model()};
  for (const std::string& name : scene_names()) models.push_back(scene(name).model);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> share(0, 1);
  for (const Model& original : models) {
    Model model = original;
    LiveParameters parameters(model);
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < parameters.sliders().size(); ++i) {
        parameters.set(static_cast<int>(i), share(random) * parameters.sliders()[i].upper, model);
      }
    }
    parameters.restore(model);
    EXPECT_EQ(all(model), all(original));
    EXPECT_EQ(lithe::parameters(model, parameter_names(model)), lithe::parameters(original, parameter_names(original)));
  }
}

}  // namespace
}  // namespace lithe::test
