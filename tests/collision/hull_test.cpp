#include "lithe/collision/hull.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "lithe/collision/hull_facets.h"
#include "lithe/core/check.h"
#include "tests/support/error_text.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {
namespace {

constexpr double kPi = std::numbers::pi;

int size_of(const auto& items) { return static_cast<int>(items.size()); }

using Points = std::vector<Vec3>;

Points cube_corners() { return box_hull(Vec3::Ones()).vertices; }

// A cube of half size 1 with n × n points on each face, and so n on each edge.
Points cube_grid(int n) {
  Points points;
  const auto place = [n](int i) { return -1 + 2.0 * i / (n - 1); };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) points.emplace_back(place(i), place(j), place(k));
    }
  }
  return points;
}

Points on_sphere(int n, std::mt19937_64& random) {
  Points points;
  for (int i = 0; i < n; ++i) points.push_back(random_vec3(random).normalized());
  return points;
}

// A regular polygon with n corners and radius 1 at the height z.
Points polygon(int n, double z) {
  Points points;
  for (int i = 0; i < n; ++i) points.emplace_back(std::cos(2 * kPi * i / n), std::sin(2 * kPi * i / n), z);
  return points;
}

Points joined(Points a, const Points& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Hull hull_of(const Points& points) {
  HullResult result = build_hull(points, "shape");
  EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
  return std::move(result.hull);
}

// How far x is outside.
double height_above(const Hull& hull, const Vec3& x) {
  double highest = -1e300;
  for (const Hull::Face& face : hull.faces) highest = std::max(highest, face.normal.dot(x) - face.offset);
  return highest;
}

int brute_force_support(const Hull& hull, const Vec3& d) {
  int best = 0;
  for (int i = 1; i < size_of(hull.vertices); ++i) {
    if (d.dot(hull.vertices[i]) > d.dot(hull.vertices[best])) best = i;
  }
  return best;
}

double volume(const Hull& hull) {
  double sum = 0;
  for (const Hull::Face& face : hull.faces) {
    sum += face.area * (face.offset - face.normal.dot(hull.centre)) / 3;
  }
  return sum;
}

void expect_closed_surface(const Hull& hull) {
  // Euler: V − E + F = 2.
  EXPECT_EQ(size_of(hull.vertices) - size_of(hull.edges) + size_of(hull.faces), 2);
  std::map<std::pair<int, int>, int> face_of;  // of each directed side
  std::set<int> used;
  for (int f = 0; f < size_of(hull.faces); ++f) {
    const auto ring = hull.face_vertices(f);
    EXPECT_GE(ring.size(), 3u);
    EXPECT_EQ(ring[0], *std::min_element(ring.begin(), ring.end()));
    for (std::size_t k = 0; k < ring.size(); ++k) {
      used.insert(ring[k]);
      EXPECT_TRUE(face_of.emplace(std::pair(ring[k], ring[(k + 1) % ring.size()]), f).second);
    }
  }
  EXPECT_EQ(used.size(), hull.vertices.size());
  EXPECT_EQ(face_of.size(), 2 * hull.edges.size());
  std::pair<int, int> previous = {-1, -1};
  for (const Hull::Edge& edge : hull.edges) {
    const auto [low, high] = edge.vertex;
    EXPECT_LT(low, high);
    EXPECT_LT(previous, std::pair(low, high));
    previous = {low, high};
    EXPECT_EQ(face_of.at({low, high}), edge.face[0]);
    EXPECT_EQ(face_of.at({high, low}), edge.face[1]);
    EXPECT_LT((edge.direction - (hull.vertices[high] - hull.vertices[low]).normalized()).norm(), 1e-14);
  }
}

void expect_consistent_adjacency(const Hull& hull) {
  std::size_t neighbours = 0, faces = 0;
  for (int v = 0; v < size_of(hull.vertices); ++v) {
    const auto around = hull.neighbours_of(v);
    neighbours += around.size();
    EXPECT_TRUE(std::is_sorted(around.begin(), around.end()));
    for (std::size_t k = 0; k < around.size(); ++k) {
      const int edge = hull.edges_of(v)[k];
      EXPECT_EQ(hull.edge_between(v, around[k]), edge);
      EXPECT_EQ(hull.edge_between(around[k], v), edge);
      EXPECT_EQ(hull.edges[edge].vertex[0] + hull.edges[edge].vertex[1], v + around[k]);
    }
    faces += hull.faces_of(v).size();
    EXPECT_EQ(hull.faces_of(v).size(), around.size());
    for (const int f : hull.faces_of(v)) {
      const auto ring = hull.face_vertices(f);
      EXPECT_EQ(std::count(ring.begin(), ring.end(), v), 1);
    }
    EXPECT_EQ(hull.edge_between(v, v), -1);
  }
  EXPECT_EQ(neighbours, 2 * hull.edges.size());
  EXPECT_EQ(faces, hull.ring.size());
}

// `flatness`: how far a face's own vertices may lie below its plane, relative to the radius.
void expect_planes_hold(const Hull& hull, double flatness) {
  const double rounding = 1e-14 * (hull.radius + hull.centre.norm());
  double width = 1e300;
  for (const Hull::Face& face : hull.faces) {
    EXPECT_NEAR(face.normal.norm(), 1, 1e-14);
    double low = 1e300, high = -1e300;
    for (const Vec3& x : hull.vertices) {
      low = std::min(low, face.normal.dot(x));
      high = std::max(high, face.normal.dot(x));
    }
    EXPECT_NEAR(high, face.offset, rounding);
    width = std::min(width, high - low);
    Vec3 area = Vec3::Zero();
    for (int k = face.first; k < face.first + face.count; ++k) {
      const Vec3& x = hull.vertices[hull.ring[k]];
      const Vec3& next = hull.vertices[hull.ring[k + 1 < face.first + face.count ? k + 1 : face.first]];
      EXPECT_GT(face.normal.dot(x), face.offset - flatness * hull.radius - rounding);
      area += 0.5 * (x - hull.centre).cross(next - hull.centre);
      const Hull::Side& side = hull.sides[k];
      EXPECT_NEAR(side.normal.norm(), 1, 1e-14);
      EXPECT_NEAR(side.normal.dot(face.normal), 0, 1e-12);
      EXPECT_NEAR(side.normal.dot(x), side.offset, rounding);
      EXPECT_NEAR(side.normal.dot(next), side.offset, rounding);
    }
    // Counter-clockwise from outside.
    EXPECT_NEAR(area.dot(face.normal), face.area, 1e-10 * hull.radius * hull.radius);
    EXPECT_GT(face.area, 0);
  }
  EXPECT_NEAR(hull.width, width, 2 * rounding);
}

void expect_bounds_hold(const Hull& hull) {
  const double rounding = 1e-14 * (hull.radius + hull.centre.norm());
  Vec3 mean = Vec3::Zero();
  double farthest = 0;
  for (const Vec3& x : hull.vertices) {
    mean += x / static_cast<double>(hull.vertices.size());
    farthest = std::max(farthest, (x - hull.centre).norm());
    EXPECT_LE(((x - hull.box_centre).cwiseAbs() - hull.box_half).maxCoeff(), rounding);
  }
  EXPECT_LT((mean - hull.centre).norm(), rounding * 10);
  EXPECT_EQ(farthest, hull.radius);
  EXPECT_LT(height_above(hull, hull.centre), 0);
}

void expect_packs_repeat(const Hull& hull) {
  ASSERT_EQ(size_of(hull.x), hull.vertex_packs() * kLanes);
  ASSERT_EQ(size_of(hull.offset), hull.face_packs() * kLanes);
  for (int i = 0; i < size_of(hull.x); ++i) {
    EXPECT_EQ(Vec3(hull.x[i], hull.y[i], hull.z[i]), hull.vertices[i < size_of(hull.vertices) ? i : 0]);
  }
  for (int i = 0; i < size_of(hull.offset); ++i) {
    const Hull::Face& face = hull.faces[i < size_of(hull.faces) ? i : 0];
    EXPECT_EQ(Vec3(hull.normal_x[i], hull.normal_y[i], hull.normal_z[i]), face.normal);
    EXPECT_EQ(hull.offset[i], face.offset);
  }
}

void expect_ranks_are_orders(const Hull& hull) {
  for (const Hull::Face& face : hull.faces) {
    std::vector<int> ranks(&hull.rank[face.first], &hull.rank[face.first] + face.count);
    std::sort(ranks.begin(), ranks.end());
    for (int k = 0; k < face.count; ++k) EXPECT_EQ(ranks[k], k);
  }
}

void expect_valid(const Hull& hull, double flatness = 1e-13) {
  expect_closed_surface(hull);
  expect_consistent_adjacency(hull);
  expect_planes_hold(hull, flatness);
  expect_bounds_hold(hull);
  expect_packs_repeat(hull);
  expect_ranks_are_orders(hull);
}

void expect_same(const Hull& a, const Hull& b) {
  EXPECT_EQ(a.vertices, b.vertices);
  EXPECT_EQ(a.ring, b.ring);
  EXPECT_EQ(a.rank, b.rank);
  ASSERT_EQ(a.faces.size(), b.faces.size());
  for (std::size_t f = 0; f < a.faces.size(); ++f) {
    EXPECT_EQ(a.faces[f].normal, b.faces[f].normal);
    EXPECT_EQ(a.faces[f].offset, b.faces[f].offset);
    EXPECT_EQ(a.faces[f].first, b.faces[f].first);
  }
}

bool before(const Vec3& a, const Vec3& b) {
  return std::lexicographical_compare(a.data(), a.data() + 3, b.data(), b.data() + 3);
}

// Vertices and faces in an order that does not depend on the numbering.
std::set<std::vector<double>> faces_by_coordinates(const Hull& hull) {
  std::set<std::vector<double>> result;
  for (int f = 0; f < size_of(hull.faces); ++f) {
    Points corners;
    for (const int v : hull.face_vertices(f)) corners.push_back(hull.vertices[v]);
    std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end(), before), corners.end());
    std::vector<double> numbers;
    for (const Vec3& x : corners) numbers.insert(numbers.end(), x.data(), x.data() + 3);
    result.insert(numbers);
  }
  return result;
}

