#include <gtest/gtest.h>

#include <random>

#include "lithe/collision/detect_contacts.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/io/load.h"
#include "lithe/io/write_mjcf.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/from_file.h"
#include "lithe/scenes/world.h"
#include "lithe/step/gradcheck.h"
#include "tests/support/model_files.h"

// A whole humanoid from its files: the same in each format, and standing.
namespace lithe::test {
namespace {

class Atlas : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!models_folder()) GTEST_SKIP() << "set LITHE_MODELS to a folder with atlas/";
  }
  // Its folder lacks the torso's backpack; the torso stands in for it.
  static LoadedModel read(const std::string& name) {
    LoadOptions options;
    options.convex_pieces["utorso_pack.stl"] = {"utorso.stl"};
    return load((*models_folder() / "atlas" / name).string(), options);
  }
};

std::vector<Pose> poses_at(const Model& model, const VecX& q) {
  Kinematics kin;
  kinematics(model, q, kin);
  std::vector<Pose> poses;
  body_poses(model, kin, poses);
  return poses;
}

// Configurations by joint, so that models may order them differently.
VecX with_angles(const Model& model, const Model& like, const VecX& q) {
  VecX out = neutral_configuration(model);
  for (const Joint& joint : like.joints()) {
    const Joint& same = model.joints()[model.joint(joint.name)];
    out.segment(same.q_index, same.nq()) = q.segment(joint.q_index, joint.nq());
  }
  return out;
}

void expect_same_robot(const Model& a, const Model& b, double tolerance) {
  EXPECT_EQ(a.nv(), b.nv());
  EXPECT_NEAR(a.total_mass(), b.total_mass(), tolerance);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> angle(-1, 1);
  for (int sample = 0; sample < 10; ++sample) {
    VecX q = neutral_configuration(a);
    for (const Joint& joint : a.joints()) {
      if (joint.type == JointType::revolute) q[joint.q_index] = angle(random);
    }
    const VecX q_b = with_angles(b, a, q);
    const std::vector<Pose> poses_a = poses_at(a, q), poses_b = poses_at(b, q_b);
    for (std::size_t i = 1; i < b.bodies().size(); ++i) {
      const Pose& pose = poses_a[a.body(b.bodies()[i].name)];
      EXPECT_LT((pose.p - poses_b[i].p).norm() + (pose.R - poses_b[i].R).norm(), 1e-9) << b.bodies()[i].name;
    }
    const MatX M_a = mass_matrix(a, q), M_b = mass_matrix(b, q_b);
    for (const Joint& j : a.joints()) {
      for (const Joint& k : a.joints()) {
        if (j.nv() != 1 || k.nv() != 1) continue;
        const double other = M_b(b.joints()[b.joint(j.name)].v_index, b.joints()[b.joint(k.name)].v_index);
        EXPECT_NEAR(M_a(j.v_index, k.v_index), other, tolerance);
      }
    }
  }
}

TEST_F(Atlas, IsTheSameInUrdfAndSdfAndMjcf) {
  const Model urdf = read("atlas_v3_no_head.urdf").model;
  // The SDF file was made from the URDF file with six digits; the largest entries of M are some 100 kg·m².
  expect_same_robot(urdf, read("atlas_v3_no_head.sdf").model, 1e-4);
  expect_same_robot(urdf, load_text(write_mjcf(urdf).xml, "atlas.xml").model, 1e-9);
}

// Hulls that overlap at the joints by design do not collide.
LoadedModel without_overlaps(LoadedModel loaded) {
  DetectionWorkspace workspace;
  ContactSet contacts;
  detect_contacts(ColliderSet(loaded.model), poses_at(loaded.model, loaded.q), workspace, contacts);
  for (const Contact& contact : contacts.contacts) {
    const auto body_of = [&](ShapeIndex shape) {
      return loaded.model.bodies()[loaded.model.shapes()[shape].body].name;
    };
    loaded.builder.set_collision(body_of(contact.a), body_of(contact.b), false);
  }
  loaded.model = loaded.builder.build();
  return loaded;
}

TEST_F(Atlas, StandsOnItsMeshFeet) {
  const Scene scene = scene_on_ground(without_overlaps(read("atlas_v3_no_head.urdf")));
  World world(scene.model, {.time_step = scene.time_step});
  world.set_state(scene.q, scene.v);
  const double height = scene.q[2];
  for (int i = 0; i < 100; ++i) world.step({});
  EXPECT_TRUE(world.record().status.solved());
  EXPECT_EQ(world.record().status.contacts, 16);  // the sole of each foot's hull has eight corners
  EXPECT_NEAR(world.state().q[2], height, 0.05);  // limp, it has only begun to fold
}

TEST_F(Atlas, HasTheGradientsThatDifferencesShow) {
  const Scene scene = scene_on_ground(without_overlaps(read("atlas_v3_no_head.urdf")));
  World world(scene.model, {.time_step = scene.time_step});
  world.set_state(scene.q, scene.v);
  Gradcheck checker;
  int checked = 0;
  for (int i = 0; i < 40; ++i) {
    world.step({});
    if (i % 8 != 0) continue;
    const GradcheckResult& result =
        checker.check(scene.model, world.record(), StepParameters(scene.model, {}), {.seed = 1});
    if (!result.comparable() || result.switched > result.columns / 10) continue;
    ++checked;
    EXPECT_LT(result.max_error(), 1e-5);
    EXPECT_LT(std::max(result.vjp_error, result.jvp_error), 1e-12);
  }
  EXPECT_GE(checked, 3);
}

}  // namespace
}  // namespace lithe::test
