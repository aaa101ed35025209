#include "lithe/collision/distance/gjk.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lithe/collision/distance/epa.h"
#include "lithe/collision/distance/hull_distance.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/core/infinity.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/constants.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

using Part = FeatureCode::Part;

Pose at(double x, double y, double z) { return Pose::translation(x, y, z); }
Pose turned(double angle, const Vec3& axis, const Vec3& p) {
  return {Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix(), p};
}

// sep(n), from all vertices.
double core_separation(const Core& a, const Core& b, const Pose& X_BA, const Vec3& n) {
  double low = kInfinity, high = -kInfinity;
  for (int i = 0; i < a.vertex_count(); ++i) low = std::min(low, n.dot(X_BA * a.vertex(i)));
  for (int i = 0; i < b.vertex_count(); ++i) high = std::max(high, n.dot(b.vertex(i)));
  return low - high;
}

// The largest separation over all face normals and crossed edges.
double best_hull_axis(const Hull& a, const Hull& b, const Pose& X_BA) {
  const Core core_a = Core::hull(a), core_b = Core::hull(b);
  double best = -kInfinity;
  const auto offer = [&](const Vec3& n) { best = std::max(best, core_separation(core_a, core_b, X_BA, n)); };
  for (const Hull::Face& face : a.faces) offer(-(X_BA.R * face.normal));
  for (const Hull::Face& face : b.faces) offer(face.normal);
  for (const Hull::Edge& e : a.edges) {
    for (const Hull::Edge& f : b.edges) {
      const Vec3 cross = (X_BA.R * e.direction).cross(f.direction);
      if (cross.norm() < 1e-9) continue;
      offer(cross.normalized());
      offer(-cross.normalized());
    }
  }
  return best;
}

Hull random_hull(std::mt19937_64& random, int points, const Vec3& half) {
  std::vector<Vec3> cloud;
  for (int i = 0; i < points; ++i) cloud.push_back(random_vec3(random).normalized().cwiseProduct(half));
  return build_hull(cloud, "cloud").hull;
}

const std::vector<Hull>& round_hulls() {
  static const std::vector<Hull> hulls = [] {
    std::mt19937_64 random(1);
    std::vector<Hull> made;
    for (int k = 0; k < 12; ++k) {
      made.push_back(random_hull(random, 8 + 8 * k, Vec3(uniform(random, 0.2, 1), uniform(random, 0.2, 1), 0.5)));
    }
    return made;
  }();
  return hulls;
}

// With few enough edges to try all axes.
const std::vector<Hull>& small_hulls() {
  static const std::vector<Hull> hulls(round_hulls().begin(), round_hulls().begin() + 3);
  return hulls;
}

// Plates and rods, some without any thickness.
const std::vector<Hull>& thin_hulls() {
  static const std::vector<Hull> hulls = [] {
    std::mt19937_64 random(2);
    std::vector<Hull> made;
    for (int k = 0; k < 4; ++k) {
      made.push_back(random_hull(random, 14, Vec3(1, 1, 1e-4)));
      made.push_back(random_hull(random, 14, Vec3(1, 1e-4, 1e-4)));
    }
    for (const double thin : {1e-4, 1e-8, 0.0}) {
      made.push_back(box_hull(Vec3(1, 0.5, thin)));
      made.push_back(box_hull(Vec3(1, thin, thin)));
    }
    made.push_back(box_hull(Vec3::Zero()));
    return made;
  }();
  return hulls;
}

const Hull& pick(const std::vector<Hull>& hulls, std::mt19937_64& random) {
  return hulls[uniform_int(random, 0, static_cast<int>(hulls.size()) - 1)];
}

Core random_core(const std::vector<Hull>& hulls, std::mt19937_64& random) {
  if (chance(random, 0.1)) return Core::point();
  if (chance(random, 0.1)) return Core::segment(uniform(random, 0.1, 1));
  return Core::hull(pick(hulls, random));
}