TEST(BoxHull, NumbersVerticesByBitsAndFacesByAxes) {
  const Vec3 h(1, 2, 3);
  const Hull box = box_hull(h);
  expect_valid(box);
  ASSERT_EQ(box.vertices.size(), 8u);
  EXPECT_EQ(box.vertices[0], Vec3(-1, -2, -3));
  EXPECT_EQ(box.vertices[1], Vec3(1, -2, -3));
  EXPECT_EQ(box.vertices[2], Vec3(-1, 2, -3));
  EXPECT_EQ(box.vertices[4], Vec3(-1, -2, 3));
  ASSERT_EQ(box.faces.size(), 6u);
  for (int f = 0; f < 6; ++f) {
    const int axis = f / 2;
    EXPECT_EQ(box.faces[f].normal, (f % 2 == 0 ? 1 : -1) * Vec3::Unit(axis));
    EXPECT_EQ(box.faces[f].offset, h[axis]);
    EXPECT_EQ(box.faces[f].area, 4 * h[(axis + 1) % 3] * h[(axis + 2) % 3]);
  }
  EXPECT_EQ(box.edges.size(), 12u);
  EXPECT_EQ(box.width, 2);
  EXPECT_EQ(box.radius, h.norm());
  EXPECT_EQ(box.centre, Vec3::Zero());
  EXPECT_EQ(box.box_half, h);
  EXPECT_EQ(box.edge_between(0, 7), -1);
  EXPECT_EQ(box.edge_between(0, 1), 0);
}

