#include <gtest/gtest.h>

#include <numbers>

#include "tests/io/sdf_text.h"
#include "tests/support/error_text.h"

// Kinds of joints, how they make a tree, and what closes loops.
namespace lithe::test::sdf {
namespace {

// Link a fixed to the world and a joint j from it to b.
LoadedModel with_joint(const std::string& type, const std::string& more, const std::string& version = "1.9") {
  return load_model(link_text("a") + link_text("b") + joint_text("fix", "fixed", "world", "a") +
                        joint_text("j", type, "a", "b", more),
                    version);
}

TEST(SdfJoint, HasTheDegreesOfFreedomOfItsKind) {
  const std::string two = axis_text("1 0 0") + "<axis2><xyz>0 1 0</xyz></axis2>";
  EXPECT_EQ(with_joint("fixed", "").model.nv(), 0);
  EXPECT_EQ(with_joint("revolute", axis_text("1 0 0")).model.nv(), 1);
  EXPECT_EQ(with_joint("continuous", axis_text("1 0 0")).model.nv(), 1);
  EXPECT_EQ(with_joint("prismatic", axis_text("1 0 0")).model.nv(), 1);
  EXPECT_EQ(with_joint("ball", "").model.nv(), 3);
  EXPECT_EQ(with_joint("universal", two).model.nv(), 2);
  EXPECT_EQ(with_joint("revolute2", two).model.nv(), 2);
}

TEST(SdfJoint, TurnsAboutTheFirstAxisOnTheParentAndTheSecondOnTheChild) {
  LoadedModel loaded = with_joint("universal", axis_text("1 0 0") + "<axis2><xyz>0 1 0</xyz></axis2>");
  loaded.q[joint_named(loaded, "j.1").q_index] = kHalfPi;
  loaded.q[joint_named(loaded, "j.2").q_index] = kHalfPi;
  // R_x(90°)·R_y(90°): z → x → x, and x → −z → y.
  EXPECT_LT((pose_of(loaded, "b").R.col(2) - Vec3(1, 0, 0)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "b").R.col(0) - Vec3(0, 1, 0)).norm(), kExact);
}

TEST(SdfJoint, ReadsAScrewsPitchInBothUnits) {
  // 0.5 m per revolution, right-handed; and 4π rad per metre the other way round, left-handed: the same length with a minus.
  const double pitch = 0.5 / (2 * std::numbers::pi);
  const std::string axis = axis_text("0 0 1");
  EXPECT_NEAR(
      joint_named(with_joint("screw", axis + "<screw_thread_pitch>0.5</screw_thread_pitch>", "1.10"), "j").pitch, pitch,
      kExact);
  EXPECT_NEAR(joint_named(with_joint("screw", axis + "<thread_pitch>12.566370614359172</thread_pitch>"), "j").pitch,
              -pitch, kExact);
  const std::string both = "<thread_pitch>1</thread_pitch><screw_thread_pitch>0.5</screw_thread_pitch>";
  EXPECT_NEAR(joint_named(with_joint("screw", axis + both, "1.11"), "j").pitch, pitch, kExact);
  const LoadedModel silent = with_joint("screw", axis);
  EXPECT_EQ(joint_named(silent, "j").pitch, -1);
  EXPECT_EQ(warnings_of(silent, "sdf.thread_pitch"), 1);
}

TEST(SdfJoint, ReadsLimits) {
  const LoadedModel loaded = with_joint(
      "revolute",
      axis_text("1 0 0", "<limit><lower>-1</lower><upper>2</upper><effort>3</effort><velocity>4</velocity></limit>"));
  const Joint& joint = joint_named(loaded, "j");
  EXPECT_EQ(joint.lower, -1);
  EXPECT_EQ(joint.upper, 2);
  EXPECT_EQ(joint.effort_limit, 3);
  EXPECT_EQ(joint.velocity_limit, 4);
}

TEST(SdfJoint, ReadsThatThereAreNoLimits) {
  for (const char* limit :
       {"<limit><lower>-1e16</lower><upper>1e+16</upper><effort>-1</effort><velocity>-1</velocity></limit>",
        "<limit><lower>-inf</lower><upper>inf</upper><effort>inf</effort><velocity>+inf</velocity></limit>", "<limit/>",
        ""}) {
    const LoadedModel loaded = with_joint("prismatic", axis_text("1 0 0", limit));
    const Joint& joint = joint_named(loaded, "j");
    EXPECT_EQ(joint.lower, -Joint::kInfinity) << limit;
    EXPECT_EQ(joint.upper, Joint::kInfinity) << limit;
    EXPECT_EQ(joint.effort_limit, Joint::kInfinity) << limit;
    EXPECT_EQ(joint.velocity_limit, Joint::kInfinity) << limit;
  }
  const LoadedModel continuous =
      with_joint("continuous", axis_text("1 0 0", "<limit><lower>-1</lower><upper>1</upper></limit>"));
  EXPECT_EQ(joint_named(continuous, "j").upper, Joint::kInfinity);
}

TEST(SdfJoint, ReadsSpringDampingAndFriction) {
  const LoadedModel loaded = with_joint("revolute", axis_text("1 0 0",
                                                              "<dynamics><damping>0.1</damping><friction>0.2</friction>"
                                                              "<spring_reference>0.3</spring_reference>"
                                                              "<spring_stiffness>0.4</spring_stiffness></dynamics>"));
  const Joint& joint = joint_named(loaded, "j");
  EXPECT_EQ(joint.damping, 0.1);
  EXPECT_EQ(joint.dry_friction, 0.2);
  EXPECT_EQ(joint.rest, 0.3);
  EXPECT_EQ(joint.stiffness, 0.4);
}

TEST(SdfJoint, FollowsAnother) {
  // q = 2·(q_leader − 0.5) + 0.1 = 2·q_leader − 0.9.
  const std::string mimic =
      "<mimic joint='k' axis='axis2'><multiplier>2</multiplier><offset>0.1</offset><reference>0.5</reference></mimic>";
  const LoadedModel loaded =
      load_model(link_text("a") + link_text("b") + link_text("c") + joint_text("fix", "fixed", "world", "a") +
                     joint_text("j", "revolute", "a", "b", axis_text("1 0 0", mimic)) +
                     joint_text("k", "universal", "a", "c", axis_text("1 0 0") + "<axis2><xyz>0 1 0</xyz></axis2>"),
                 "1.11");
  ASSERT_EQ(loaded.model.mimics().size(), 1u);
  const Mimic& found = loaded.model.mimics()[0];
  EXPECT_EQ(found.joint, loaded.model.joint("j"));
  EXPECT_EQ(found.source, loaded.model.joint("k.2"));
  EXPECT_EQ(found.multiplier, 2);
  EXPECT_NEAR(found.offset, -0.9, kExact);
}

TEST(SdfTree, LetsARootFloatFromWhereItIs) {
  const LoadedModel loaded =
      load_model(pose_text("1 2 3 0 0 1.5707963267948966") + link_text("a", pose_text("1 0 0 0 0 0")));
  EXPECT_EQ(loaded.model.nv(), 6);
  // At the world's (1, 3, 3): the state says so, not the model.
  EXPECT_LT((loaded.q.head<3>() - Vec3(1, 3, 3)).norm(), kExact);
  EXPECT_LT((loaded.q.tail<4>() - Vec4(0, 0, std::sqrt(0.5), std::sqrt(0.5))).norm(), kExact);
  EXPECT_LT(joint_named(loaded, "root.x").placement.p.norm(), kExact);
  EXPECT_LT((pose_of(loaded, "a").p - Vec3(1, 3, 3)).norm(), kExact);
}

TEST(SdfTree, FixesTheLinksOfAStaticModel) {
  const LoadedModel loaded = load_model("<static>true</static>" + pose_text("1 2 3 0 0 0") + link_text("a") +
                                        link_text("b") + joint_text("j", "revolute", "a", "b", axis_text("1 0 0")));
  EXPECT_EQ(loaded.model.nv(), 0);
  EXPECT_LT((pose_of(loaded, "b").p - Vec3(1, 2, 3)).norm(), kExact);
  EXPECT_EQ(warnings_of(loaded, "sdf.static_joint"), 1);
}

TEST(SdfTree, HoldsOrFreesRootsAsTheOptionsSay) {
  LoadOptions options;
  options.base = LoadOptions::Base::fixed;
  EXPECT_EQ(load_model(link_text("a"), "1.9", options).model.nv(), 0);
  options.base = LoadOptions::Base::floating;
  EXPECT_EQ(load_model("<static>1</static>" + link_text("a"), "1.9", options).model.nv(), 0);
  const std::string massless =
      link_text("a", "<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>");
  EXPECT_EQ(
      load_model(massless + link_text("b") + joint_text("j", "revolute", "a", "b", axis_text("1 0 0"))).model.nv(), 1);
}

TEST(SdfTree, GivesEachFreeLinkOfItsOwnAJoint) {
  const LoadedModel loaded = load_model(link_text("a") + link_text("b"));
  EXPECT_EQ(loaded.model.nv(), 12);
  EXPECT_EQ(joint_named(loaded, "b.ball").nv(), 3);
}

TEST(SdfTree, GivesAFreeJointANameThatIsFree) {
  const LoadedModel loaded =
      load_model(link_text("a") + link_text("b") + joint_text("root.z", "revolute", "a", "b", axis_text("1 0 0")));
  EXPECT_EQ(joint_named(loaded, "root_2.x").name, "root_2.x");
}

TEST(SdfTree, TurnsRoundAJointWhoseChildIsTheWorld) {
  // The joint, 1 m along x in the world (its child), about z. The child turns by +90° against the parent, so the parent, which is at
  // the origin, turns by −90° about (1, 0, 0): to (1, 1, 0).
  LoadedModel loaded = load_model(
      link_text("a") + joint_text("j", "revolute", "a", "world", pose_text("1 0 0 0 0 0") + axis_text("0 0 1")));
  EXPECT_EQ(loaded.model.nv(), 1);
  EXPECT_LT(pose_of(loaded, "a").p.norm(), kExact);
  loaded.q[0] = kHalfPi;
  EXPECT_LT((pose_of(loaded, "a").p - Vec3(1, 1, 0)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "a").R.col(0) - Vec3(0, -1, 0)).norm(), kExact);
}

