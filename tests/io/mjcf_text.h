#pragma once

#include <string>

#include "lithe/io/load.h"
#include "tests/io/urdf_text.h"

namespace lithe::test {

// An MJCF around `inside`, whose first line is line 2 of the file.
inline std::string mjcf_around(const std::string& inside) { return "<mujoco>\n" + inside + "\n</mujoco>\n"; }

inline LoadedModel load_mjcf_text(const std::string& inside, const LoadOptions& options = {}) {
  return load_text(mjcf_around(inside), "robot.xml", options);
}

// The same with only a <worldbody>, whose content begins in line 2.
inline LoadedModel load_world(const std::string& bodies, const LoadOptions& options = {}) {
  return load_mjcf_text("<worldbody>" + bodies + "</worldbody>", options);
}

// A body of 1 kg with unit moments, and what else is in it.
inline std::string heavy_body(const std::string& name, const std::string& more = "") {
  return "<body name=\"" + name + "\"><inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>" + more + "</body>";
}

inline const Body& body_of(const LoadedModel& loaded, const std::string& name) {
  return loaded.model.bodies()[loaded.model.body(name)];
}
inline const Joint& joint_of(const LoadedModel& loaded, const std::string& name) {
  return loaded.model.joints()[loaded.model.joint(name)];
}
inline const Shape& shape_of(const LoadedModel& loaded, const std::string& name) {
  return loaded.model.shapes()[loaded.model.shape(name)];
}

}  // namespace lithe::test
