#include <fmt/core.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "apps/lithe/demo.h"
#include "apps/lithe/stopwatch.h"
#include "lithe/collision/collide.h"
#include "lithe/collision/contact_derivatives.h"
#include "lithe/spatial/rotation.h"

namespace lithe::cli {

namespace {

constexpr double kDifferenceStep = 1e-6;

struct Still {
  const char* title;
  Geometry a, b;
  Pose X_WA, X_WB;
};

Mat3 turned(const Vec3& axis, double degrees) { return rotation_about(axis, degrees * std::numbers::pi / 180); }

std::vector<Still> stills() {
  const Vec3 x = Vec3::UnitX(), y = Vec3::UnitY(), z = Vec3::UnitZ();
  const Geometry cube = Box{Vec3::Constant(0.5)};
  const Geometry can = Cylinder{0.3, 0.4};
  const Geometry log = Capsule{0.1, 0.5};
  ConvexMesh foot;  // a hexagonal sole under a smaller instep
  for (int i = 0; i < 6; ++i) {
    const Vec3 corner = turned(z, 60 * i) * x;
    foot.points.push_back(0.2 * corner);
    foot.points.push_back(0.1 * corner + 0.1 * z);
  }
  return {
      {"box on a box, turned by 45°", cube, cube, {turned(z, 45), 0.9999 * z}, {}},
      {"box on a box, over its corner", cube, cube, {turned(z, 17), Vec3(0.37, 0.21, 0.9999)}, {}},
      {"two boxes, edge over edge", cube, cube, {turned(x, 45), 1.414 * z}, {turned(y, 45), Vec3::Zero()}},
      {"mesh foot on a plane", foot, Plane{}, {Mat3::Identity(), -1e-5 * z}, {}},
      {"can standing on a box, partly", can, cube, {Mat3::Identity(), Vec3(0.4, 0, 0.8999)}, {}},
      {"can leaning on a box", can, cube, {turned(x, 35), Vec3(0, 0, 0.999)}, {}},
      {"log across a box's edge", log, cube, {turned(y, 90), Vec3(0.5, 0, 0.5999)}, {}},
      {"log over log", log, log, {turned(x, 90), Vec3(0.02, 0, 0.1999)}, {turned(y, 70), Vec3::Zero()}},
      {"ball on a can's rim", Sphere{0.2}, can, Pose::translation(0.4, 0.1, 0.5), {}},
  };
}

// A body moved by a small twist about p.
Pose moved(const Pose& X, const Vec3& p, const Vec6& twist) {
  const Mat3 R = rotation_exp(twist.head<3>());
  return {R * X.R, p + twist.tail<3>() + R * (X.p - p)};
}

class Scene {
 public:
  explicit Scene(const Still& still)
      : still_(still),
        a_(make_collider({.name = "a", .geometry = still.a}, ShapeIndex(0))),
        b_(make_collider({.name = "b", .geometry = still.b}, ShapeIndex(1))) {}

  const std::vector<Contact>& detect(const Pose& X_WA, const Pose& X_WB) {
    contacts_.clear();
    collide(a_, X_WA, b_, X_WB, scratch_, contacts_);
    return contacts_;
  }
  const std::vector<Contact>& detect() { return detect(still_.X_WA, still_.X_WB); }

  // The largest difference between a contact's analytic derivatives and central differences of the detection.
  double error_of(const Contact& contact) {
    const ContactDerivatives d = contact_derivatives(contact);
    double worst = 0;
    for (int body = 0; body < 2; ++body) {
      for (int k = 0; k < 6; ++k) {
        const Vec6 twist = kDifferenceStep * Vec6::Unit(k);
        const auto at = [&](const Vec6& t) { return values(contact, body, t); };
        const Eigen::Matrix<double, 7, 1> numeric = (at(twist) - at(-twist)) / (2 * kDifferenceStep);
        worst = std::max(worst, (numeric - (body == 0 ? d.by_a : d.by_b).col(k)).cwiseAbs().maxCoeff());
      }
    }
    return worst;
  }

 private:
  // p, n and gap of the same contact with one body moved; far off if its features are gone.
  Eigen::Matrix<double, 7, 1> values(const Contact& contact, int body, const Vec6& twist) {
    const Pose X_WA = body == 0 ? moved(still_.X_WA, contact.p, twist) : still_.X_WA;
    const Pose X_WB = body == 1 ? moved(still_.X_WB, contact.p, twist) : still_.X_WB;
    Eigen::Matrix<double, 7, 1> value = Eigen::Matrix<double, 7, 1>::Constant(1e9);
    for (const Contact& c : detect(X_WA, X_WB)) {
      if (c.id() == contact.id()) value << c.p, c.n, c.gap;
    }
    return value;
  }

  const Still& still_;
  Collider a_, b_;
  PairScratch scratch_;
  std::vector<Contact> contacts_;
};

}  // namespace

void show_contacts() {
  fmt::print("Contact points, normals and gaps, and their derivatives by both bodies' motions\n\n");
  fmt::print("  {:<32}{:>8}{:>12}{:>12}\n", "", "points", "detection", "error");
  for (const Still& still : stills()) {
    Scene scene(still);
    constexpr int kCalls = 100;
    const double seconds = best_seconds(30, [&] {
      for (int i = 0; i < kCalls; ++i) scene.detect();
    });
    double error = 0;
    const std::vector<Contact> contacts = scene.detect();
    for (const Contact& contact : contacts) error = std::max(error, scene.error_of(contact));
    fmt::print("  {:<32}{:>8}{:>9.2f} µs{:>12.1e}\n", still.title, contacts.size(), 1e6 * seconds / kCalls, error);
  }
  fmt::print("\n  Error: largest difference from central differences of the whole detection.\n");
}

}  // namespace lithe::cli
