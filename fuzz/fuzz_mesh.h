#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lithe/io/mesh.h"
#include "lithe/io/source_place.h"

namespace lithe {

// Bytes become a mesh that is valid and within the limits, or a LoadError that names the file, on one line. Whatever
// else is thrown is a finding.
template <class Parse>
void fuzz_mesh(Parse parse, const std::uint8_t* data, std::size_t size) {
  const auto require = [](bool condition, const char* what) {
    if (condition) return;
    fmt::print(stderr, "fuzz_mesh: {}\n", what);
    std::abort();
  };
  LoadLimits limits = LoadLimits::untrusted();
  limits.elements = limits.mesh_vertices = limits.mesh_triangles = 10'000;
  try {
    const TriangleMesh mesh = parse(std::string_view(reinterpret_cast<const char*>(data), size), "mesh", limits);
    const auto vertices = static_cast<std::int32_t>(mesh.vertices.size());
    require(!mesh.triangles.empty(), "a mesh without triangles");
    require(vertices <= limits.mesh_vertices, "more vertices than allowed");
    require(mesh.triangles.size() <= static_cast<std::size_t>(limits.mesh_triangles), "more triangles than allowed");
    for (const Vec3& p : mesh.vertices) require(p.allFinite(), "a vertex that is not finite");
    for (const auto& triangle : mesh.triangles) {
      for (const std::int32_t i : triangle) require(i >= 0 && i < vertices, "an index out of range");
    }
  } catch (const LoadError& error) {
    const std::string_view text = error.what();
    require(text.starts_with("mesh:"), "an error without the file");
    require(text.find('\n') == std::string_view::npos, "an error of several lines");
  }
}

}  // namespace lithe
