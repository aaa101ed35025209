#include "bench/subject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench/foreign_files.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/world.h"
#include "tests/bench/own_models.h"
#include "tests/support/error_text.h"

namespace lithe::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPendulum = R"(<mujoco><worldbody><body><joint axis="0 1 0"/>
  <geom type="sphere" size="0.1" pos="0 0 -1"/></body></worldbody></mujoco>)";

using Names = std::vector<std::string>;

Names names(const std::vector<ModelFile>& files) {
  Names found;
  for (const ModelFile& file : files) found.push_back(file.name);
  return found;
}

class ModelFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("lithe_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text = kPendulum) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(ModelFiles, OfAFolderWithASceneThatIsTaken) {
  write("robots/one/one.xml");
  write("robots/one/scene.xml");
  write("robots/two/scene_flat.xml");
  write("robots/two/two.xml");
  write("robots/three/three.xml");
  write("robots/three/assets/part.xml", "<mujocoinclude/>");
  write("robots/three/notes.txt");
  EXPECT_EQ(names(model_files(at("robots"))), (Names{"one", "three", "scene_flat"}));
}

TEST_F(ModelFiles, PlacesMayBeFilesAndNoTwoHaveTheSameName) {
  write("a/arm.xml");
  write("b/arm.xml");
  write("b/c/arm.xml");
  EXPECT_EQ(names(model_files(at("a/arm.xml") + "::" + at("b"))), (Names{"arm", "b.arm", "c.arm"}));
}

TEST_F(ModelFiles, APlaceThatIsNotThereIsAnError) {
  test::expect_error([&] { model_files(at("nowhere")); }, "LITHE_MODELS", "nowhere", "not there");
}

TEST_F(ModelFiles, AFileStartsWhereItSaysAndHasItsTimeStep) {
  write("pendulum.xml");
  const Subject subject = subject_from_file("pendulum", at("pendulum.xml"));
  EXPECT_EQ(subject.scene.time_step, 0.002);
  EXPECT_EQ(subject.scene.model.nv(), 1);
  EXPECT_EQ(subject.file, at("pendulum.xml"));
}

TEST_F(ModelFiles, AKeyframeIsTakenWhereThereIsOne) {
  const std::string text = kPendulum;
  write("keyed.xml",
        text.substr(0, text.size() - 9) + "<keyframe><key name=\"home\" qpos=\"0.5\"/></keyframe></mujoco>");
  EXPECT_EQ(subject_from_file("keyed", at("keyed.xml")).scene.q[0], 0.5);
  EXPECT_EQ(subject_from_file("keyed", at("keyed.xml"), "qpos0").scene.q[0], 0);
  EXPECT_EQ(subject_from_file("keyed", at("keyed.xml"), "elsewhere").scene.q[0], 0.5);
}

TEST(Places, AreSeparatedByColons) {
  EXPECT_EQ(split_places(""), Names{});
  EXPECT_EQ(split_places("a::b/c:"), (Names{"a", "b/c"}));
}

TEST(Subject, OfASceneIsTheSameModelInMjcf) {
  const Subject subject = subject_from_scene("half_cheetah", scene("half_cheetah"));
  EXPECT_EQ(subject.loaded.model.nq(), subject.scene.model.nq());
  EXPECT_EQ(subject.loaded.time_step, subject.scene.time_step);
  // MuJoCo refuses points that move.
  for (std::size_t b = 1; b < subject.scene.model.bodies().size(); ++b) {
    const Body& body = subject.scene.model.bodies()[b];
    EXPECT_TRUE((body.inertia.about_centre().diagonal().array() > 0).all()) << body.name;
  }
}

// What each model is there for, and that it stands or holds for a while.
TEST(OwnModels, MoveAndAreSolved) {
  const std::vector<ModelFile> files = model_files(own_models());
  EXPECT_EQ(names(files), (Names{"friction_humanoid", "hand", "hull_quadruped", "planar_loops"}));
  for (const ModelFile& file : files) {
    SCOPED_TRACE(file.name);
    const Subject subject = subject_from_file(file.name, file.path);
    EXPECT_TRUE(MujocoBridge(subject.loaded).left_out().empty());
    World world(subject.scene.model);
    world.options.time_step = subject.scene.time_step;
    world.set_state(subject.scene.q, subject.scene.v);
    Drive drive(subject, 1);
    int most_contacts = 0;
    for (int i = 0; i < 300; ++i) {
      drive.next();
      const StepStatus& status = world.step(drive.ours());
      ASSERT_TRUE(status.solved()) << "step " << i;
      most_contacts = std::max(most_contacts, status.contacts);
    }
    EXPECT_GT(most_contacts, 0);
  }
}

}  // namespace
}  // namespace lithe::bench
