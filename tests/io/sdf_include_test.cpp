#include <gtest/gtest.h>

#include "tests/io/sdf_text.h"
#include "tests/support/error_text.h"

namespace lithe::test::sdf {
namespace {

// A model "arm" in a folder of its own: link "tip", 1 m along x.
std::string arm(const std::string& attributes = "", const std::string& more = "") {
  return around("<model name='arm' " + attributes + ">" + pose_text("0 0 9 0 0 0") +
                link_text("tip", pose_text("1 0 0 0 0 0")) + more + "</model>");
}
std::string include_text(const std::string& uri, const std::string& more = "") {
  return "<include><uri>" + uri + "</uri>" + more + "</include>\n";
}

TEST(SdfInclude, ReadsAFolderAFileAndAModelUri) {
  const Folder folder("folder");
  folder.write("arm/model.config",
               "<model><name>arm</name><sdf version='1.4'>old.sdf</sdf><sdf version='1.9'>new.sdf</sdf></model>");
  folder.write("arm/new.sdf", arm());
  folder.write("arm/old.sdf", "not to be read");
  folder.write("plain/model.sdf", arm());
  for (const char* uri : {"arm", "model://arm", "plain", "arm/new.sdf", "model://arm/new.sdf"}) {
    const LoadedModel loaded = load(folder.write("w.sdf", around(in_world(include_text(uri)))));
    EXPECT_LT((pose_of(loaded, "tip").p - Vec3(1, 0, 9)).norm(), kExact) << uri;
  }
}

TEST(SdfInclude, GoesBeforeTheModelsOwnNamePoseAndStatic) {
  const Folder folder("override");
  folder.write("arm/model.sdf", arm());
  const LoadedModel loaded = load(folder.write(
      "w.sdf", around(in_world(include_text("arm", "<name>left</name>" + pose_text("0 0 1 0 0 1.5707963267948966")) +
                               include_text("arm", "<name>right</name><static>true</static>")))));
  EXPECT_LT((pose_of(loaded, "left::tip").p - Vec3(0, 1, 1)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "right::tip").p - Vec3(1, 0, 9)).norm(), kExact);
  EXPECT_EQ(loaded.model.nv(), 6);
}

TEST(SdfInclude, PlacesTheFrameThatItNames) {
  const Folder folder("placement");
  folder.write("arm/model.sdf", arm());
  const auto at = [&](const std::string& more) {
    return pose_of(load(folder.write("w.sdf", around(in_world(include_text("arm", more))))), "tip").p;
  };
  EXPECT_LT((at(pose_text("0 0 1 0 0 0") + "<placement_frame>tip</placement_frame>") - Vec3(0, 0, 1)).norm(), kExact);
  // The model's own placement frame holds for the new pose too.
  folder.write("arm/model.sdf", arm("placement_frame='tip'"));
  EXPECT_LT((at(pose_text("0 0 2 0 0 0")) - Vec3(0, 0, 2)).norm(), kExact);
  EXPECT_LT((at("") - Vec3(0, 0, 9)).norm(), kExact);
  expect_error([&] { at("<placement_frame>tip</placement_frame>"); }, "w.sdf:3", "<pose>");
}

TEST(SdfInclude, NestsModelsInAModel) {
  const Folder folder("nested");
  folder.write("arm/model.sdf", arm());
  const LoadedModel loaded = load(
      folder.write("m.sdf", around("<model name='body'>" + link_text("base") +
                                   include_text("arm", "<name>left</name>" + pose_text("0 2 0 0 0 0")) +
                                   joint_text("j", "revolute", "base", "left::tip", axis_text("0 0 1")) + "</model>")));
  EXPECT_LT((pose_of(loaded, "left::tip").p - Vec3(1, 2, 0)).norm(), kExact);
  EXPECT_EQ(parent_of(loaded, "left::tip"), "base");
}

TEST(SdfInclude, MergesAModelIntoTheOneAround) {
  const Folder folder("merge");
  folder.write("arm/model.sdf", arm("", link_text("far", pose_text("1 0 0 0 0 0", "relative_to='tip'"))));
  const LoadedModel loaded = load(
      folder.write("m.sdf", around("<model name='body'>" + link_text("base") + "<include merge='true'><uri>arm</uri>" +
                                   pose_text("0 2 0 0 0 0") + "</include>" +
                                   joint_text("j", "revolute", "base", "far", axis_text("0 0 1")) + "</model>")));
  EXPECT_LT((pose_of(loaded, "tip").p - Vec3(1, 2, 0)).norm(), kExact);
  EXPECT_LT((pose_of(loaded, "far").p - Vec3(2, 2, 0)).norm(), kExact);
  EXPECT_EQ(parent_of(loaded, "far"), "base");
}

TEST(SdfInclude, ReadsEachFileByItsOwnVersion) {
  const Folder folder("version");
  // An axis in a file of 1.4 is in the model's frame, also if the file around is of 1.9.
  folder.write("old.sdf", around(in_model(link_text("a") + link_text("b", pose_text("0 0 0 0 0 1.5707963267948966")) +
                                          joint_text("j", "revolute", "a", "b", axis_text("1 0 0"))),
                                 "1.4"));
  const LoadedModel loaded = load(folder.write("w.sdf", around(in_world(include_text("old.sdf")))));
  EXPECT_LT((axis_of(loaded, "j") - Vec3(1, 0, 0)).norm(), kExact);
}

TEST(SdfInclude, KnowsTheSunAndTheGroundPlane) {
  const LoadedModel loaded = load_inside(
      in_world(include_text("model://sun") + include_text("model://ground_plane") + in_model(link_text("a"))));
  EXPECT_EQ(loaded.model.bodies().size(), 3u);
  EXPECT_TRUE(std::holds_alternative<Plane>(loaded.model.shapes().at(0).geometry));
  EXPECT_EQ(loaded.model.shapes()[0].material.friction, 100);
  EXPECT_EQ(warnings_of(loaded, "sdf.light"), 1);
  EXPECT_EQ(warnings_of(loaded, "sdf.stock_model"), 1);
}

TEST(SdfInclude, FindsCycles) {
  const Folder folder("cycle");
  folder.write("a.sdf", around("<model name='a'>" + include_text("b.sdf") + "</model>"));
  folder.write("b.sdf", around("<model name='b'>" + include_text("a.sdf") + "</model>"));
  expect_error([&] { load(folder.write("w.sdf", around(in_world(include_text("a.sdf"))))); }, "b.sdf:2",
               "includes itself");
  expect_error([&] { load(folder.at("a.sdf")); }, "includes itself");
}

TEST(SdfInclude, IsBoundedInDepthAndNumber) {
  const Folder folder("bounds");
  for (int i = 0; i < 20; ++i) {
    folder.write(numbered("m", i) + ".sdf", around("<model name='m" + std::to_string(i) + "'>" + link_text("l") +
                                                   include_text(numbered("m", i + 1) + ".sdf") + "</model>"));
  }
  expect_error([&] { load(folder.at("m0.sdf")); }, "m16.sdf", "16 deep");
  // Each file includes the next one ten times: 10^k models.
  for (int i = 0; i < 10; ++i) {
    std::string ten;
    for (int k = 0; k < 10; ++k)
      ten += include_text(numbered("x", i + 1) + ".sdf", "<name>n" + std::to_string(k) + "</name>");
    folder.write(numbered("x", i) + ".sdf", around("<model name='m'>" + link_text("l") + ten + "</model>"));
  }
  folder.write("x10.sdf", around(in_model(link_text("l"))));
  expect_error([&] { load(folder.at("x0.sdf")); }, "more than 1000 models");
}

TEST(SdfInclude, StaysInItsFolders) {
  const Folder folder("escape");
  folder.write("secret.sdf", arm());
  folder.write("in/dummy", "");
  for (const std::string& uri :
       {std::string("../secret.sdf"), folder.at("secret.sdf"), "file://" + folder.at("secret.sdf")}) {
    expect_error([&] { load(folder.write("in/w.sdf", around(in_world(include_text(uri))))); }, "w.sdf:3", "outside");
  }
  folder.write("in/bad/model.config", "<model><sdf version='1.9'>../../secret.sdf</sdf></model>");
  expect_error([&] { load(folder.write("in/w.sdf", around(in_world(include_text("bad"))))); }, "w.sdf:3", "outside");
}

TEST(SdfInclude, SaysWhatIsWrongWithWhatItFinds) {
  const Folder folder("wrong");
  folder.write("urdf.urdf", "<robot name='r'/>");
  folder.write("world.sdf", around(in_world("")));
  folder.write("none/model.config", "<model/>");
  folder.write("broken.sdf", "<sdf version='1.9'>\n<model");
  folder.write("empty/readme", "");
  const auto with = [&](const std::string& uri) {
    return [&, uri] { load(folder.write("w.sdf", around(in_world(include_text(uri))))); };
  };
  expect_error(with("urdf.urdf"), "w.sdf:3", "<robot>");
  expect_error(with("world.sdf"), "w.sdf:3", "world");
  expect_error(with("none"), "model.config:1", "names no <sdf>");
  expect_error(with("broken.sdf"), "broken.sdf:2");
  expect_error(with("empty"), "w.sdf:3", "model.sdf");
  expect_error(with("https://fuel.gazebosim.org/x"), "w.sdf:3", "download");
  expect_error(with("model://nowhere"), "w.sdf:3", "nowhere");
  expect_error(with(""), "w.sdf:3", "empty");
}

}  // namespace
}  // namespace lithe::test::sdf
