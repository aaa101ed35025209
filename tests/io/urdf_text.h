#pragma once

#include <optional>
#include <string>

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

}  // namespace lithe::test