TEST(BoxHull, KeepsItsDirectionsWhenSizesAreZero) {
  const Hull cube = box_hull(Vec3::Ones());
  for (const Vec3& h : {Vec3(1, 2, 0), Vec3(0, 0, 3), Vec3(0, 0, 0)}) {
    const Hull flat = box_hull(h);
    EXPECT_EQ(flat.ring, cube.ring);
    EXPECT_EQ(flat.rank, cube.rank);
    EXPECT_EQ(flat.width, 0);
    EXPECT_EQ(flat.radius, h.norm());
    for (int f = 0; f < 6; ++f) {
      EXPECT_EQ(flat.faces[f].normal, cube.faces[f].normal);
      EXPECT_EQ(flat.faces[f].offset, h[f / 2]);
    }
    for (std::size_t e = 0; e < 12; ++e) EXPECT_EQ(flat.edges[e].direction, cube.edges[e].direction);
    for (std::size_t k = 0; k < 24; ++k) EXPECT_EQ(flat.sides[k].normal, cube.sides[k].normal);
  }
}

TEST(BuildHull, MakesABoxOfItsCorners) {
  const Hull box = box_hull(Vec3(1, 2, 3));
  const Hull hull = hull_of(box.vertices);
  expect_valid(hull);
  EXPECT_EQ(hull.vertices, box.vertices);
  EXPECT_EQ(faces_by_coordinates(hull), faces_by_coordinates(box));
  EXPECT_EQ(hull.width, box.width);
}

