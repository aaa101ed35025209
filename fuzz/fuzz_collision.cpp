#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fuzzer/FuzzedDataProvider.h>
#include <vector>

#include "lithe/collision/collide.h"
#include "lithe/collision/contact_derivatives.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/core/check.h"
#include "lithe/spatial/rotation.h"

// Bytes become two shapes and their poses: sizes over many magnitudes, zero included, turns and shifts that often make
// things parallel, coplanar or coincident. Whatever they are, contacts and distances are finite, of unit normal, within
// their bounds, and the same with the shapes exchanged.
namespace lithe {

using namespace internal;
namespace {

struct Case {
  Collider a, b;
  Pose X_WA, X_WB;
};

void print(const char* name, const Collider& c, const Pose& X) {
  fmt::print(stderr, "{}: {}, radius {}, half length {}, half size ({}, {}, {})\n", name, to_string(c.type), c.radius,
             c.half_length, c.half_size.x(), c.half_size.y(), c.half_size.z());
  if (c.type == ShapeType::mesh) {
    for (const Vec3& v : c.hull->vertices) fmt::print(stderr, "  vertex ({}, {}, {})\n", v.x(), v.y(), v.z());
  }
  for (int i = 0; i < 3; ++i) {
    fmt::print(stderr, "  [{}, {}, {}]  {}\n", X.R(i, 0), X.R(i, 1), X.R(i, 2), X.p[i]);
  }
}

void require(bool condition, const char* what, const Case& c) {
  if (condition) return;
  fmt::print(stderr, "fuzz_collision: {} – {}: {}\n", to_string(c.a.type), to_string(c.b.type), what);
  print("a", c.a, c.X_WA);
  print("b", c.b, c.X_WB);
  std::abort();
}

class Description {
 public:
  Description(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  int below(int count) { return bytes_.ConsumeIntegralInRange(0, count - 1); }

  // Zero, or a round or an arbitrary number of any magnitude from 1e-4 to 100.
  double length() {
    switch (below(8)) {
      case 0: return 0;
      case 1:
      case 2:
      case 3: return 0.25 * (1 + below(8));
      case 4: return std::pow(10.0, below(7) - 4);
      default: return bytes_.ConsumeFloatingPointInRange(0.01, 2.0);
    }
  }
  double coordinate() {
    const double sign = below(2) == 0 ? -1 : 1;
    return sign * (below(3) == 0 ? bytes_.ConsumeFloatingPointInRange(0.0, 3.0) : length());
  }
  Vec3 vec3() { return Vec3(coordinate(), coordinate(), coordinate()); }

  Mat3 rotation() {
    Mat3 R = Mat3::Identity();
    for (int turns = below(3); turns > 0; --turns) R = R * rotation_about(Vec3::Unit(below(3)), angle());
    return R;
  }
  Pose pose() { return {rotation(), below(4) == 0 ? Vec3(Vec3::Zero()) : vec3()}; }

  Geometry geometry() {
    switch (below(kShapeTypes)) {
      case 0: return Sphere{length()};
      case 1: return Capsule{length(), length()};
      case 2: return Cylinder{length(), length()};
      case 3: return Box{Vec3(length(), length(), length())};
      case 4: {
        ConvexMesh mesh;
        for (int points = 3 + below(30); points > 0; --points) mesh.points.push_back(vec3());
        return mesh;
      }
      default: return Plane{};
    }
  }

 private:
  double angle() {
    const double eighth = below(8) * std::acos(0.0) / 2;
    constexpr double kOff[] = {0, 0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 0.1};
    return below(3) == 0 ? bytes_.ConsumeFloatingPointInRange(-3.2, 3.2) : eighth + kOff[below(8)];
  }
  FuzzedDataProvider bytes_;
};

bool finite(const Contact& c) { return c.p.allFinite() && c.n.allFinite() && std::isfinite(c.gap); }

void check_contact(const Contact& contact, const Case& c) {
  require(finite(contact), "a contact is not finite", c);
  require(std::abs(contact.n.norm() - 1) < 1e-9, "a normal is no unit vector", c);
  const ContactDerivatives d = contact_derivatives(contact);
  require(d.by_a.allFinite() && d.by_b.allFinite(), "a derivative is not finite", c);
  const ContactSizeDerivatives s = contact_size_derivatives(contact, c.a, c.X_WA, c.b, c.X_WB);
  require(s.by_a.allFinite() && s.by_b.allFinite(), "a derivative by a size is not finite", c);
}

void check_pair(const Case& c, int max_points) {
  PairScratch scratch;
  std::vector<Contact> contacts, exchanged;
  collide(c.a, c.X_WA, c.b, c.X_WB, scratch, contacts, max_points);
  require(static_cast<int>(contacts.size()) <= max_points, "too many contacts", c);
  for (const Contact& contact : contacts) {
    check_contact(contact, c);
    require(contact.gap <= bands_of(c.a, c.b).margin, "a contact beyond the margin", c);
  }
  collide(c.b, c.X_WB, c.a, c.X_WA, scratch, exchanged, max_points);
  require(exchanged.size() == contacts.size(), "another number of contacts with the shapes exchanged", c);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    require(exchanged[i].p == contacts[i].p && exchanged[i].n == -contacts[i].n, "exchanging is not mirroring", c);
  }
  if (c.a.type != ShapeType::plane || c.b.type != ShapeType::plane) {
    check_contact(distance(c.a, c.X_WA, c.b, c.X_WB, scratch), c);
  }
}

void run(Description input) {
  const Shape a = {.name = "a", .geometry = input.geometry()};
  const Shape b = {.name = "b", .geometry = input.geometry()};
  const Pose X_WA = input.pose(), X_WB = input.pose();
  const int max_points = 1 + input.below(16);
  try {
    check_pair({make_collider(a, ShapeIndex(0)), make_collider(b, ShapeIndex(1)), X_WA, X_WB}, max_points);
  } catch (const Error&) {
    // A mesh without a hull.
  }
}

}  // namespace
}  // namespace lithe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lithe::run({data, size});
  return 0;
}