TEST(SdfTree, TurnsRoundASecondJointToOneChildIfThatClosesNoLoop) {
  // b is the child of a and of c: c hangs on b.
  LoadedModel loaded =
      load_model(link_text("a") + link_text("b") + link_text("c", pose_text("0 0 1 0 0 0")) +
                 joint_text("fix", "fixed", "world", "a") + joint_text("j", "revolute", "a", "b", axis_text("1 0 0")) +
                 joint_text("k", "universal", "c", "b", axis_text("1 0 0") + "<axis2><xyz>0 1 0</xyz></axis2>"));
  EXPECT_EQ(parent_of(loaded, "c"), "b");
  EXPECT_EQ(loaded.model.nv(), 3);
  EXPECT_LT((pose_of(loaded, "c").p - Vec3(0, 0, 1)).norm(), kExact);
  // b is R_x(q₁)·R_y(q₂) seen from c, so c is R_y(−q₂)·R_x(−q₁) seen from b; its origin is 1 m above the joint at b's origin, and
  // R_y(−90°) takes that to x = −1.
  loaded.q[joint_named(loaded, "k.1").q_index] = 0;
  loaded.q[joint_named(loaded, "k.2").q_index] = kHalfPi;
  EXPECT_LT((pose_of(loaded, "c").p - Vec3(-1, 0, 0)).norm(), kExact);
  loaded.q[joint_named(loaded, "k.1").q_index] = kHalfPi;
  // R_x(−90°) takes e_z to e_y, and R_y(−90°) leaves it there.
  EXPECT_LT((pose_of(loaded, "c").p - Vec3(0, 1, 0)).norm(), kExact);
}

