#include <gtest/gtest.h>

#include "tests/io/sdf_text.h"
#include "tests/support/error_text.h"

// Where links and axes are: values by hand.
namespace lithe::test::sdf {
namespace {

// The case that is easily got wrong. Everything is turned: the model by 90° about z, link b in it by 90° about x, the joint in b by 90°
// about z, link a in the model by 180° about z. So, in the world,
//
//   model: x → y, y → −x          b: x → y, y → z, z → x          joint: x → z, y → −y, z → x          a: x → −y, y → x
//
// (the joint's x is b's y, and its y is b's −x).
std::string turned(const std::string& axis) {
  return pose_text("1 2 3 0 0 1.5707963267948966") + link_text("a", pose_text("0 0 0 0 0 3.141592653589793")) +
         link_text("b", pose_text("0 0 1 1.5707963267948966 0 0")) +
         joint_text("j", "revolute", "a", "b", pose_text("0 0 0 0 0 1.5707963267948966") + axis);
}
Vec3 turned_axis(const std::string& axis, const std::string& version) {
  return axis_of(load_model(turned(axis), version), "j");
}

TEST(SdfAxis, IsInTheModelsFrameInVersion14) {
  EXPECT_LT((turned_axis(axis_text("1 0 0"), "1.4") - Vec3(0, 1, 0)).norm(), kExact);
  EXPECT_LT((turned_axis(axis_text("0 1 0"), "1.4") - Vec3(-1, 0, 0)).norm(), kExact);
}

TEST(SdfAxis, IsInTheJointsFrameFromVersion15On) {
  for (const char* version : {"1.5", "1.6", "1.7", "1.8", "1.9", "1.10", "1.11", "1.12"}) {
    EXPECT_LT((turned_axis(axis_text("1 0 0"), version) - Vec3(0, 0, 1)).norm(), kExact) << version;
    EXPECT_LT((turned_axis(axis_text("0 1 0"), version) - Vec3(0, -1, 0)).norm(), kExact) << version;
  }
}

TEST(SdfAxis, IsWhereUseParentModelFrameSaysUpToVersion16) {
  for (const char* version : {"1.4", "1.5", "1.6"}) {
    const Vec3 in_model =
        turned_axis(axis_text("1 0 0", "<use_parent_model_frame>1</use_parent_model_frame>"), version);
    const Vec3 in_joint =
        turned_axis(axis_text("1 0 0", "<use_parent_model_frame>0</use_parent_model_frame>"), version);
    EXPECT_LT((in_model - Vec3(0, 1, 0)).norm(), kExact) << version;
    EXPECT_LT((in_joint - Vec3(0, 0, 1)).norm(), kExact) << version;
  }
  const LoadedModel late =
      load_model(turned(axis_text("1 0 0", "<use_parent_model_frame>1</use_parent_model_frame>")), "1.7");
  EXPECT_LT((axis_of(late, "j") - Vec3(0, 0, 1)).norm(), kExact);
  EXPECT_EQ(warnings_of(late, "sdf.use_parent_model_frame"), 1);
}

TEST(SdfAxis, IsWhereExpressedInSaysFromVersion17On) {
  const auto axis = [](const std::string& frame, const std::string& xyz) {
    return turned_axis("<axis><xyz expressed_in=\"" + frame + "\">" + xyz + "</xyz></axis>", "1.7");
  };
  EXPECT_LT((axis("__model__", "1 0 0") - Vec3(0, 1, 0)).norm(), kExact);
  EXPECT_LT((axis("a", "1 0 0") - Vec3(0, -1, 0)).norm(), kExact);
  EXPECT_LT((axis("b", "0 1 0") - Vec3(0, 0, 1)).norm(), kExact);
  EXPECT_LT((axis("b", "0 0 1") - Vec3(1, 0, 0)).norm(), kExact);
  EXPECT_LT((axis("j", "0 0 1") - Vec3(1, 0, 0)).norm(), kExact);
}

TEST(SdfAxis, IsNormalised) { EXPECT_LT((turned_axis(axis_text("0 0 5"), "1.9") - Vec3(1, 0, 0)).norm(), kExact); }

TEST(SdfPose, OfALinkIsInTheModel) {
  const LoadedModel loaded = load_model(turned(axis_text("1 0 0")));
  // The model turns (0, 0, 1) to itself and lies at (1, 2, 3).
  EXPECT_LT((pose_of(loaded, "b").p - Vec3(1, 2, 4)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "b").R.col(0) - Vec3(0, 1, 0)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "b").R.col(1) - Vec3(0, 0, 1)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "a").R.col(0) - Vec3(0, -1, 0)).norm(), kExact);
}