Pose lattice_pose(std::mt19937_64& random) {
  const auto turn = [&] {
    return Eigen::AngleAxisd(kPi / 4 * uniform_int(random, 0, 7), Vec3::Unit(uniform_int(random, 0, 2)));
  };
  const auto shift = [&] { return uniform_int(random, -16, 16) / 8.0; };
  return {(turn() * turn()).toRotationMatrix(), Vec3(shift(), shift(), shift())};
}

void expect_finite_result(const GjkResult& result) {
  EXPECT_TRUE(result.n.allFinite());
  EXPECT_TRUE(std::isfinite(result.distance));
  EXPECT_LT(result.iterations, 40);
  EXPECT_GE(result.count, result.status == GjkStatus::far ? 0 : 1);
}

// x lies on the feature of the core (in the core's frame).
void expect_on_feature(const Core& core, FeatureCode code, const Vec3& x, double tolerance) {
  if (code.part() == Part::vertex) {
    EXPECT_LT((x - core.vertex(code.index())).norm(), tolerance);
  } else if (code.part() == Part::face) {
    const Hull& hull = *core.hull();
    const Hull::Face& face = hull.faces[code.index()];
    double bend = 0;  // of a face made of facets that are nearly in a plane
    for (const int v : hull.face_vertices(code.index())) {
      bend = std::max(bend, face.offset - face.normal.dot(hull.vertices[v]));
    }
    EXPECT_NEAR(face.normal.dot(x), face.offset, tolerance + bend);
    for (int k = face.first; bend < tolerance && k < face.first + face.count; ++k) {
      EXPECT_LT(hull.sides[k].normal.dot(x) - hull.sides[k].offset, tolerance);
    }
  } else {
    const bool is_edge = core.hull() && code.part() == Part::edge;
    const int i = is_edge ? core.hull()->edges[code.index()].vertex[0] : core.hull() ? code.index() : 0;
    const int j = is_edge ? core.hull()->edges[code.index()].vertex[1] : core.hull() ? code.second() : 1;
    const Vec3 start = core.vertex(i), along = core.vertex(j) - start;
    const double length = along.norm();
    const double t = length > 0 ? std::clamp(along.dot(x - start) / (length * length), 0.0, 1.0) : 0;
    EXPECT_LT((x - start - t * along).norm(), tolerance);
  }
}

// The result proves itself: sep(n) is a lower bound of the distance of the two points, and reaches it.
void expect_closest(const Core& a, const Core& b, const Pose& X_BA, const CoreDistance& d) {
  const double size = MinkowskiDifference(a, b, X_BA).size();
  EXPECT_NEAR(d.n.norm(), 1, 1e-14);
  EXPECT_GT(d.distance, 0);
  EXPECT_LT((d.x_a - d.x_b - d.distance * d.n).norm(), 1e-14 * size);
  EXPECT_NEAR(core_separation(a, b, X_BA, d.n), d.distance, 2e-13 * size);
  const double tolerance = 1e-9 * size;
  expect_on_feature(a, d.a.code, X_BA.inverse() * d.x_a, tolerance);
  expect_on_feature(b, d.b.code, d.x_b, tolerance);
  // What the derivatives rely on.
  EXPECT_FALSE(d.a.freedom == SupportJet::Freedom::face && d.b.freedom != SupportJet::Freedom::none);
  EXPECT_FALSE(d.b.freedom == SupportJet::Freedom::face && d.a.freedom != SupportJet::Freedom::none);
  for (const CoreFeature& feature : {d.a, d.b}) {
    if (feature.freedom == SupportJet::Freedom::line) {
      EXPECT_NEAR(feature.e.dot(d.n), 0, 1e-8);
    }
  }
}

CoreDistance closest(const Core& a, const Core& b, const Pose& X_BA) {
  const GjkResult result = gjk(a, b, X_BA, kInfinity);
  EXPECT_EQ(result.status, GjkStatus::separated);
  const CoreDistance d = core_distance(a, b, X_BA, result);
  expect_closest(a, b, X_BA, d);
  return d;
}