// A square of four links in the x–z plane, corner joints about y; the last one is of the given kind.
std::string square(const std::string& last_type, const std::string& last_axis, bool last_first) {
  const std::string axis = axis_text("0 1 0");
  const std::string closing =
      joint_text("close", last_type, "c", "d", pose_text("0 0 0 0 0 0", "relative_to='corner'") + last_axis);
  return link_text("a") + link_text("b", pose_text("1 0 0 0 0 0")) + link_text("c", pose_text("1 0 1 0 0 0")) +
         link_text("d", pose_text("0 0 0 0 0 0")) + "<frame name='corner'>" + pose_text("0 0 1 0 0 0") + "</frame>" +
         (last_first ? closing : "") + joint_text("fix", "fixed", "world", "a") +
         joint_text("ab", "revolute", "a", "b", axis) + joint_text("bc", "revolute", "b", "c", axis) +
         joint_text("ad", "revolute", "a", "d", axis) + (last_first ? "" : closing);
}

TEST(SdfTree, ClosesALoopWithItsBall) {
  for (const bool first : {false, true}) {
    const LoadedModel loaded = load_model(square("ball", "", first));
    EXPECT_EQ(loaded.model.nv(), 3);
    ASSERT_EQ(loaded.model.loops().size(), 1u);
    const LoopClosure& loop = loaded.model.loops()[0];
    EXPECT_EQ(loop.kind, LoopClosure::Kind::ball);
    // At (0, 0, 1): 1 m along −x of c, 1 m along z of d.
    EXPECT_LT((loop.placement_a.p - Vec3(-1, 0, 0)).norm(), kExact);
    EXPECT_LT((loop.placement_b.p - Vec3(0, 0, 1)).norm(), kExact);
  }
}