TEST(SdfPose, OfAJointIsInTheChildLink) {
  // The child lies at (0, 0, 2); the joint 1 m above it, at (0, 0, 3). A quarter turn about x there takes the child's origin, which is
  // 1 m below, to y = +1.
  LoadedModel loaded =
      load_model(link_text("a") + link_text("b", pose_text("0 0 2 0 0 0")) + joint_text("fix", "fixed", "world", "a") +
                 joint_text("j", "revolute", "a", "b", pose_text("0 0 1 0 0 0") + axis_text("1 0 0")));
  loaded.q[0] = kHalfPi;
  EXPECT_LT((pose_of(loaded, "b").p - Vec3(0, 1, 3)).norm(), kExact);
}

TEST(SdfPose, OfAJointMayBeRelativeToItsParent) {
  LoadedModel loaded = load_model(
      link_text("a") + link_text("b", pose_text("0 0 2 0 0 0")) + joint_text("fix", "fixed", "world", "a") +
      joint_text("j", "revolute", "a", "b", pose_text("0 0 1 0 0 0", "relative_to='a'") + axis_text("1 0 0")));
  // The joint at (0, 0, 1); the child 1 m above goes to y = −1.
  loaded.q[0] = kHalfPi;
  EXPECT_LT((pose_of(loaded, "b").p - Vec3(0, -1, 1)).norm(), kExact);
}

TEST(SdfPose, FollowsRelativeToInAnyOrder) {
  // c is 1 m along the x of f; f is 1 m along the x of b, turned by 90° about z; b is at (0, 0, 1), turned by 90° about z.
  // So f is at (0, 1, 1), turned by 180°, and c at (−1, 1, 1).
  const LoadedModel loaded =
      load_model(link_text("c", pose_text("1 0 0 0 0 0", "relative_to='f'")) + "<frame name='f'>" +
                 pose_text("1 0 0 0 0 1.5707963267948966", "relative_to='b'") + "</frame>" +
                 link_text("b", pose_text("0 0 1 0 0 1.5707963267948966")));
  EXPECT_LT((pose_of(loaded, "c").p - Vec3(-1, 1, 1)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "c").R.col(0) - Vec3(-1, 0, 0)).norm(), kExact);
}

TEST(SdfPose, ReadsDegreesAndQuaternions) {
  const LoadedModel loaded =
      load_model(link_text("d", pose_text("1 2 3 0 90 0", "degrees='true'")) +
                 link_text("q", pose_text("1 2 3 0 0 1 1", "rotation_format='quat_xyzw'")) + link_text("e", "<pose/>"));
  EXPECT_LT((pose_of(loaded, "d").R.col(0) - Vec3(0, 0, -1)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "q").R.col(0) - Vec3(0, 1, 0)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "q").p - Vec3(1, 2, 3)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "e").R - Mat3::Identity()).norm(), kExact);
  EXPECT_EQ(warnings_of(loaded, "quaternion.length"), 1);
}