TEST(BuildHull, NumbersVerticesInOrderOfFirstAppearance) {
  Points points = cube_corners();
  std::reverse(points.begin(), points.end());
  Points with_others = {Vec3::Zero(), points[0], points[0]};  // one inside, one twice
  with_others.insert(with_others.end(), points.begin() + 1, points.end());
  with_others.push_back(points[3]);
  EXPECT_EQ(hull_of(with_others).vertices, points);
}

TEST(BuildHull, DropsPointsOnFacesAndEdgesOfACube) {
  const Hull hull = hull_of(cube_grid(6));
  expect_valid(hull);
  EXPECT_EQ(hull.vertices.size(), 8u);
  EXPECT_EQ(hull.faces.size(), 6u);
  EXPECT_EQ(faces_by_coordinates(hull), faces_by_coordinates(box_hull(Vec3::Ones())));
}

TEST(BuildHull, DropsThemInAnyOrientationWithNoise) {
  for_random_cases(60, [](std::mt19937_64& random) {
    const Mat3 turn = random_rotation(random);
    // From rounding alone to the resolution of files in single precision.
    const double noise = std::pow(10, uniform(random, -17, -7.3));
    Points points;
    for (const Vec3& p : cube_grid(5)) points.push_back(turn * p + noise * random_vec3(random));
    const Hull hull = hull_of(points);
    expect_valid(hull, 1e-6);
    EXPECT_EQ(hull.vertices.size(), 8u);
    EXPECT_EQ(hull.faces.size(), 6u);
  });
}

TEST(BuildHull, MergesThePolygonsOfAPrism) {
  const Hull prism = hull_of(joined(polygon(60, -1), polygon(60, 1)));
  expect_valid(prism);
  EXPECT_EQ(prism.vertices.size(), 120u);
  EXPECT_EQ(prism.faces.size(), 62u);
}

TEST(BuildHull, DoesNotAddUpSmallBends) {
  // A roof of many strips, each bent by a little less than the merge angle against its neighbours.
  constexpr int kStrips = 400;
  Points points;
  for (int i = 0; i <= kStrips; ++i) {
    const double angle = 0.9 * kMergeAngle * (i - 0.5 * kStrips);
    for (const double y : {-1.0, 1.0}) points.emplace_back(50 * std::sin(angle), y, 50 * std::cos(angle));
  }
  points.emplace_back(0, 0, 40);
  const Hull hull = hull_of(points);
  expect_valid(hull, kMergeAngle);
  for (const Vec3& p : points) EXPECT_LT(height_above(hull, p), 2 * kMergeAngle * hull.radius / kStrips);
  // Each roof face takes in one strip on either side of it at most.
  EXPECT_GE(hull.faces.size(), static_cast<std::size_t>(kStrips / 3));
  EXPECT_LE(hull.faces.size(), static_cast<std::size_t>(kStrips + 4));
}

TEST(BuildHull, KeepsEveryPointOfASphere) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const int n = uniform_int(random, 4, 400);
    const Points points = on_sphere(n, random);
    const Hull hull = hull_of(points);
    expect_valid(hull, 0.5 * kMergeAngle);
    EXPECT_EQ(hull.vertices, points);
  });
}