void expect_sound_seeds(const Core& a, const Core& b, const Pose& X_BA, const EpaScratch& scratch) {
  ASSERT_FALSE(scratch.seeds.empty());
  const double size = MinkowskiDifference(a, b, X_BA).size();
  for (const EpaSeed& seed : scratch.seeds) {
    EXPECT_NEAR(seed.n.norm(), 1, 1e-14);
    EXPECT_NEAR(seed.sep, core_separation(a, b, X_BA, seed.n), 1e-14 * size);
    EXPECT_LE(seed.sep, scratch.seeds[0].sep);
  }
}

TEST(Gjk, ProvesItsDistance) {
  for_random_cases(6000, [](std::mt19937_64& random) {
    const Core a = random_core(round_hulls(), random), b = random_core(round_hulls(), random);
    const Pose X_BA{random_rotation(random), random_vec3(random, 0.8)};
    const GjkResult result = gjk(a, b, X_BA, kInfinity);
    expect_finite_result(result);
    if (result.status != GjkStatus::separated) return;
    const double size = MinkowskiDifference(a, b, X_BA).size();
    EXPECT_NEAR(core_separation(a, b, X_BA, result.n), result.distance, 1e-14 * size);
    expect_closest(a, b, X_BA, core_distance(a, b, X_BA, result));
  });
}

TEST(Gjk, ProvesItsDistanceBetweenPlatesAndRods) {
  for_random_cases(10000, [](std::mt19937_64& random) {
    const Core a = random_core(thin_hulls(), random), b = random_core(thin_hulls(), random);
    const Pose X_BA =
        chance(random, 0.5) ? lattice_pose(random) : Pose{random_rotation(random), random_vec3(random, 0.8)};
    const GjkResult result = gjk(a, b, X_BA, kInfinity);
    expect_finite_result(result);
    if (result.status == GjkStatus::separated) expect_closest(a, b, X_BA, core_distance(a, b, X_BA, result));
  });
}

TEST(Gjk, ProvesItsDistanceBetweenAlignedBoxes) {
  for_random_cases(10000, [](std::mt19937_64& random) {
    const auto half = [&] { return 0.25 * uniform_int(random, 1, 4); };
    const Hull first = box_hull(Vec3(half(), half(), half())), second = box_hull(Vec3(half(), half(), half()));
    const Core a = chance(random, 0.2) ? Core::segment(half()) : Core::hull(first), b = Core::hull(second);
    const Pose X_BA = lattice_pose(random);
    const GjkResult result = gjk(a, b, X_BA, kInfinity);
    expect_finite_result(result);
    if (result.status == GjkStatus::separated) expect_closest(a, b, X_BA, core_distance(a, b, X_BA, result));
  });
}

TEST(Gjk, StopsEarlyOnlyWithAProof) {
  for_random_cases(3000, [](std::mt19937_64& random) {
    const Core a = random_core(round_hulls(), random), b = random_core(round_hulls(), random);
    const Pose X_BA{random_rotation(random), random_vec3(random)};
    const double far = uniform(random, 0, 1);
    const GjkResult result = gjk(a, b, X_BA, far), full = gjk(a, b, X_BA, kInfinity);
    if (result.status == GjkStatus::far) {
      EXPECT_GT(result.distance, far);
      EXPECT_NEAR(core_separation(a, b, X_BA, result.n), result.distance, 1e-14);
      EXPECT_EQ(full.status, GjkStatus::separated);
    } else {
      EXPECT_EQ(result.status, full.status);
      EXPECT_EQ(result.distance, full.distance);
      EXPECT_LE(result.distance, far + 1e-14);
    }
  });
}

