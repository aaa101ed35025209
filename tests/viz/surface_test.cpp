#include "lithe/viz/document/internal/surface.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <map>
#include <numbers>
#include <tuple>

namespace lithe::test {

using namespace internal;
namespace {

Vec3 triple(const std::vector<float>& values, std::uint32_t i) {
  return Vec3(values[3 * i], values[3 * i + 1], values[3 * i + 2]);
}

// By the divergence theorem; positive where triangles are anticlockwise seen from outside.
double volume(const Surface& surface) {
  double sum = 0;
  for (std::size_t i = 0; i < surface.triangles.size(); i += 3) {
    const Vec3 a = triple(surface.positions, surface.triangles[i]),
               b = triple(surface.positions, surface.triangles[i + 1]),
               c = triple(surface.positions, surface.triangles[i + 2]);
    sum += a.dot(b.cross(c)) / 6;
  }
  return sum;
}

// Every side of a triangle is run in both directions equally often, so there is no hole.
void expect_closed(const Surface& surface) {
  using Place = std::tuple<long, long, long>;
  const auto place = [&](std::uint32_t i) {
    const Vec3 p = triple(surface.positions, i) * 1e5;
    return Place(std::lround(p.x()), std::lround(p.y()), std::lround(p.z()));
  };
  std::map<std::pair<Place, Place>, int> sides;
  for (std::size_t i = 0; i < surface.triangles.size(); i += 3) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Place from = place(surface.triangles[i + k]), to = place(surface.triangles[i + (k + 1) % 3]);
      ++sides[{from, to}];
      --sides[{to, from}];
    }
  }
  for (const auto& [side, balance] : sides) ASSERT_EQ(balance, 0);
}

void expect_normals_fit(const Surface& surface) {
  ASSERT_EQ(surface.normals.size(), surface.positions.size());
  for (std::size_t i = 0; i < surface.triangles.size(); i += 3) {
    const Vec3 a = triple(surface.positions, surface.triangles[i]),
               b = triple(surface.positions, surface.triangles[i + 1]),
               c = triple(surface.positions, surface.triangles[i + 2]);
    const Vec3 normal = (b - a).cross(c - a).normalized();
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 n = triple(surface.normals, surface.triangles[i + k]);
      EXPECT_NEAR(n.norm(), 1, 1e-6);
      EXPECT_GT(n.dot(normal), 0.9);
    }
  }
}

void expect_solid(const ShowShape& shape, double true_volume, double tolerance) {
  const Surface surface = surface_of(shape);
  expect_closed(surface);
  expect_normals_fit(surface);
  EXPECT_NEAR(volume(surface), true_volume, tolerance * true_volume);
}

TEST(Surface, EnclosesTheVolumeOfItsShape) {
  using std::numbers::pi;
  const double r = 0.2, h = 0.5;
  expect_solid({.name = "", .geometry = Sphere{r}}, 4 * pi / 3 * r * r * r, 0.02);
  expect_solid({.name = "", .geometry = Capsule{r, h}}, 4 * pi / 3 * r * r * r + 2 * pi * r * r * h, 0.02);
  expect_solid({.name = "", .geometry = Capsule{r, 0}}, 4 * pi / 3 * r * r * r, 0.02);
  expect_solid({.name = "", .geometry = Cylinder{r, h}}, 2 * pi * r * r * h, 0.01);
  expect_solid({.name = "", .geometry = Box{Vec3(1, 2, 3)}}, 48, 1e-6);
  const ShowMesh tetrahedron = {{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)},
                                {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3}};
  expect_solid({.name = "", .geometry = tetrahedron}, 1.0 / 6, 1e-6);
}

TEST(Surface, OfAPlaneIsASquareThatLooksUp) {
  const Surface surface = surface_of({.name = "", .geometry = Plane{}});
  EXPECT_EQ(surface.triangles.size(), 6u);
  expect_normals_fit(surface);
  EXPECT_EQ(triple(surface.normals, 0), Vec3(0, 0, 1));
}

TEST(Surface, LeavesOutTrianglesWithoutArea) {
  const ShowMesh flat = {{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(2, 0, 0)}, {0, 1, 2, 0, 0, 1}};
  EXPECT_TRUE(surface_of({.name = "", .geometry = flat}).triangles.empty());
  EXPECT_TRUE(surface_of({.name = "", .geometry = ShowMesh{}}).triangles.empty());
}

}  // namespace
}  // namespace lithe::test
