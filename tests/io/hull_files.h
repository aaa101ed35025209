#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lithe/core/eigen.h"

namespace lithe::test {

// Points all over an ellipsoid of about 0.2 m, without any symmetry.
std::vector<Vec3> egg_points(int count);

// Writes the points as an .obj file with some triangles.
void write_points(const std::filesystem::path& file, const std::vector<Vec3>& points);

// A robot of one link that collides as such a mesh, beside it; the name of its URDF file.
std::string write_ball_robot(const std::filesystem::path& folder);

}  // namespace lithe::test