TEST(BuildHull, ContainsItsPoints) {
  for_random_cases(40, [](std::mt19937_64& random) {
    const int n = uniform_int(random, 4, 3000);
    Points points;
    for (int i = 0; i < n; ++i) points.push_back(random_vec3(random).cwiseProduct(Vec3(1, 0.3, 2)) + Vec3(3, -1, 2));
    const Hull hull = hull_of(points);
    expect_valid(hull, kMergeAngle);
    for (const Vec3& p : points) EXPECT_LT(height_above(hull, p), kMergeAngle * hull.radius);
    // Vertices are among the points, in their order.
    auto at = points.begin();
    for (const Vec3& v : hull.vertices) {
      at = std::find(at, points.end(), v);
      ASSERT_NE(at, points.end());
    }
  });
}

TEST(BuildHull, TakesLatticesWithAllTheirTies) {
  for_random_cases(60, [](std::mt19937_64& random) {
    Points points;
    for (int i = 0; i < 150; ++i) {
      const int x = uniform_int(random, -3, 3), y = uniform_int(random, -3, 3), z = uniform_int(random, -3, 3);
      if (std::abs(x) + std::abs(y) + std::abs(z) <= 6) points.emplace_back(x, y, z);
    }
    const Mat3 turn = random_rotation(random);
    Points turned;
    for (const Vec3& p : points) turned.push_back(turn * p);
    const Hull hull = hull_of(points), turned_hull = hull_of(turned);
    expect_valid(hull);
    expect_valid(turned_hull);
    for (const Vec3& p : points) EXPECT_LT(height_above(hull, p), 1e-13);
    EXPECT_EQ(hull.ring, turned_hull.ring);
    EXPECT_NEAR(volume(hull), volume(turned_hull), 1e-11 * volume(hull));
  });
}

TEST(BuildHull, IsFreeOfScaleAndOrigin) {
  std::mt19937_64 random(7);
  const Points points = joined(on_sphere(60, random), cube_grid(4));
  const Hull hull = hull_of(points);
  for (const double scale : {1e-6, 1e-3, 1e3, 1e6}) {
    for (const double shift : {0.0, 1e4}) {
      Points moved;
      for (const Vec3& p : points) moved.push_back(scale * (p + shift * Vec3(1, -2, 0.5)));
      const Hull other = hull_of(moved);
      expect_valid(other, 1e-6);
      EXPECT_EQ(other.ring, hull.ring) << scale << " " << shift;
      EXPECT_NEAR(other.width, scale * hull.width, 1e-10 * scale);
    }
  }
  // One metre large, ten kilometres away.
  Points far;
  for (const Vec3& p : cube_grid(4)) far.push_back(0.5 * p + Vec3(1e4, 1e4, -1e4));
  EXPECT_EQ(hull_of(far).faces.size(), 6u);
}

TEST(BuildHull, GivesTheSameHullEveryTime) {
  std::mt19937_64 random(3);
  const Points points = on_sphere(300, random);
  const Hull first = hull_of(points);
  for (int i = 0; i < 3; ++i) expect_same(first, hull_of(points));
}

TEST(BuildHull, KeepsTheGeometryWhenPointsArePermuted) {
  for_random_cases(20, [](std::mt19937_64& random) {
    Points points = joined(cube_grid(4), on_sphere(40, random));
    for (Vec3& p : points) p = p.cwiseProduct(Vec3(1, 1.2, 1.7));
    const Hull hull = hull_of(points);
    std::shuffle(points.begin(), points.end(), random);
    const Hull other = hull_of(points);
    EXPECT_EQ(faces_by_coordinates(hull), faces_by_coordinates(other));
  });
}

TEST(BuildHull, JoinsPointsThatNearlyCoincide) {
  std::mt19937_64 random(5);
  Points points = cube_corners();
  for (int k = 0; k < 20; ++k) {
    for (int i = 0; i < 8; ++i) points.push_back(points[i] + 1e-8 * random_vec3(random).normalized());
  }
  const Hull hull = hull_of(points);
  expect_valid(hull);
  EXPECT_EQ(hull.vertices, cube_corners());
}

