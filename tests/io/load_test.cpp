#include "lithe/io/load.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace lithe::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUrdf = R"(<robot name="ball"><link name="ball"><inertial><mass value="2"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.5"/></geometry></collision></link></robot>)";
constexpr const char* kSdf = R"(<sdf version="1.7"><model name="ball"><link name="ball"><inertial><mass>2</mass>
  <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>
  <collision name="c"><geometry><sphere><radius>0.5</radius></sphere></geometry></collision></link></model></sdf>)";
constexpr const char* kMjcf = R"(<mujoco model="ball"><worldbody><body name="ball"><freejoint/>
  <inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/><geom type="sphere" size="0.5"/></body></worldbody></mujoco>)";

std::string error_of(const std::string& text) {
  try {
    load_text(text, "file.xml");
  } catch (const LoadError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Load, TellsTheFormatsApartAndReadsTheSameBall) {
  for (const char* text : {kUrdf, kSdf, kMjcf}) {
    SCOPED_TRACE(text);
    const LoadedModel loaded = load_text(text, "ball.xml");
    EXPECT_EQ(loaded.name, "ball");
    EXPECT_EQ(loaded.model.nv(), 6);
    EXPECT_EQ(loaded.q.size(), 7);
    EXPECT_EQ(loaded.v.size(), 6);
    EXPECT_NEAR(loaded.model.total_mass(), 2, 1e-15);
    ASSERT_EQ(loaded.model.shapes().size(), 1u);
    EXPECT_EQ(std::get<Sphere>(loaded.model.shapes()[0].geometry).radius, 0.5);
    EXPECT_TRUE(loaded.warnings.empty());
  }
}

TEST(Load, OfOneFormatRefusesTheOthers) {
  const fs::path path = fs::temp_directory_path() / ("lithe_load_test_" + std::to_string(::getpid()) + ".xml");
  std::ofstream(path) << kSdf;
  EXPECT_EQ(load(path.string()).model.nv(), 6);
  EXPECT_EQ(load_sdf(path.string()).files.size(), 1u);
  EXPECT_THROW(load_urdf(path.string()), LoadError);
  EXPECT_THROW(load_mjcf(path.string()), LoadError);
  fs::remove(path);
}

TEST(Load, WhatIsNoRobotIsNamed) {
  EXPECT_NE(error_of("<html/>").find("file.xml:1: error: <html> is not a robot or a world"), std::string::npos);
  EXPECT_NE(error_of("").find("file.xml: error: the file is empty"), std::string::npos);
  EXPECT_THROW(load("/no/such/file.urdf"), LoadError);
}

TEST(Load, BasesCanBeFixedOrFloat) {
  LoadOptions fixed;
  fixed.base = LoadOptions::Base::fixed;
  EXPECT_EQ(load_text(kUrdf, "ball.urdf", fixed).model.nv(), 0);
  EXPECT_EQ(load_text(kSdf, "ball.sdf", fixed).model.nv(), 0);
}

TEST(Load, StrictlyAWarningIsAnError) {
  const std::string odd = "<robot name='r'><link name='l'/><sensor/></robot>";
  const LoadedModel loaded = load_text(odd, "odd.urdf");
  ASSERT_EQ(loaded.warnings.size(), 1u);
  LoadOptions strict;
  strict.strict = true;
  EXPECT_THROW(load_text(odd, "odd.urdf", strict), LoadError);
}

}  // namespace
}  // namespace lithe::test
