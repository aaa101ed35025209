#include "lithe/model/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "lithe/core/infinity.h"
#include "lithe/model/model_builder.h"
#include "tests/support/error_text.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe {
namespace {

using test::expect_error;

Model robot() {
  ModelBuilder builder;
  Joint hinge = revolute("left/hinge", Vec3::UnitY(), Pose::translation(1, 2, 3));
  hinge.lower = -0.5;
  hinge.damping = 0.25;
  builder.add_body("world", {.name = "left/arm", .inertia = SpatialInertia::sphere(2, 0.5)}, hinge);
  builder.add_body("left/arm", {.name = "hand", .inertia = SpatialInertia::sphere(1, 0.1)}, ball("wrist"));
  builder.add_body("world", {.name = "nut", .inertia = SpatialInertia::sphere(1, 0.1)},
                   screw("thread", Vec3::UnitZ(), 0.02));
  builder.add_shape("hand", {.name = "palm", .geometry = Box{{0.1, 0.2, 0.3}}, .material = {.friction = 0.7}});
  builder.add_shape("hand", {.name = "thumb", .geometry = Capsule{0.01, 0.05}, .margin = 0.001});
  builder.add_shape("world", {.name = "floor", .geometry = Plane{}});
  builder.add_frame("hand", {.name = "tip", .placement = Pose::translation(0, 0, 0.4)});
  builder.add_motor("left/hinge", position_servo("left/drive", 20, 300, 4)).add_motor("thread", velocity_motor("spin"));
  builder.add_loop("hand", "nut", {.name = "rope", .placement_a = Pose::translation(0.1, 0.2, 0.3)});
  builder.add_mimic("thread", "left/hinge", {.name = "gear", .multiplier = 2.5, .offset = 0.125});
  return builder.build();
}

TEST(Parameters, AreReadByName) {
  const Model model = robot();
  EXPECT_EQ(parameter(model, "body/left/arm/mass"), 2);
  EXPECT_EQ(parameter(model, "body/left/arm/Ixx"), 0.2);
  EXPECT_EQ(parameter(model, "body/left/arm/Ixy"), 0);
  EXPECT_EQ(parameter(model, "joint/left/hinge/y"), 2);
  EXPECT_EQ(parameter(model, "joint/left/hinge/damping"), 0.25);
  EXPECT_EQ(parameter(model, "joint/left/hinge/lower"), -0.5);
  EXPECT_EQ(parameter(model, "joint/left/hinge/upper"), kInfinity);
  EXPECT_EQ(parameter(model, "joint/thread/pitch"), 0.02);
  EXPECT_EQ(parameter(model, "shape/palm/half_y"), 0.2);
  EXPECT_EQ(parameter(model, "shape/palm/friction"), 0.7);
  EXPECT_EQ(parameter(model, "shape/thumb/half_length"), 0.05);
  EXPECT_EQ(parameter(model, "shape/thumb/margin"), 0.001);
  EXPECT_EQ(parameter(model, "frame/tip/z"), 0.4);
  EXPECT_EQ(parameter(model, "motor/left/drive/stiffness"), 300);
  EXPECT_EQ(parameter(model, "motor/left/drive/damping"), 4);
  EXPECT_EQ(parameter(model, "motor/left/drive/max_effort"), 20);
  EXPECT_EQ(parameter(model, "motor/spin/damping"), kInfinity);
  EXPECT_EQ(parameter(model, "loop/rope/ay"), 0.2);
  EXPECT_EQ(parameter(model, "loop/rope/by"), 0);
  EXPECT_EQ(parameter(model, "mimic/gear/multiplier"), 2.5);
  EXPECT_EQ(parameter(model, "mimic/gear/offset"), 0.125);
  EXPECT_EQ(parameter(model, "gravity/z"), -9.81);
}

TEST(Parameters, ListsWhatAppliesAndNothingElse) {
  const std::vector<std::string> names = parameter_names(robot());
  const std::set<std::string> known(names.begin(), names.end());
  EXPECT_EQ(known.size(), names.size());
  for (const char* name : {"body/hand/mz", "body/hand/x", "joint/wrist/stiffness", "joint/wrist/z",
                           "shape/thumb/radius", "shape/floor/restitution", "gravity/x"}) {
    EXPECT_TRUE(known.contains(name)) << name;
  }
  for (const char* name : {"body/world/mass", "joint/wrist/rest", "joint/wrist/lower", "joint/wrist/upper",
                           "joint/wrist/pitch", "joint/left/hinge/pitch", "motor/spin/stiffness", "loop/rope/x",
                           "shape/palm/radius", "shape/thumb/half_x", "shape/floor/half_length"}) {
    EXPECT_FALSE(known.contains(name)) << name;
    expect_error([&] { (void)parameter(robot(), name); }, name, "did you mean");
  }
}

TEST(Parameters, InertiaIsInTheOrderOfTheTenNumbers) {
  std::mt19937_64 random(1);
  Model model = robot();
  model.set_inertia(model.body("hand"), test::random_inertia(random));
  std::vector<std::string> names;
  for (const std::string& name : parameter_names(model)) {
    if (name.starts_with("body/hand/") && names.size() < 10) names.push_back(name);
  }
  EXPECT_EQ(parameters(model, names), model.bodies()[model.body("hand")].inertia.parameters());
}

TEST(Parameters, AreWrittenByName) {
  Model model = robot();
  set_parameter(model, "body/left/arm/mass", 5);
  set_parameter(model, "body/left/arm/Iyz", 0.01);
  set_parameter(model, "joint/left/hinge/x", -4);
  set_parameter(model, "joint/thread/pitch", 0.5);
  set_parameter(model, "shape/palm/half_z", 9);
  set_parameter(model, "frame/tip/x", 3);
  set_parameter(model, "motor/left/drive/stiffness", kInfinity);
  set_parameter(model, "loop/rope/bz", -7);
  set_parameter(model, "mimic/gear/multiplier", 0);
  set_parameter(model, "gravity/y", 1.5);
  const Body& arm = model.bodies()[model.body("left/arm")];
  EXPECT_EQ(arm.inertia.mass, 5);
  EXPECT_EQ(arm.inertia.rotational(1, 2), 0.01);
  EXPECT_EQ(arm.inertia.rotational(2, 1), 0.01);
  EXPECT_EQ(model.joints()[model.joint("left/hinge")].placement.p, Vec3(-4, 2, 3));
  EXPECT_EQ(model.tree().joints[0].p.x(), -4);
  EXPECT_EQ(std::get<Box>(model.shapes()[model.shape("palm")].geometry).half_size.z(), 9);
  EXPECT_EQ(model.frames()[0].placement.p.x(), 3);
  EXPECT_EQ(model.motors()[0].stiffness, kInfinity);
  EXPECT_EQ(model.motors()[0].damping, 4);
  EXPECT_EQ(model.loops()[0].placement_a.p, Vec3(0.1, 0.2, 0.3));
  EXPECT_EQ(model.loops()[0].placement_b.p, Vec3(0, 0, -7));
  EXPECT_EQ(model.mimics()[0].multiplier, 0);
  EXPECT_EQ(model.mimics()[0].offset, 0.125);
  EXPECT_EQ(model.gravity(), Vec3(0, 1.5, -9.81));
}

TEST(Parameters, EachOneCanBeWrittenBack) {
  test::for_random_cases(10, [](std::mt19937_64& random) {
    const Model before = test::random_model(random, {.max_dofs = 20});
    const std::vector<std::string> names = parameter_names(before);
    const VecX values = parameters(before, names);
    Model after = before;
    for (std::size_t i = 0; i < names.size(); ++i) set_parameter(after, names[i], values[i]);
    EXPECT_EQ(parameters(after, names), values);
    set_parameters(after, names, values);
    EXPECT_EQ(parameters(after, names), values);
  });
}

TEST(Parameters, OfMotorsLoopsAndMimicsCanBeWrittenBack) {
  Model model = robot();
  const std::vector<std::string> names = parameter_names(model);
  const VecX values = parameters(model, names);
  set_parameters(model, names, values);
  EXPECT_EQ(parameters(model, names), values);
  for (std::size_t i = 0; i < names.size(); ++i) set_parameter(model, names[i], values[i]);
  EXPECT_EQ(parameters(model, names), values);
}

TEST(Parameters, OneWriteChangesOneNumber) {
  const Model before = robot();
  const std::vector<std::string> names = parameter_names(before);
  const VecX values = parameters(before, names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (values[i] == kInfinity || values[i] == -kInfinity) continue;
    Model after = before;
    // Small enough for every check; a restitution of 0 and a pitch of 0.02 both may grow.
    const double value = values[i] + 1e-6;
    set_parameter(after, names[i], value);
    VecX expected = values;
    expected[i] = value;
    EXPECT_EQ(parameters(after, names), expected) << names[i];
  }
}

TEST(Parameters, UnknownNamesAreRefusedWithTheClosestOnes) {
  Model model = robot();
  expect_error([&] { (void)parameter(model, "joint/left/hinge/dampin"); }, "'joint/left/hinge/dampin'",
               "did you mean 'joint/left/hinge/damping'");
  expect_error([&] { set_parameter(model, "body/hnd/mass", 1); }, "'body/hnd/mass'", "'body/hand/mass'");
  for (const char* name : {"", "/", "gravity", "gravity/w", "gravity//x", "body", "body/", "body/mass", "body//mass",
                           "body/hand/", "body/hand", "Body/hand/mass", "nonsense/hand/mass", "body/hand/mass/"}) {
    expect_error([&] { (void)parameter(model, name); }, "the model has no parameter", name);
  }
}

TEST(Parameters, BadValuesAreRefusedAndChangeNothing) {
  Model model = robot();
  const std::vector<std::string> names = parameter_names(model);
  const VecX before = parameters(model, names);
  for (const std::string& name : names) {
    expect_error([&] { set_parameter(model, name, std::numeric_limits<double>::quiet_NaN()); });
  }
  expect_error([&] { set_parameter(model, "body/hand/mass", -1); }, "body 'hand'", "mass", "-1");
  expect_error([&] { set_parameter(model, "body/hand/Ixx", 1); }, "body 'hand'", "principal moments");
  expect_error([&] { set_parameter(model, "joint/left/hinge/upper", -1); }, "joint 'left/hinge'", "inverted");
  expect_error([&] { set_parameter(model, "shape/thumb/radius", 0); }, "shape 'thumb'", "radius");
  expect_error([&] { set_parameter(model, "motor/spin/damping", 0); }, "motor 'spin'", "damping");
  expect_error([&] { set_parameter(model, "mimic/gear/offset", kInfinity); }, "mimic 'gear'", "offset", "inf");
  EXPECT_EQ(parameters(model, names), before);
}

TEST(Parameters, AnInertiaPassesAsAWholeThatNumberByNumberWouldNot) {
  Model model = robot();
  const std::vector<std::string> names = {"body/hand/Ixx", "body/hand/Iyy", "body/hand/Izz"};
  expect_error([&] { set_parameter(model, names[0], 2); }, "principal moments");
  set_parameters(model, names, Vec3(2, 3, 4));
  EXPECT_EQ(parameters(model, names), Vec3(2, 3, 4));
}

TEST(Parameters, AreWrittenAllOrNone) {
  Model model = robot();
  const VecX before = parameters(model, parameter_names(model));
  expect_error([&] { set_parameters(model, {"gravity/x", "body/hand/mass", "joint/wrist/damping"}, Vec3(1, 2, -3)); },
               "joint 'wrist'", "damping", "-3");
  expect_error([&] { set_parameters(model, {"gravity/x", "gravity/up"}, Eigen::Vector2d(1, 2)); }, "gravity/up");
  expect_error([&] { set_parameters(model, {"gravity/x"}, Eigen::Vector2d(1, 2)); }, "1 parameter names", "2 values");
  EXPECT_EQ(parameters(model, parameter_names(model)), before);
  set_parameters(model, {}, VecX());
  EXPECT_EQ(parameters(model, {}).size(), 0);
}

}  // namespace
}  // namespace lithe
