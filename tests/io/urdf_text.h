#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <unistd.h>

#include "lithe/io/load.h"
#include "tests/support/model_files.h"

namespace lithe::test {

// A URDF around `inside`, whose first line is line 2 of the file.
inline std::string urdf_around(const std::string& inside) { return "<robot name=\"r\">\n" + inside + "\n</robot>\n"; }

inline LoadedModel load_urdf_text(const std::string& inside, const LoadOptions& options = {}) {
  return load_text(urdf_around(inside), "robot.urdf", options);
}

// An inertia that needs no thought.
inline constexpr const char* kUnitInertial =
    "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>";

// A link of 1 kg.
inline std::string heavy_link(const std::string& name, const std::string& more = "") {
  return "<link name=\"" + name + "\">" + kUnitInertial + more + "</link>\n";
}

inline std::string joint_text(const std::string& name, const std::string& type, const std::string& parent,
                              const std::string& child, const std::string& more = "") {
  return "<joint name=\"" + name + "\" type=\"" + type + "\"><parent link=\"" + parent + "\"/><child link=\"" + child +
         "\"/>" + more + "</joint>\n";
}

// The world, a heavy link "b" and a joint "j" between.
inline std::string on_world(const std::string& type, const std::string& more = "") {
  return "<link name=\"world\"/>" + heavy_link("b") + joint_text("j", type, "world", "b", more);
}

// How often a kind of warning was given; 0 if never.
inline int warning_count(const LoadedModel& loaded, const std::string& kind) {
  for (const LoadWarning& warning : loaded.warnings) {
    if (warning.kind == kind) return warning.count;
  }
  return 0;
}

// A folder of this test alone, removed when it goes out of scope.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    path_ = std::filesystem::canonical(path_);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string at(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return at(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace lithe::test
