#include "tests/io/hull_files.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

namespace lithe::test {

namespace fs = std::filesystem;

std::vector<Vec3> egg_points(int count) {
  std::vector<Vec3> points;
  for (int i = 0; i < count; ++i) {
    const double z = 1 - (2 * i + 1.0) / count, r = std::sqrt(1 - z * z), turn = 2.4 * i;
    points.emplace_back(0.1 * r * std::cos(turn), 0.08 * r * std::sin(turn) + 0.01, 0.12 * z + 0.02 * z * z);
  }
  return points;
}

void write_points(const fs::path& file, const std::vector<Vec3>& points) {
  std::ofstream out(file);
  for (const Vec3& p : points) out << fmt::format("v {} {} {}\n", p.x(), p.y(), p.z());
  for (std::size_t i = 3; i <= points.size(); ++i) out << fmt::format("f {} {} {}\n", i - 2, i - 1, i);
}

std::string write_ball_robot(const fs::path& folder) {
  write_points(folder / "ball.obj", egg_points(900));
  const fs::path file = folder / "ball.urdf";
  std::ofstream(file) << R"(<robot name="ball"><link name="ball">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="ball.obj"/></geometry></collision></link></robot>)";
  return file.string();
}

}  // namespace lithe::test