TEST(BuildHull, StaysFastForManyPoints) {
  std::mt19937_64 random(9);
  Points points;
  for (int i = 0; i < 100'000; ++i) points.push_back(random_vec3(random).cwiseMax(-1).cwiseMin(1));
  const Hull hull = hull_of(points);
  EXPECT_EQ(hull.vertices.size(), 8u);
  EXPECT_EQ(hull.faces.size(), 6u);
}

TEST(BuildHull, RefusesNumbersThatAreNotFinite) {
  Points points = cube_corners();
  points[5].y() = std::nan("");
  expect_error([&] { build_hull(points, "foot"); }, "mesh 'foot'", "point 5", "nan", "finite");
  points[5].y() = -INFINITY;
  expect_error([&] { build_hull(points, "foot"); }, "mesh 'foot'", "point 5", "-inf", "finite");
  points[5].y() = 1e60;
  expect_error([&] { build_hull(points, "foot"); }, "mesh 'foot'", "1e+60", "units");
  Points tiny;
  for (const Vec3& p : cube_corners()) tiny.push_back(1e-70 * p);
  expect_error([&] { build_hull(tiny, "foot"); }, "mesh 'foot'", "units");
}

TEST(BuildHull, RefusesFewerThanThreeDistinctPoints) {
  expect_error([] { build_hull({}, "foot"); }, "mesh 'foot'", "0 points", "at least three");
  const Points one(5, Vec3(1, 2, 3));
  expect_error([&] { build_hull(one, "foot"); }, "mesh 'foot'", "5 points", "only 1 distinct", "at least three");
  Points two(4, Vec3(1, 2, 3));
  two.emplace_back(1, 2, 4);
  expect_error([&] { build_hull(two, "foot"); }, "mesh 'foot'", "5 points", "only 2 distinct", "at least three");
}

TEST(BuildHull, RefusesPointsOnALine) {
  Points points;
  for (int i = 0; i < 10; ++i) points.push_back(Vec3(1, 2, 3) + 0.1 * i * Vec3(1, -1, 0.3));
  expect_error([&] { build_hull(points, "pole"); }, "mesh 'pole'", "10 points", "on a line", "capsule");
}

TEST(BuildHull, RefusesTooManyVertices) {
  std::mt19937_64 random(2);
  const Points points = on_sphere(kMaxHullVertices + 100, random);
  expect_error([&] { build_hull(points, "ball"); }, "mesh 'ball'", std::to_string(points.size()) + " vertices",
               std::to_string(kMaxHullVertices), "simplify");
}

TEST(BuildHull, TurnsAFailureOfQhullIntoAnError) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  expect_error([] { detail::hull_facets(polygon(5, 0), "sheet"); }, "mesh 'sheet'", "qhull", "QH6", "simplify");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(BuildHull, MakesAPlateOfPointsInAPlane) {
  for_random_cases(30, [](std::mt19937_64& random) {
    const Mat3 turn = random_rotation(random);
    const Vec3 place = 3 * random_vec3(random), normal = turn.col(2);
    const double noise = std::pow(10, uniform(random, -17, -8));
    Points points;
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 5; ++j) {
        points.push_back(place + turn * Vec3(0.25 * i, 0.5 * j, noise * uniform(random, -1, 1)));
      }
    }
    const HullResult result = build_hull(points, "sheet");
    ASSERT_EQ(result.warnings.size(), 1u);
    for (const char* part : {"mesh 'sheet'", "in a plane", "plate of thickness"}) {
      EXPECT_NE(result.warnings[0].find(part), std::string::npos) << result.warnings[0];
    }
    const Hull& hull = result.hull;
    expect_valid(hull, 1e-7);
    EXPECT_EQ(hull.vertices.size(), 8u);
    EXPECT_EQ(hull.faces.size(), 6u);
    // The size is the diagonal of the bounds along the axes, between that of the rectangle and √3 times it.
    const double diagonal = std::hypot(1, 2);
    EXPECT_GT(hull.width, 0.999 * kThinnestHull * diagonal);
    EXPECT_LT(hull.width, 1.8 * kThinnestHull * diagonal);
    // Symmetric about the plane.
    double low = 1e300, high = -1e300;
    for (const Vec3& v : hull.vertices) {
      low = std::min(low, normal.dot(v - place));
      high = std::max(high, normal.dot(v - place));
    }
    EXPECT_NEAR(low, -high, 3 * noise + 1e-14);
  });
}