TEST(Gjk, AgreesWithAllSeparatingAxesOnOverlap) {
  for_random_cases(400, [](std::mt19937_64& random) {
    const Hull &a = pick(small_hulls(), random), &b = pick(small_hulls(), random);
    const Pose X_BA{random_rotation(random), random_vec3(random, 0.5)};
    const double best = best_hull_axis(a, b, X_BA);
    if (std::abs(best) < 1e-12) return Outcome::skipped;
    EXPECT_EQ(gjk(Core::hull(a), Core::hull(b), X_BA, kInfinity).status,
              best > 0 ? GjkStatus::separated : GjkStatus::overlapping);
    return Outcome::checked;
  });
}

TEST(Gjk, ExactTouchIsOverlap) {
  const Hull cube = box_hull(Vec3::Ones());
  const Core box = Core::hull(cube), segment = Core::segment(1);
  EpaScratch scratch;
  const auto touches = [&](const Core& a, const Core& b, const Pose& X_BA) {
    const GjkResult result = gjk(a, b, X_BA, kInfinity);
    expect_finite_result(result);
    EXPECT_EQ(result.status, GjkStatus::overlapping);
    epa(a, b, X_BA, result, 1e-4, scratch);
    expect_sound_seeds(a, b, X_BA, scratch);
    EXPECT_NEAR(scratch.seeds[0].sep, 0, 1e-15);
  };
  touches(box, box, at(2, 0, 0));
  touches(box, box, at(2, 0.3, 0.7));
  touches(box, box, at(2, 2, 0));
  touches(box, box, at(2, 2, 2));
  touches(box, box, turned(kPi / 4, Vec3::UnitZ(), Vec3(1 + std::sqrt(2), 0, 0)));
  touches(segment, box, at(1, 0, 0));
  touches(segment, box, at(1, 1, 2));
  touches(segment, segment, at(0, 0, 2));
  touches(segment, segment, at(0, 0, 0));
  touches(segment, segment, turned(kPi / 2, Vec3::UnitX(), Vec3(0, 0.5, 0.5)));
  touches(Core::point(), Core::point(), at(0, 0, 0));
  touches(Core::point(), box, at(1, 1, 1));
  touches(Core::point(), segment, at(0, 0, -1));
}

TEST(Gjk, DistancesDownToRoundingStayDistances) {
  const Hull cube = box_hull(Vec3::Ones());
  for (double distance = 1; distance > 1e-10; distance /= 10) {
    const CoreDistance faces = closest(Core::hull(cube), Core::hull(cube), at(2 + distance, 0.5, 0));
    EXPECT_NEAR(faces.distance, distance, 1e-15);
    EXPECT_EQ(faces.n, Vec3::UnitX());
    // A corner over a face, at a general tilt.
    const Mat3 R = Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix();
    double low = kInfinity;
    for (const Vec3& v : cube.vertices) low = std::min(low, (R * v).z());
    const CoreDistance corner = closest(Core::hull(cube), Core::hull(cube), {R, Vec3(0, 0, 1 - low + distance)});
    EXPECT_NEAR(corner.distance, distance, 2e-15);
    EXPECT_EQ(corner.n, Vec3::UnitZ());
    EXPECT_EQ(corner.a.code.part(), Part::vertex);
    const CoreDistance crossed =
        closest(Core::segment(1), Core::segment(1), turned(1, Vec3::UnitX(), {distance, 0.1, 0.2}));
    EXPECT_NEAR(crossed.distance, distance, 1e-15);
    EXPECT_LT((crossed.n - Vec3::UnitX()).norm(), 1e-15);
  }
}

TEST(CoreDistance, CornersAreVertexToVertex) {
  const Hull cube = box_hull(Vec3::Ones());
  const CoreDistance d = closest(Core::hull(cube), Core::hull(cube), at(3, 3, 3));
  EXPECT_NEAR(d.distance, std::sqrt(3), 1e-15);
  EXPECT_EQ(d.a.code, FeatureCode::vertex(0));
  EXPECT_EQ(d.b.code, FeatureCode::vertex(7));
}

