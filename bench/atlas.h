#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tinyxml2.h>
#include <vector>

#include "lithe/model/model_builder.h"
#include "lithe/spatial/rotation.h"

namespace lithe::bench {

// Just enough of URDF and STL to put Atlas's collision meshes on its joints: a benchmark's workload, not a loader.

inline Vec3 three_numbers(const char* text) {
  Vec3 v = Vec3::Zero();
  if (text) std::istringstream(text) >> v.x() >> v.y() >> v.z();
  return v;
}

inline Pose urdf_origin(const tinyxml2::XMLElement* element) {
  const tinyxml2::XMLElement* origin = element ? element->FirstChildElement("origin") : nullptr;
  if (!origin) return {};
  const Vec3 rpy = three_numbers(origin->Attribute("rpy"));
  return {rotation_about(Vec3::UnitZ(), rpy.z()) * rotation_about(Vec3::UnitY(), rpy.y()) *
              rotation_about(Vec3::UnitX(), rpy.x()),
          three_numbers(origin->Attribute("xyz"))};
}

inline std::vector<Vec3> binary_stl_points(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 84> header;
  if (!file.read(header.data(), header.size())) throw std::runtime_error("cannot read " + path.string());
  std::uint32_t triangles = 0;
  std::memcpy(&triangles, header.data() + 80, sizeof triangles);
  std::vector<Vec3> points;
  std::array<char, 50> facet;
  for (std::uint32_t i = 0; i < triangles && file.read(facet.data(), facet.size()); ++i) {
    float corners[9];
    std::memcpy(corners, facet.data() + 12, sizeof corners);
    for (int k = 0; k < 3; ++k) points.emplace_back(corners[3 * k], corners[3 * k + 1], corners[3 * k + 2]);
  }
  return points;
}

// The robot on a free root, with its 29 hulls, over a box whose top is z = 0. Throws if a file is
// missing.
inline ModelBuilder atlas_over_box(const std::filesystem::path& folder) {
  const std::filesystem::path urdf = folder / "atlas_v3.urdf";
  tinyxml2::XMLDocument document;
  if (document.LoadFile(urdf.c_str()) != tinyxml2::XML_SUCCESS)
    throw std::runtime_error("cannot read " + urdf.string());
  const tinyxml2::XMLElement* robot = document.RootElement();
  std::map<std::string, const tinyxml2::XMLElement*> joint_above;
  for (auto* joint = robot->FirstChildElement("joint"); joint; joint = joint->NextSiblingElement("joint")) {
    joint_above[joint->FirstChildElement("child")->Attribute("link")] = joint;
  }

  ModelBuilder builder;
  int hulls = 0;
  builder.add_shape("world",
                    {.name = "ground", .geometry = Box{Vec3(5, 5, 0.5)}, .placement = Pose::translation(0, 0, -0.5)});
  for (auto* link = robot->FirstChildElement("link"); link; link = link->NextSiblingElement("link")) {
    const std::string name = link->Attribute("name");
    Body body = {.name = name, .inertia = SpatialInertia::sphere(1, 0.1)};
    const auto above = joint_above.find(name);
    if (above == joint_above.end()) {
      builder.add_body("world", body, free_joint("root"));
    } else {
      const tinyxml2::XMLElement* joint = above->second;
      const std::string parent = joint->FirstChildElement("parent")->Attribute("link");
      const Pose placement = urdf_origin(joint);
      if (std::string(joint->Attribute("type")) == "fixed") {
        body.placement = placement;
        builder.add_body(parent, body);
      } else {
        const Vec3 axis = three_numbers(joint->FirstChildElement("axis")->Attribute("xyz"));
        builder.add_body(parent, body, revolute(joint->Attribute("name"), axis, placement));
      }
    }
    for (auto* part = link->FirstChildElement("collision"); part; part = part->NextSiblingElement("collision")) {
      const tinyxml2::XMLElement* mesh = part->FirstChildElement("geometry")->FirstChildElement("mesh");
      if (!mesh) continue;
      std::filesystem::path file = folder / std::filesystem::path(mesh->Attribute("filename")).filename();
      // Copies of the robot without the back pack's mesh exist; the torso's then stands in for it.
      if (!std::filesystem::exists(file)) file = folder / "utorso.stl";
      const int number = hulls++;
      builder.add_shape(name, {.name = "hull_" + std::to_string(number),
                               .geometry = ConvexMesh{binary_stl_points(file)},
                               .placement = urdf_origin(part)});
    }
  }
  return builder;
}

}  // namespace lithe::bench