TEST(BuildHull, MakesAPlateOfATriangle) {
  const HullResult result = build_hull(Points{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}, "flag");
  EXPECT_EQ(result.warnings.size(), 1u);
  expect_valid(result.hull, 1e-9);
  EXPECT_EQ(result.hull.vertices.size(), 6u);
  EXPECT_EQ(result.hull.faces.size(), 5u);
}

TEST(BuildHull, KeepsAThinPlateThatIsThickEnough) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Mat3 turn = random_rotation(random);
    const double half = std::pow(10, uniform(random, -5, -2));
    Points points;
    for (const Vec3& p : cube_grid(4)) points.push_back(turn * p.cwiseProduct(Vec3(1, 1, half)));
    const Hull hull = hull_of(points);
    expect_valid(hull, 1e-9);
    EXPECT_EQ(hull.vertices.size(), 8u);
    EXPECT_EQ(hull.faces.size(), 6u);
    EXPECT_NEAR(hull.width, 2 * half, 1e-13);
  });
}

TEST(BuildHull, MakesAPlateOfALensFlatterThanTheMergeAngle) {
  // All of its upper facets are one face within the merge angle, and all of its lower ones.
  Points points = polygon(12, 0);
  points.emplace_back(0, 0, 1e-5);
  points.emplace_back(0, 0, -1e-5);
  const HullResult result = build_hull(points, "lens");
  ASSERT_EQ(result.warnings.size(), 1u);
  expect_valid(result.hull, 1e-9);
  EXPECT_EQ(result.hull.faces.size(), 14u);
  EXPECT_NEAR(result.hull.width, 2e-5, 1e-12);
}

TEST(HullRank, KeepsTheWidestTrianglesLongest) {
  // A rectangle with its corners 0 … 3 and a blunt corner 4 on one long side: 4 spans the smallest triangle with its
  // neighbours, so it goes first; then all corners of the rectangle are equal and the highest number goes first.
  const Points outline = {{0, 0, 0}, {4, 0, 0}, {4, 2, 0}, {0, 2, 0}, {2, -0.25, 0}};
  Points points = outline;
  for (const Vec3& p : outline) points.push_back(p + Vec3(0, 0, 1));
  const Hull hull = hull_of(points);
  ASSERT_EQ(hull.vertices.size(), 10u);
  int found = 0;
  for (const Hull::Face& face : hull.faces) {
    if (face.normal.z() > -0.5) continue;
    ++found;
    ASSERT_EQ(face.count, 5);
    for (int k = face.first; k < face.first + face.count; ++k) EXPECT_EQ(hull.rank[k], hull.ring[k]);
  }
  EXPECT_EQ(found, 1);
}

TEST(HullRank, OrdersARegularPolygonByNumbersWhateverTheRounding) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Mat3 turn = random_rotation(random);
    Points points, turned;
    for (const Vec3& p : joined(polygon(16, 0), polygon(16, 1))) points.push_back(p);
    for (const Vec3& p : points) turned.push_back(turn * p);
    EXPECT_EQ(hull_of(points).rank, hull_of(turned).rank);
  });
}