TEST(CoreDistance, AlignedFacesMeetInTheMiddleOfTheirOverlap) {
  const Hull cube = box_hull(Vec3::Ones());
  const CoreDistance d = closest(Core::hull(cube), Core::hull(cube), at(0.5, 1, 3));
  EXPECT_EQ(d.n, Vec3::UnitZ());
  EXPECT_EQ(d.distance, 1);
  EXPECT_LT((d.x_b - Vec3(0.25, 0.5, 1)).norm(), 1e-15);
  EXPECT_EQ(d.a.code, FeatureCode::face(5));
  EXPECT_EQ(d.b.code, FeatureCode::face(4));
  EXPECT_EQ(d.a.freedom, SupportJet::Freedom::none);
  EXPECT_EQ(d.b.freedom, SupportJet::Freedom::face);
}

TEST(CoreDistance, ParallelSegmentsMeetInTheMiddleOfTheirOverlap) {
  const CoreDistance d = closest(Core::segment(1), Core::segment(2), at(3, 4, 2));
  EXPECT_NEAR(d.distance, 5, 1e-15);
  EXPECT_LT((d.x_b - Vec3(0, 0, 1.5)).norm(), 1e-15);
  EXPECT_EQ(d.a.freedom, SupportJet::Freedom::none);
  EXPECT_EQ(d.b.freedom, SupportJet::Freedom::line);
  // Ends level with each other change nothing.
  EXPECT_LT(closest(Core::segment(1), Core::segment(1), at(3, 4, 0)).x_b.norm(), 1e-15);
  const Hull cube = box_hull(Vec3::Ones());
  EXPECT_LT((closest(Core::hull(cube), Core::hull(cube), at(3, 3, 0)).x_b - Vec3(1, 1, 0)).norm(), 1e-15);
}

TEST(CoreDistance, CrossedSegmentsAreLineToLine) {
  const CoreDistance d = closest(Core::segment(1), Core::segment(1), turned(kPi / 3, Vec3::UnitX(), Vec3(2, 0.1, 0.2)));
  EXPECT_NEAR(d.distance, 2, 1e-15);
  EXPECT_LT((d.n - Vec3::UnitX()).norm(), 1e-15);
  EXPECT_EQ(d.a.freedom, SupportJet::Freedom::line);
  EXPECT_EQ(d.b.freedom, SupportJet::Freedom::line);
}

// Along its own normal a moves without changing features, n or b's point: the numbers come from the features, not from
// the path that GJK took.
TEST(CoreDistance, DependsOnFeaturesAlone) {
  for_random_cases(2000, [](std::mt19937_64& random) {
    const Core a = random_core(round_hulls(), random), b = random_core(round_hulls(), random);
    Pose X_BA{random_rotation(random), random_vec3(random)};
    const GjkResult result = gjk(a, b, X_BA, kInfinity);
    if (result.status != GjkStatus::separated || result.distance < 1e-3) return;
    const CoreDistance before = core_distance(a, b, X_BA, result);
    const double shift = uniform(random, -0.5 * before.distance, 1);
    X_BA.p += shift * before.n;
    const CoreDistance after = closest(a, b, X_BA);
    EXPECT_NEAR(after.distance, before.distance + shift, 1e-14);
    EXPECT_LT((after.n - before.n).norm(), 1e-12);
    EXPECT_LT((after.x_b - before.x_b).norm(), 1e-11);
  });
}

TEST(Epa, FindsTheDepth) {
  EpaScratch scratch;
  for_random_cases(
      600,
      [&](std::mt19937_64& random) {
        const bool thin = chance(random, 0.3);
        const Hull &a = pick(thin ? thin_hulls() : small_hulls(), random), &b = pick(small_hulls(), random);
        const Pose X_BA{random_rotation(random), random_vec3(random, 0.3)};
        const GjkResult start = gjk(Core::hull(a), Core::hull(b), X_BA, 0);
        if (start.status != GjkStatus::overlapping) return Outcome::skipped;
        EXPECT_EQ(epa(Core::hull(a), Core::hull(b), X_BA, start, 1e-4, scratch), EpaStatus::converged);
        expect_sound_seeds(Core::hull(a), Core::hull(b), X_BA, scratch);
        // No seed claims too much; and where facets were merged into a face, EPA still sees them.
        EXPECT_GT(scratch.seeds[0].sep, best_hull_axis(a, b, X_BA) - 1e-12);
        return Outcome::checked;
      },
      0.7);
}

