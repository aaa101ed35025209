#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/centroidal.h"
#include "lithe/dynamics/energy.h"
#include "lithe/model/configuration.h"
#include "lithe/model/model_builder.h"
#include "lithe/scenes/catalogue.h"
#include "tests/support/error_text.h"
#include "tests/viz/shown_model.h"

namespace lithe::test {
namespace {

ShowMotion sample_motion(const Model& model, int frames) {
  return show_motion("sample", kStep, shown_frames(model, frames, kStep));
}

ShowTrack track_of(const Model& model, const ShowMotion& motion) {
  return make_show(model, {}, "", kStep, {motion}).motions.at(0);
}

TEST(MakeShow, PutsBodiesWhereKinematicsDoes) {
  const Model model = shown_model();
  const ShowMotion motion = sample_motion(model, 20);
  const ShowTrack track = track_of(model, motion);
  const std::size_t bodies = model.bodies().size();
  ASSERT_EQ(track.frames(), 20u);
  ASSERT_EQ(track.poses.size(), 20 * bodies * 7);
  Kinematics kin;
  for (std::size_t t = 0; t < 20; ++t) {
    kinematics(model, motion.q.col(static_cast<int>(t)), kin);
    for (std::size_t body = 0; body < bodies; ++body) {
      const Pose X_WB = body_pose(model, kin, BodyIndex(static_cast<int>(body)));
      const float* pose = &track.poses[7 * (t * bodies + body)];
      const Vec3 p(pose[0], pose[1], pose[2]);
      const Vec4 quaternion(pose[3], pose[4], pose[5], pose[6]);
      EXPECT_LT((p - X_WB.p).norm(), 1e-6);
      EXPECT_NEAR(quaternion.norm(), 1, 1e-6);
      EXPECT_LT((rotation_from_quaternion(quaternion) - X_WB.R).norm(), 1e-5);
    }
  }
}

TEST(MakeShow, TurnsQuaternionsTheShortWay) {
  const Model model = scene("pendulum").model;
  ShowMotion motion = {.name = "turns", .time_step = 0.1, .times = {}, .q = MatX(1, 200), .v = MatX::Zero(1, 200)};
  ASSERT_EQ(model.nq(), 1);
  for (int t = 0; t < 200; ++t) {
    motion.times.push_back(0.1 * t);
    motion.q(0, t) = 0.1 * t;  // three turns
  }
  const ShowTrack track = track_of(model, motion);
  const std::size_t stride = 7 * model.bodies().size();
  for (std::size_t i = stride; i < track.poses.size(); i += 7) {
    float dot = 0;
    for (std::size_t k = 3; k < 7; ++k) dot += track.poses[i + k] * track.poses[i - stride + k];
    EXPECT_GT(dot, 0.99f);
  }
}

TEST(MakeShow, ComputesCentreOfMassAndEnergies) {
  const Model model = shown_model();
  const ShowMotion motion = sample_motion(model, 5);
  const ShowTrack track = track_of(model, motion);
  ASSERT_EQ(track.centre_of_mass.size(), 15u);
  ASSERT_EQ(track.series.size(), 4u);
  Kinematics kin;
  for (int t = 0; t < 5; ++t) {
    kinematics(model, motion.q.col(t), motion.v.col(t), kin);
    const Vec3 com = centre_of_mass(model, kin);
    for (int k = 0; k < 3; ++k) EXPECT_FLOAT_EQ(track.centre_of_mass[3 * t + k], static_cast<float>(com[k]));
    const double kinetic = kinetic_energy(model, kin), potential = potential_energy(model, kin);
    EXPECT_FLOAT_EQ(track.series[0].values[t], static_cast<float>(kinetic + potential));
    EXPECT_FLOAT_EQ(track.series[1].values[t], static_cast<float>(kinetic));
    EXPECT_FLOAT_EQ(track.series[2].values[t], static_cast<float>(potential));
  }
}

TEST(MakeShow, GivesContactsAsForces) {
  const Model model = shown_model();
  const ShowTrack track = track_of(model, sample_motion(model, 3));
  EXPECT_EQ(track.contact_counts, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(track.contact_shapes, (std::vector<std::uint32_t>{1, 0, 1, 0, 1, 2}));
  ASSERT_EQ(track.contact_values.size(), 27u);
  const std::vector<float> last(track.contact_values.end() - 9, track.contact_values.end());
  EXPECT_EQ(last, (std::vector<float>{2, 1, 0.5, 0, 0, 1, 3, 0, 8}));  // (0.03, 0, 0.08) N·s in 0.01 s
  EXPECT_FLOAT_EQ(track.series[3].values[0], 0);
  EXPECT_FLOAT_EQ(track.series[3].values[1], 5);
  EXPECT_FLOAT_EQ(track.series[3].values[2], 5 + std::sqrt(73.0f));
}

TEST(MakeShow, NamesThePartsOfTheModel) {
  const Model model = shown_model();
  const ShowDocument show = make_show(model, shown_visuals(), "toy", 1e-3, {});
  ASSERT_EQ(show.bodies.size(), model.bodies().size());
  EXPECT_TRUE(show.bodies[0].fixed());
  EXPECT_TRUE(show.bodies[model.body("rock")].fixed());
  EXPECT_EQ(show.bodies[model.body("upper")].robot, show.bodies[model.body("lower")].robot);
  EXPECT_NE(show.bodies[model.body("upper")].robot, show.bodies[model.body("box")].robot);
  ASSERT_EQ(show.shapes.size(), model.shapes().size() + 2);
  for (std::size_t i = 0; i < model.shapes().size(); ++i) {
    EXPECT_EQ(show.shapes[i].name, model.shapes()[i].name);
    EXPECT_FALSE(show.shapes[i].visual);
    EXPECT_FALSE(show.shapes[i].color);
  }
  const ShowMesh rock = std::get<ShowMesh>(show.shapes[model.shape("rock")].geometry);
  EXPECT_EQ(rock.vertices.size(), 4u);
  EXPECT_EQ(rock.triangles.size(), 12u);
  EXPECT_EQ(*show.shapes.back().color, Vec4(1, 0, 0, 0.5));
  EXPECT_EQ(show.shapes.back().body, int{model.body("upper")});
}

TEST(MakeShow, TurnsMirroredMeshesOutsideOut) {
  const Model model = shown_model();
  const ShowDocument show = make_show(model, shown_visuals(), "toy", 1e-3, {});
  const ShowMesh wing = std::get<ShowMesh>(show.shapes[model.shapes().size()].geometry);
  EXPECT_EQ(wing.vertices[2], Vec3(0, -1, 0));
  EXPECT_EQ(wing.triangles, (std::vector<std::uint32_t>{0, 2, 1}));
}

// A joint's place and axis are those of the body that it carries: they turn with it, and a hinge's point stays put.
TEST(MakeShow, PutsJointsIntoTheBodyTheyCarry) {
  const Model model = shown_model();
  const ShowDocument show = make_show(model, {}, "toy", 1e-3, {});
  const ShowJoint& hinge = show.joints[model.joint("hinge")];
  EXPECT_EQ(hinge.body, int{model.body("upper")});
  EXPECT_EQ(hinge.type, JointType::revolute);
  VecX q = neutral_configuration(model);
  Kinematics kin;
  for (const double angle : {0.0, 1.0, -2.0}) {
    q[model.joints()[model.joint("hinge")].q_index] = angle;
    kinematics(model, q, kin);
    const Pose X_WB = body_pose(model, kin, model.body("upper"));
    EXPECT_LT((X_WB * hinge.position - Vec3(1, 0, 2)).norm(), 1e-12);
    EXPECT_LT((X_WB.R * hinge.axis - Vec3::UnitY()).norm(), 1e-12);
  }
}

TEST(MakeShow, TakesNoFramesAndOneFrame) {
  const Model model = shown_model();
  const ShowTrack none = track_of(model, sample_motion(model, 0));
  EXPECT_EQ(none.frames(), 0u);
  EXPECT_TRUE(none.poses.empty());
  const ShowTrack one = track_of(model, sample_motion(model, 1));
  EXPECT_EQ(one.frames(), 1u);
  EXPECT_EQ(one.poses.size(), 7 * model.bodies().size());
}

TEST(MakeShow, TakesAModelInWhichNothingMoves) {
  const Model model = ModelBuilder().add_shape("world", {.name = "ground", .geometry = Plane{}}).build();
  ShowMotion motion = {.name = "still", .times = {0, 1}, .q = MatX(0, 2), .v = MatX(0, 2)};
  const ShowTrack track = track_of(model, motion);
  EXPECT_EQ(track.frames(), 2u);
  EXPECT_TRUE(track.centre_of_mass.empty());
  EXPECT_EQ(track.series[0].values, (std::vector<float>{0, 0}));
}

TEST(MakeShow, KeepsTimesApartHoweverLargeTheyAre) {
  const Model model = shown_model();
  ShowMotion motion = sample_motion(model, 50);
  for (const double start : {0.0, 10.0, 1e9, -1e9, 1e12}) {
    for (int t = 0; t < 50; ++t) motion.times[static_cast<std::size_t>(t)] = start + kStep * t;
    const ShowTrack track = track_of(model, motion);
    EXPECT_NEAR(track.times.back() - track.times.front(), 49 * kStep, 1e-4) << start;
    for (std::size_t t = 1; t < 50; ++t) EXPECT_GT(track.times[t], track.times[t - 1]) << start;
  }
  motion.times.front() = -1e30;
  const ShowTrack track = track_of(model, motion);
  for (std::size_t t = 1; t < 50; ++t) EXPECT_GT(track.times[t], track.times[t - 1]);
  motion.times.front() = -1e300;  // more seconds than a float can count
  expect_error([&] { track_of(model, motion); }, "the times of 'sample' are too large");
}

TEST(MakeShow, KeepsNumbersFinite) {
  EXPECT_EQ(show_number(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(show_number(-1e300), std::numeric_limits<float>::lowest());
  EXPECT_EQ(show_number(std::numeric_limits<double>::infinity()), std::numeric_limits<float>::max());
  EXPECT_EQ(show_number(0.1), 0.1f);
  expect_error([] { show_number(std::numeric_limits<double>::quiet_NaN()); }, "NaN");
}

TEST(MakeShow, CarriesSeriesAndGradients) {
  const Model model = shown_model();
  ShowMotion motion = sample_motion(model, 3);
  motion.series.push_back({"cost", "", {3, 2, 1}});
  const auto bodies = static_cast<int>(model.bodies().size()), joints = static_cast<int>(model.joints().size());
  motion.gradients = ShowGradients{"throw", MatX::Random(3 * bodies, 3), MatX::Random(joints, 3)};
  const ShowTrack track = track_of(model, motion);
  EXPECT_EQ(track.series.back().values, (std::vector<float>{3, 2, 1}));
  ASSERT_TRUE(track.gradients);
  EXPECT_EQ(track.gradients->bodies.at(static_cast<std::size_t>(3 * (2 * bodies + 1) + 2)),
            static_cast<float>(motion.gradients->bodies(3 * 1 + 2, 2)));
  EXPECT_EQ(track.gradients->joints.at(static_cast<std::size_t>(joints + 4)),
            static_cast<float>(motion.gradients->joints(4, 1)));
}

TEST(MakeShow, RefusesWhatDoesNotFit) {
  const Model model = shown_model();
  const ShowMotion good = sample_motion(model, 3);
  const auto refuses = [&](const ShowMotion& motion, auto... parts) {
    expect_error([&] { track_of(model, motion); }, "'sample'", parts...);
  };
  ShowMotion bad = good;
  bad.q.conservativeResize(2, 3);
  refuses(bad, "2 coordinates");
  bad = good;
  bad.times.pop_back();
  refuses(bad, "has 2 times, but 3 configurations");
  bad = good;
  bad.times[2] = bad.times[1];
  refuses(bad, "do not ascend", "frame 2");
  bad = good;
  bad.times[1] = std::numeric_limits<double>::quiet_NaN();
  refuses(bad, "do not ascend", "frame 1");
  bad = good;
  bad.q(0, 1) = std::numeric_limits<double>::quiet_NaN();
  refuses(bad, "frame 1");
  bad = good;
  bad.v(0, 2) = std::numeric_limits<double>::infinity();
  refuses(bad, "frame 2");
  bad = good;
  bad.contacts[1][0].a = 17;
  refuses(bad, "a contact of shapes 17 and 0, of 6");
  bad = good;
  bad.contacts.pop_back();
  refuses(bad, "contacts of 2 frames");
  bad = good;
  bad.time_step = 0;
  refuses(bad, "time step of 0 s");
  bad = good;
  bad.series.push_back({"cost", "", {1}});
  refuses(bad, "series 'cost'", "1 values for 3 frames");
  bad = good;
  bad.gradients = ShowGradients{"loss", MatX::Zero(1, 1), MatX::Zero(1, 1)};
  refuses(bad, "gradients", "1×1");

  std::vector<Visual> visuals = shown_visuals();
  visuals[0].body = "wing";
  expect_error([&] { make_show(model, visuals, "", 1, {}); }, "wing");
  expect_error([&] { make_show(model, {}, "", 0, {}); }, "time step of 0 s");
}

}  // namespace
}  // namespace lithe::test
