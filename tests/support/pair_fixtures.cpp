#include "tests/support/pair_fixtures.h"

#include <Eigen/Geometry>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <variant>

#include "lithe/collision/hull/hull.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/constants.h"
#include "tests/support/oracle.h"
#include "tests/support/random_model.h"

namespace lithe::test {

using namespace internal;
namespace {

constexpr int kPooled = 24;  // shapes per type

double random_size(std::mt19937_64& random) { return log_uniform(random, 0.1, 1); }

ConvexMesh cloud(std::mt19937_64& random) {
  ConvexMesh mesh;
  const int points = uniform_int(random, 6, 60);
  const double size = random_size(random);
  // Half of them round, where most points are vertices, half with a few points far out.
  const bool round = chance(random, 0.5);
  for (int i = 0; i < points; ++i) {
    Vec3 x = random_vec3(random, 0.4);
    if (round) x.normalize();
    mesh.points.push_back(size * x);
  }
  return mesh;
}

// Made when first asked for.
const std::vector<TestShape>& pool_of(ShapeType type) {
  static std::array<std::vector<TestShape>, kShapeTypes> pools;
  std::vector<TestShape>& pool = pools[static_cast<int>(type)];
  if (pool.empty()) {
    const int first = kPooled * static_cast<int>(type);
    std::mt19937_64 random(first + 1);
    for (int i = 0; i < kPooled; ++i) pool.push_back(make_test_shape(random_geometry(type, random), first + i));
  }
  return pool;
}

PairCase pooled_pair(const ShapePair& pair, std::mt19937_64& random) {
  const TestShape& a = pooled_shape(pair.a, random);
  const TestShape* b = &pooled_shape(pair.b, random);
  while (b->collider.shape == a.collider.shape) b = &pooled_shape(pair.b, random);
  return {a, *b, Pose{}, Pose{any_rotation(random), random_vec3(random)}};
}

double margin_of(const PairCase& c) { return bands_of(c.a.collider, c.b.collider).margin; }

// Moves a along n by `shift`. If n is the pair's normal, their signed distance grows by just that much.
void separate(PairCase& c, const Vec3& n, double shift) { c.X_WA.p += shift * n; }

// Puts a where sep(n) = gap. With a plane, n must be its normal.
void place_along(PairCase& c, const Vec3& n, double gap) {
  separate(c, n, gap - separation(c.a.geometry, c.X_WA, c.b.geometry, c.X_WB, n));
}

// Moves a along the pair's normal to that signed distance. From there to a lesser one the normal may change: the distance
// is then larger, by a part of the depth that was asked for.
void place_at(PairCase& c, double gap) {
  const SignedDistance found = signed_distance(c.a.geometry, c.X_WA, c.b.geometry, c.X_WB, 1e-3 * margin_of(c));
  separate(c, found.n, gap - found.gap);
}

// Turned anyhow, with the middles up to `apart` times the smaller size from each other.
PairCase overlapping_pair(const ShapePair& pair, std::mt19937_64& random, double apart) {
  PairCase c = pooled_pair(pair, random);
  c.X_WA.R = any_rotation(random);
  c.X_WA.p = c.X_WB * Vec3(uniform(random, 0, apart) * c.size() * random_vec3(random).normalized());
  return c;
}

// The middles `apart` times the sum of the sizes from each other: corners are as often closest as faces.
PairCase distant_pair(const ShapePair& pair, std::mt19937_64& random, double apart) {
  PairCase c = pooled_pair(pair, random);
  c.X_WA.R = any_rotation(random);
  c.X_WA.p = c.X_WB * Vec3(apart * (c.a.size + c.b.size) * random_vec3(random).normalized());
  return c;
}

// An outward normal of a flat or straight part, in the shape's frame.
Vec3 resting_direction(const TestShape& shape, std::mt19937_64& random) {
  const double angle = uniform(random, 0, 2 * kPi);
  const Vec3 across(std::cos(angle), std::sin(angle), 0);
  const double sign = chance(random, 0.5) ? 1 : -1;
  switch (shape.collider.type) {
    case ShapeType::sphere: return random_vec3(random).normalized();
    case ShapeType::capsule: return across;
    case ShapeType::cylinder: return chance(random, 0.5) ? across : Vec3(sign * Vec3::UnitZ());
    case ShapeType::box: return sign * Vec3::Unit(uniform_int(random, 0, 2));
    case ShapeType::mesh: {
      const Hull& hull = *shape.collider.hull;
      return hull.faces[uniform_int(random, 0, static_cast<int>(hull.faces.size()) - 1)].normal;
    }
    case ShapeType::plane: return Vec3::UnitZ();
  }
  return Vec3::UnitZ();
}

Geometry lattice_geometry(ShapeType type, std::mt19937_64& random) {
  const auto size = [&] { return 0.25 * uniform_int(random, 1, 4); };
  switch (type) {
    case ShapeType::sphere: return Sphere{size()};
    case ShapeType::capsule: return Capsule{size(), size()};
    case ShapeType::cylinder: return Cylinder{size(), size()};
    case ShapeType::box: return Box{Vec3(size(), size(), size())};
    case ShapeType::plane: return Plane{};
    case ShapeType::mesh: break;
  }
  ConvexMesh mesh;
  const Vec3 half(size(), size(), size());
  const int form = uniform_int(random, 0, 2);
  for (int i = 0; i < 8; ++i) {  // a box, a truncated pyramid or a wedge
    const double top = form == 1 ? 0.5 : 1;
    const double upper = i & 4 ? top : 1;
    if (form == 2 && (i & 4) && (i & 1)) continue;
    mesh.points.emplace_back((i & 1 ? 1 : -1) * half.x() * upper, (i & 2 ? 1 : -1) * half.y() * upper,
                             (i & 4 ? 1 : -1) * half.z());
  }
  return mesh;
}

Pose lattice_pose(std::mt19937_64& random, double step) {
  Pose X;
  for (int turns = uniform_int(random, 0, 2); turns > 0; --turns) {
    X.R = X.R * rotation_about(Vec3::Unit(uniform_int(random, 0, 2)), 0.25 * kPi * uniform_int(random, 0, 7));
  }
  for (int k = 0; k < 3; ++k) {
    if (chance(random, 0.5)) X.p[k] = step * uniform_int(random, -12, 12);
  }
  return X;
}

std::string numbers(const Vec3& v) { return fmt::format("{{{:.17g}, {:.17g}, {:.17g}}}", v.x(), v.y(), v.z()); }

std::string numbers(const Pose& X) {
  return fmt::format("R rows {} {} {} p {}", numbers(X.R.row(0).transpose()), numbers(X.R.row(1).transpose()),
                     numbers(X.R.row(2).transpose()), numbers(X.p));
}

std::string numbers(const TestShape& shape) {
  const Collider& c = shape.collider;
  std::string text = fmt::format("{} #{}", lithe::to_string(c.type), int(c.shape));
  if (c.type == ShapeType::box) text += fmt::format(" half {}", numbers(c.half_size));
  if (c.radius > 0) text += fmt::format(" radius {:.17g}", c.radius);
  if (c.half_length > 0) text += fmt::format(" half length {:.17g}", c.half_length);
  if (const auto* mesh = std::get_if<ConvexMesh>(&shape.geometry)) {
    text += " points";
    for (const Vec3& x : mesh->points) text += fmt::format(" {}", numbers(x));
  }
  return text;
}

}  // namespace

const std::vector<ShapePair>& all_pairs() {
  static const std::vector<ShapePair> pairs = [] {
    std::vector<ShapePair> list;
    for (int a = 0; a < kShapeTypes; ++a) {
      for (int b = a; b < kShapeTypes; ++b) {
        const ShapePair pair{static_cast<ShapeType>(a), static_cast<ShapeType>(b)};
        if (pair.a != ShapeType::plane) list.push_back(pair);
      }
    }
    return list;
  }();
  return pairs;
}

std::string to_string(const ShapePair& pair) {
  return fmt::format("{}_{}", lithe::to_string(pair.a), lithe::to_string(pair.b));
}

void PrintTo(const ShapePair& pair, std::ostream* out) { *out << to_string(pair); }

std::string name_of_pair(const testing::TestParamInfo<ShapePair>& info) { return to_string(info.param); }

TestShape make_test_shape(const Geometry& geometry, int index) {
  Shape shape;
  shape.name = fmt::format("shape {}", index);
  shape.geometry = geometry;
  return {geometry, make_collider(shape, ShapeIndex(index)), bounding_radius(geometry)};
}

Geometry random_geometry(ShapeType type, std::mt19937_64& random) {
  switch (type) {
    case ShapeType::sphere: return Sphere{random_size(random)};
    case ShapeType::capsule: return Capsule{random_size(random), random_size(random)};
    case ShapeType::cylinder: return Cylinder{random_size(random), random_size(random)};
    case ShapeType::box: return Box{Vec3(random_size(random), random_size(random), random_size(random))};
    case ShapeType::plane: return Plane{};
    case ShapeType::mesh: break;
  }
  if (chance(random, 0.75)) return cloud(random);
  return foot(random_size(random), random_size(random), random_size(random));
}

ConvexMesh foot(double length, double width, double height) {
  constexpr int kSides = 16;
  ConvexMesh mesh;
  for (int i = 0; i < kSides; ++i) {
    const double angle = 2 * kPi * i / kSides;
    const Vec3 x(0.5 * length * std::cos(angle), 0.5 * width * std::sin(angle) * (1 + 0.2 * std::cos(angle)), 0);
    mesh.points.push_back(x);
    mesh.points.push_back(0.6 * x + height * Vec3::UnitZ());
  }
  return mesh;
}

const TestShape& pooled_shape(ShapeType type, std::mt19937_64& random) {
  return pool_of(type)[uniform_int(random, 0, kPooled - 1)];
}

double PairCase::size() const { return std::min(a.size, b.size); }

double PairCase::extent() const { return a.size + b.size + (X_WA.p - X_WB.p).norm(); }

PairCase random_case(const ShapePair& pair, std::mt19937_64& random) {
  switch (uniform_int(random, 0, 2)) {
    case 0: return distant_pair(pair, random, uniform(random, 0.5, 1.5));
    case 1: return near_case(pair, random);
    default: return overlapping_pair(pair, random, chance(random, 0.5) ? 1.0 : 0.3);
  }
}

PairCase near_case(const ShapePair& pair, std::mt19937_64& random, double depth, double margins) {
  PairCase c = chance(random, 0.5) ? overlapping_pair(pair, random, 0.7) : distant_pair(pair, random, 1);
  place_at(c, uniform(random, -depth, margins) * margin_of(c));
  return c;
}

PairCase resting_case(const ShapePair& pair, std::mt19937_64& random) {
  constexpr std::array kTilts = {0.0, 0.0, 1e-9, 1e-6, 1e-4, 1e-2, 0.1};
  PairCase c = pooled_pair(pair, random);
  const Vec3 n_b = resting_direction(c.b, random), n_a = resting_direction(c.a, random);
  const Vec3 n = c.X_WB.R * n_b;
  // R_WA n_a = −n, a turn about n (sometimes of a multiple of 45°) and a tilt.
  const double turn = chance(random, 0.5) ? 0.25 * kPi * uniform_int(random, 0, 7) : uniform(random, 0, 2 * kPi);
  const double tilt = kTilts[uniform_int(random, 0, static_cast<int>(kTilts.size()) - 1)];
  const Mat3 facing = rotation_from_z(-n) * rotation_from_z(n_a).transpose();
  c.X_WA.R = rotation_exp(tilt * random_vec3(random).normalized()) * rotation_about(n, turn) * facing;
  // From the middle of one part to somewhere near the middle of the other's.
  const Vec3 aside = random_vec3(random, uniform(random, 0, 0.6) * c.size());
  const Vec3 from = c.X_WA.R * c.a.collider.box_centre;
  c.X_WA.p = c.X_WB.p + aside - from;
  if (c.b.collider.hull) c.X_WA.p += c.X_WB.R * c.b.collider.hull->centre;
  place_along(c, n, uniform(random, -2, 2) * margin_of(c));
  return c;
}

PairCase lattice_case(const ShapePair& pair, std::mt19937_64& random) {
  PairCase c{make_test_shape(lattice_geometry(pair.a, random), 0), make_test_shape(lattice_geometry(pair.b, random), 1),
             lattice_pose(random, 0.125), lattice_pose(random, 0.125)};
  if (chance(random, 0.5)) std::swap(c.a.collider.shape, c.b.collider.shape);
  return c;
}

PairCase moved(const PairCase& c, const Pose& X) { return {c.a, c.b, X * c.X_WA, X * c.X_WB}; }

PairCase swapped(const PairCase& c) { return {c.b, c.a, c.X_WB, c.X_WA}; }

std::string describe(const PairCase& c) {
  return fmt::format("a: {}\n   {}\nb: {}\n   {}", numbers(c.a), numbers(c.X_WA), numbers(c.b), numbers(c.X_WB));
}

}  // namespace lithe::test
