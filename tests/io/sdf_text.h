#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <unistd.h>

#include "lithe/io/load.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/model_files.h"

namespace lithe::test::sdf {

// "l" and 3: "l3".
inline std::string numbered(std::string name, int number) { return name.append(std::to_string(number)); }

inline constexpr double kExact = 1e-12;  // how far exact results may be off
inline constexpr double kHalfPi = 1.5707963267948966;

// An SDF file around `inside`, whose first line is line 2 of the file.
inline std::string around(const std::string& inside, const std::string& version = "1.9") {
  return "<sdf version=\"" + version + "\">\n" + inside + "\n</sdf>\n";
}
inline std::string in_model(const std::string& inside) { return "<model name=\"m\">\n" + inside + "\n</model>"; }
inline std::string in_world(const std::string& inside) { return "<world name=\"w\">\n" + inside + "\n</world>"; }

inline LoadedModel load_inside(const std::string& inside, const std::string& version = "1.9",
                               const LoadOptions& options = {}) {
  return load_text(around(inside, version), "robot.sdf", options);
}
inline LoadedModel load_model(const std::string& inside, const std::string& version = "1.9",
                              const LoadOptions& options = {}) {
  return load_inside(in_model(inside), version, options);
}

inline std::string link_text(const std::string& name, const std::string& more = "") {
  return "<link name=\"" + name + "\">" + more + "</link>\n";
}
inline std::string pose_text(const std::string& numbers, const std::string& attributes = "") {
  return "<pose " + attributes + ">" + numbers + "</pose>";
}
inline std::string joint_text(const std::string& name, const std::string& type, const std::string& parent,
                              const std::string& child, const std::string& more = "") {
  return "<joint name=\"" + name + "\" type=\"" + type + "\"><parent>" + parent + "</parent><child>" + child +
         "</child>" + more + "</joint>\n";
}
inline std::string axis_text(const std::string& xyz, const std::string& more = "") {
  return "<axis><xyz>" + xyz + "</xyz>" + more + "</axis>";
}
inline std::string collision_text(const std::string& geometry, const std::string& more = "") {
  return "<collision name=\"c\"><geometry>" + geometry + "</geometry>" + more + "</collision>";
}

// The motion of a joint at its entries of q, from the definition of its type.
inline Pose motion(const Joint& joint, const VecX& q) {
  const double x = q[joint.q_index];
  switch (joint.type) {
    case JointType::revolute: return Pose::rotation(rotation_about(joint.axis, x));
    case JointType::prismatic: return Pose::translation(x * joint.axis);
    case JointType::screw: return {rotation_about(joint.axis, x), joint.pitch * x * joint.axis};
    case JointType::ball: return Pose::rotation(rotation_from_quaternion(q.segment<4>(joint.q_index)));
  }
  return {};
}

// Where a body is at q, link by link from the world.
inline Pose pose_of(const Model& model, BodyIndex index, const VecX& q) {
  if (index == Model::world()) return {};
  const Body& body = model.bodies()[index];
  Pose X = pose_of(model, body.parent, q);
  for (const JointIndex j : body.joints) X = X * model.joints()[j].placement * motion(model.joints()[j], q);
  return X * body.placement;
}
inline Pose pose_of(const LoadedModel& loaded, const std::string& body) {
  return pose_of(loaded.model, loaded.model.body(body), loaded.q);
}

// A joint's axis in the world, at the state that the file starts in.
inline Vec3 axis_of(const LoadedModel& loaded, const std::string& name) {
  const Model& model = loaded.model;
  const Joint& joint = model.joints()[model.joint(name)];
  const Body& body = model.bodies()[joint.body];
  Pose X = pose_of(model, body.parent, loaded.q);
  for (const JointIndex j : body.joints) {
    X = X * model.joints()[j].placement;
    if (model.joints()[j].name == name) return X.R * joint.axis;
    X = X * motion(model.joints()[j], loaded.q);
  }
  return Vec3::Zero();
}

inline const Joint& joint_named(const LoadedModel& loaded, const std::string& name) {
  return loaded.model.joints()[loaded.model.joint(name)];
}
inline const Body& body_named(const LoadedModel& loaded, const std::string& name) {
  return loaded.model.bodies()[loaded.model.body(name)];
}
inline std::string parent_of(const LoadedModel& loaded, const std::string& name) {
  return loaded.model.bodies()[body_named(loaded, name).parent].name;
}

// How often a kind of warning was given; 0 if never.
inline int warnings_of(const LoadedModel& loaded, const std::string& kind) {
  for (const LoadWarning& warning : loaded.warnings) {
    if (warning.kind == kind) return warning.count;
  }
  return 0;
}

// A folder of one test alone, removed at its end.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("lithe_sdf_" + name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    path_ = std::filesystem::canonical(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string at(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace lithe::test::sdf