TEST(Epa, ListsEveryDirectionInTheBand) {
  const Hull cube = box_hull(Vec3::Ones());
  const Core box = Core::hull(cube);
  EpaScratch scratch;
  const auto directions = [&](const Vec3& p) {
    const Pose X_BA = Pose::translation(p);
    epa(box, box, X_BA, gjk(box, box, X_BA, kInfinity), 1e-4, scratch);
    expect_sound_seeds(box, box, X_BA, scratch);
    std::vector<Vec3> found;
    for (const EpaSeed& seed : scratch.seeds) found.push_back(seed.n);
    return found;
  };
  EXPECT_EQ(directions(Vec3(1.5, 0, 0)).size(), 1u);
  EXPECT_EQ(directions(Vec3(1.5, 1.5, 0)).size(), 2u);
  EXPECT_EQ(directions(Vec3(1.5, 1.5, 1.5)).size(), 3u);
  EXPECT_EQ(directions(Vec3(1.5, 1.49995, 1.4)).size(), 2u);
  EXPECT_EQ(directions(Vec3::Zero()).size(), 6u);
}

TEST(Epa, FlatDifferencesHaveTheNormalOfTheirPlane) {
  const Hull plate = box_hull(Vec3(1, 1, 0));
  const Core flat = Core::hull(plate);
  EpaScratch scratch;
  const Pose X_BA = at(0.5, 0.25, 0);
  const GjkResult start = gjk(flat, flat, X_BA, kInfinity);
  ASSERT_EQ(start.status, GjkStatus::overlapping);
  EXPECT_EQ(epa(flat, flat, X_BA, start, 1e-4, scratch), EpaStatus::flat);
  ASSERT_EQ(scratch.seeds.size(), 2u);
  EXPECT_EQ(scratch.seeds[0].n.cwiseAbs(), Vec3::UnitZ());
  EXPECT_EQ(scratch.seeds[0].sep, 0);
}

TEST(Epa, ThinAndLatticeOverlapsGiveSoundSeeds) {
  EpaScratch scratch;
  for_random_cases(6000, [&](std::mt19937_64& random) {
    const Core a = random_core(thin_hulls(), random), b = random_core(thin_hulls(), random);
    Pose X_BA = lattice_pose(random);
    X_BA.p *= 0.25;
    const GjkResult start = gjk(a, b, X_BA, kInfinity);
    if (start.status != GjkStatus::overlapping) return;
    EXPECT_NE(epa(a, b, X_BA, start, 1e-6, scratch), EpaStatus::stopped);
    expect_sound_seeds(a, b, X_BA, scratch);
  });
}

TEST(Epa, WarmCallsAllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  const Core a = Core::hull(round_hulls()[10]), b = Core::hull(round_hulls()[11]);
  EpaScratch scratch;
  std::mt19937_64 random(3);
  std::vector<Pose> poses;
  for (int k = 0; k < 50; ++k) poses.push_back({random_rotation(random), random_vec3(random, 0.3)});
  const auto run = [&] {
    for (const Pose& X_BA : poses) {
      const GjkResult result = gjk(a, b, X_BA, kInfinity);
      if (result.status == GjkStatus::overlapping) {
        epa(a, b, X_BA, result, 1e-4, scratch);
      } else {
        core_distance(a, b, X_BA, result);
      }
    }
  };
  run();
  const AllocationGuard guard;
  run();
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace lithe::test