TEST(SupportVertex, IsTheFarthestOneFromAnyStart) {
  for_random_cases(30, [](std::mt19937_64& random) {
    const int n = static_cast<int>(std::pow(10, uniform(random, 1, 3.3)));
    Points points = on_sphere(n, random);
    for (Vec3& p : points) p = p.cwiseProduct(Vec3(1, 2, 0.2)) + Vec3(1, 1, 1);
    const Hull hull = hull_of(points);
    int at = 0;
    for (int i = 0; i < 1000; ++i) {
      const Vec3 d = random_vec3(random) * std::pow(10, uniform(random, -3, 3));
      const int expected = brute_force_support(hull, d);
      at = support_vertex(hull, d, i % 2 == 0 ? expected : i % size_of(hull.vertices));
      ASSERT_NEAR(d.dot(hull.vertices[at]), d.dot(hull.vertices[expected]), 1e-14 * d.norm());
      ASSERT_EQ(at, support_vertex(hull, d, 0));
      const auto around = hull.neighbours_of(at);
      ASSERT_EQ(at, support_vertex(hull, d, around[i % around.size()]));
    }
  });
}

// Many vertices, faces with many corners, and bent faces that were merged.
Hull rough_tower(double noise, std::mt19937_64& random) {
  Points points;
  for (int level = 0; level < 12; ++level) {
    const double radius = std::cos(0.1 * level);
    for (const Vec3& p : polygon(60, 0.2 * level)) {
      points.push_back(Vec3(radius * p.x(), radius * p.y(), p.z()) + noise * random_vec3(random));
    }
  }
  return hull_of(points);
}

TEST(SupportVertex, DoesNotDependOnTheStartWhenFacesAreBent) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Hull hull = rough_tower(std::pow(10, uniform(random, -17, -5)), random);
    ASSERT_GT(hull.vertices.size(), 300u);
    for (int i = 0; i < 500; ++i) {
      // Half of them nearly along the normals of faces, where many vertices are equally high.
      Vec3 d = random_vec3(random).normalized();
      if (i % 2 == 0) {
        d = hull.faces[i % size_of(hull.faces)].normal + std::pow(10, uniform(random, -16, -3)) * d;
      }
      const int expected = support_vertex(hull, d, 0);
      ASSERT_NEAR(d.dot(hull.vertices[expected]), d.dot(hull.vertices[brute_force_support(hull, d)]), 1e-14);
      for (int k = 0; k < 10; ++k) {
        const int start = uniform_int(random, 0, size_of(hull.vertices) - 1);
        ASSERT_EQ(support_vertex(hull, d, start), expected);
      }
      for (const int neighbour : hull.neighbours_of(expected)) ASSERT_EQ(support_vertex(hull, d, neighbour), expected);
    }
  });
}

TEST(SupportVertex, IsTheLowestNumberAmongEqualOnes) {
  const Hull box = box_hull(Vec3(1, 2, 3));
  EXPECT_EQ(support_vertex(box, Vec3(1, 0, 0)), 1);
  EXPECT_EQ(support_vertex(box, Vec3(0, 1, 0)), 2);
  EXPECT_EQ(support_vertex(box, Vec3(0, 0, -1)), 0);
  EXPECT_EQ(support_vertex(box, Vec3(-1, 1, 0)), 2);
  EXPECT_EQ(support_vertex(box, Vec3(1, 1, 1)), 7);

  const Hull drum = hull_of(joined(polygon(200, 0), polygon(200, 1)));
  for (const int start : {0, 57, 250, 399}) {
    EXPECT_EQ(support_vertex(drum, Vec3(0, 0, -1), start), 0);
    EXPECT_EQ(support_vertex(drum, Vec3(0, 0, 1), start), 200);
    EXPECT_EQ(support_vertex(drum, Vec3(1, 0, 0), start), 0);
  }
}

TEST(SupportVertex, OfNoDirectionIsTheFirst) {
  std::mt19937_64 random(4);
  EXPECT_EQ(support_vertex(box_hull(Vec3::Ones()), Vec3::Zero(), 3), 0);
  EXPECT_EQ(support_vertex(hull_of(on_sphere(1000, random)), Vec3::Zero(), 500), 0);
}

TEST(SupportVertex, HandlesEveryPadding) {
  std::mt19937_64 random(6);
  for (int n = 4; n < 24; ++n) {
    const Hull hull = hull_of(on_sphere(n, random));
    for (int v = 0; v < n; ++v) EXPECT_EQ(support_vertex(hull, hull.vertices[v]), v);
  }
}

}  // namespace
}  // namespace lithe::test