TEST(SdfPose, AppliesRollThenPitchThenYawAboutFixedAxes) {
  // x → (roll) x → (pitch 90°) −z → (yaw 90°) −z;  y → (roll 90°) z → (pitch 90°) x → (yaw 90°) y.
  const LoadedModel loaded =
      load_model(link_text("a", pose_text("0 0 0 1.5707963267948966 1.5707963267948966 1.5707963267948966")));
  EXPECT_LT((pose_of(loaded, "a").R.col(0) - Vec3(0, 0, -1)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "a").R.col(1) - Vec3(0, 1, 0)).norm(), kExact);
}

TEST(SdfModel, NestsWithPosesAndNames) {
  // outer at (1, 0, 0) turned by 90°, inner in it at (1, 0, 0) turned by 90° more: inner's origin is at (1, 1, 0), and its link, 1 m
  // along x, at (0, 1, 0).
  const LoadedModel loaded = load_inside(
      "<model name='outer'>" + pose_text("1 0 0 0 0 1.5707963267948966") + link_text("base") + "<model name='inner'>" +
      pose_text("1 0 0 0 0 1.5707963267948966") + link_text("tip", pose_text("1 0 0 0 0 0")) + "</model>" +
      joint_text("j", "revolute", "base", "inner::tip", axis_text("1 0 0")) + "</model>");
  EXPECT_LT((pose_of(loaded, "inner::tip").p - Vec3(0, 1, 0)).norm(), kExact);
  EXPECT_EQ(parent_of(loaded, "inner::tip"), "base");
  EXPECT_LT((axis_of(loaded, "j") - Vec3(-1, 0, 0)).norm(), kExact);
}

TEST(SdfModel, IsPlacedByItsPlacementFrame) {
  // The frame is 1 m above the link, which is 1 m along x; it shall be at (0, 0, 5).
  const LoadedModel loaded = load_inside(
      "<model name='m' placement_frame='top'>" + pose_text("0 0 5 0 0 0") + link_text("a", pose_text("1 0 0 0 0 0")) +
      "<frame name='top' attached_to='a'>" + pose_text("0 0 1 0 0 0") + "</frame></model>");
  EXPECT_LT((pose_of(loaded, "a").p - Vec3(0, 0, 4)).norm(), kExact);
}

TEST(SdfModel, OfAWorldWithSeveralHasItsNameBeforeItsLinks) {
  const std::string two =
      in_world("<model name='r'>" + link_text("a") + "</model><model name='s'>" + link_text("a") + "</model>");
  const LoadedModel both = load_inside(two);
  EXPECT_EQ(both.model.bodies().size(), 3u);
  EXPECT_EQ(body_named(both, "r::a").name, "r::a");
  EXPECT_EQ(joint_named(both, "s::a.x").name, "s::a.x");
  const LoadedModel one = load_inside(in_world("<model name='r'>" + link_text("a") + "</model>"));
  EXPECT_EQ(body_named(one, "a").name, "a");
  EXPECT_EQ(joint_named(one, "root.x").name, "root.x");
  EXPECT_EQ(one.name, "w");
}

TEST(SdfModel, MayBePlacedRelativeToAnother) {
  const LoadedModel loaded = load_inside(
      in_world("<model name='s'>" + pose_text("1 0 0 0 0 0", "relative_to='r::a'") + link_text("b") + "</model>" +
               "<model name='r'>" + pose_text("0 0 3 0 0 1.5707963267948966") + link_text("a") + "</model>"));
  EXPECT_LT((pose_of(loaded, "s::b").p - Vec3(0, 1, 3)).norm(), kExact);
}