TEST(SdfTree, ClosesALoopWithAFixedJointAndForbidsItsLinksToCollide) {
  const LoadedModel loaded = load_model("<self_collide>1</self_collide>" + square("fixed", "", false));
  ASSERT_EQ(loaded.model.loops().size(), 1u);
  EXPECT_EQ(loaded.model.loops()[0].kind, LoopClosure::Kind::weld);
  ASSERT_EQ(loaded.model.pair_exceptions().size(), 1u);
  EXPECT_FALSE(loaded.model.pair_exceptions()[0].collide);
}

TEST(SdfTree, SaysThatOtherJointsCloseNoLoop) {
  expect_error([] { load_model(square("revolute", axis_text("0 1 0"), false)); }, "close", "closes a loop", "ball");
}

TEST(SdfTree, LeavesOutAJointBetweenWhatIsRigidAnyway) {
  const LoadedModel loaded = load_model(link_text("a") + link_text("b") + joint_text("one", "fixed", "a", "b") +
                                        joint_text("two", "fixed", "a", "b"));
  EXPECT_EQ(loaded.model.loops().size(), 0u);
  EXPECT_EQ(warnings_of(loaded, "sdf.redundant_joint"), 1);
}

TEST(SdfTree, JoinsModelsByAJointInTheWorld) {
  const LoadedModel loaded = load_inside(
      in_world("<model name='r'>" + link_text("a") + "</model><model name='s'>" + pose_text("0 0 1 0 0 0") +
               link_text("b") + "</model>" + joint_text("j", "revolute", "r::a", "s::b", axis_text("1 0 0"))),
      "1.10");
  EXPECT_EQ(parent_of(loaded, "s::b"), "r::a");
  EXPECT_EQ(loaded.model.nv(), 7);
  EXPECT_LT((joint_named(loaded, "j").placement.p - Vec3(0, 0, 1)).norm(), kExact);
}

TEST(SdfJoint, OfAGearboxIsLeftOut) {
  const LoadedModel loaded = with_joint("gearbox", axis_text("1 0 0") + "<gearbox_ratio>2</gearbox_ratio>");
  EXPECT_EQ(warnings_of(loaded, "sdf.gearbox"), 1);
  EXPECT_EQ(loaded.model.nv(), 6);
}

TEST(SdfJoint, MayHaveALinksName) {
  const LoadedModel loaded =
      load_model(link_text("a") + link_text("b") + joint_text("b", "revolute", "a", "b", axis_text("1 0 0")), "1.5");
  EXPECT_EQ(joint_named(loaded, "b").body, loaded.model.body("b"));
  EXPECT_EQ(warnings_of(loaded, "sdf.name"), 1);
}

}  // namespace
}  // namespace lithe::test::sdf