TEST(SdfFrame, MovesWithWhatItIsAttachedTo) {
  const LoadedModel loaded =
      load_model(link_text("a", pose_text("0 0 1 0 0 0")) + link_text("b", pose_text("0 0 3 0 0 0")) +
                 joint_text("j", "revolute", "a", "b", axis_text("1 0 0")) + "<frame name='tip' attached_to='j'>" +
                 pose_text("0 0 2 0 0 0", "relative_to='a'") + "</frame>" + "<frame name='home'>" +
                 pose_text("0 0 5 0 0 0") + "</frame>");
  const Frame& tip = loaded.model.frames()[loaded.model.frame("tip")];
  EXPECT_EQ(tip.body, loaded.model.body("b"));
  EXPECT_LT((tip.placement.p - Vec3(0, 0, 0)).norm(), kExact);
  const Frame& home = loaded.model.frames()[loaded.model.frame("home")];
  EXPECT_EQ(home.body, loaded.model.body("a"));  // the first link is the canonical one
  EXPECT_LT((home.placement.p - Vec3(0, 0, 4)).norm(), kExact);
}

TEST(SdfFrame, OfTheModelMovesWithTheCanonicalLink) {
  const LoadedModel loaded = load_inside("<model name='m' canonical_link='b'>" + link_text("a") + link_text("b") +
                                         "<frame name='f'/></model>");
  EXPECT_EQ(loaded.model.frames()[0].body, loaded.model.body("b"));
}

TEST(SdfFrame, OfTheWorldOrOfAStaticModelIsFixed) {
  const LoadedModel loaded = load_inside(
      in_world("<frame name='f'>" + pose_text("1 2 3 0 0 0") + "</frame><model name='s'><static>1</static>" +
               pose_text("0 0 7 0 0 0") + link_text("a") + "<frame name='g'/></model>"));
  EXPECT_EQ(loaded.model.frames()[loaded.model.frame("f")].body, Model::world());
  EXPECT_EQ(loaded.model.frames()[loaded.model.frame("g")].body, Model::world());
  EXPECT_LT((loaded.model.frames()[loaded.model.frame("g")].placement.p - Vec3(0, 0, 7)).norm(), kExact);
}

TEST(SdfFrame, MayBeAJointsChildOrParent) {
  // The joint's pose is then that of the frame: 2 m above b.
  LoadedModel loaded =
      load_model(link_text("a") + link_text("b") + "<frame name='f' attached_to='b'>" + pose_text("0 0 2 0 0 0") +
                 "</frame><frame name='g' attached_to='a'/>" + joint_text("fix", "fixed", "world", "a") +
                 joint_text("j", "revolute", "g", "f", axis_text("1 0 0")));
  EXPECT_EQ(parent_of(loaded, "b"), "a");
  loaded.q[0] = kHalfPi;
  EXPECT_LT((pose_of(loaded, "b").p - Vec3(0, 2, 2)).norm(), kExact);
}

TEST(SdfPose, KeepsItsDigitsFarFromTheOrigin) {
  const LoadedModel loaded = load_model(pose_text("4e6 5e6 100 0.1 0.2 0.3") + link_text("a") +
                                        link_text("b", pose_text("0.1 0.2 0.3 0 0 0")) +
                                        joint_text("j", "revolute", "a", "b", axis_text("1 0 0")));
  EXPECT_LT((joint_named(loaded, "j").placement.p - Vec3(0.1, 0.2, 0.3)).norm(), 1e-15);
}

TEST(SdfFrame, ChainMayBeAsLongAsTheFile) {
  std::string frames;
  constexpr int kCount = 20'000;
  for (int i = 0; i < kCount; ++i) {
    frames += "<frame name='f" + std::to_string(i) + "'>" +
              pose_text("0.5 0 0 0 0 0", "relative_to='" + (i == 0 ? "__model__" : numbered("f", i - 1)) + "'") +
              "</frame>\n";
  }
  const LoadedModel loaded = load_model(
      link_text("a", pose_text("0 0 1 0 0 0", "relative_to='f" + std::to_string(kCount - 1) + "'")) + frames);
  EXPECT_LT((pose_of(loaded, "a").p - Vec3(0.5 * kCount, 0, 1)).norm(), 1e-9);
}

}  // namespace
}  // namespace lithe::test::sdf
