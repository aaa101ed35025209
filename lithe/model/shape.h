#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "lithe/core/eigen.h"
#include "lithe/core/index.h"
#include "lithe/spatial/pose.h"

namespace lithe {

namespace internal {
struct Hull;  // lithe/collision/hull/hull.h
}  // namespace internal

// Geometry in its own frame G, centred at the origin; capsules and cylinders along z.
struct Sphere {
  double radius = 0;
  bool operator==(const Sphere&) const = default;
};
struct Capsule {
  double radius = 0;
  double half_length = 0;  // from the centre to the centre of a cap
  bool operator==(const Capsule&) const = default;
};
struct Box {
  Vec3 half_size = Vec3::Zero();
  bool operator==(const Box&) const = default;
};
struct Cylinder {
  double radius = 0;
  double half_length = 0;
  bool operator==(const Cylinder&) const = default;
};
struct Plane {  // the half-space z ≤ 0
  bool operator==(const Plane&) const = default;
};
struct ConvexMesh {
  std::vector<Vec3> points = {};  // whose convex hull is meant
  // That hull, where somebody has built it already, as load() has: copies of a shape share it. Whoever changes the points resets it.
  std::shared_ptr<const internal::Hull> hull = {};
  bool operator==(const ConvexMesh& other) const { return points == other.points; }
};

using Geometry = std::variant<Sphere, Capsule, Box, Cylinder, Plane, ConvexMesh>;

// How a surface rubs and bounces. What holds for a contact follows from both of its shapes.
struct Material {
  double friction = 1;     // Coulomb's μ
  double restitution = 0;  // 0 … 1
};

// Two shapes may collide when each one's groups meet the other's mask.
struct CollisionFilter {
  std::uint32_t groups = 1;
  std::uint32_t mask = ~std::uint32_t{0};
  bool operator==(const CollisionFilter&) const = default;
};

// A piece of a body's surface.
struct Shape {
  std::string name;
  Geometry geometry = {};
  Pose placement = {};  // of G in the body frame
  Material material = {};
  double margin = 0;  // contacts exist already at this distance
  CollisionFilter filter = {};

  BodyIndex body = {};  // filled in by ModelBuilder::build()
};

}  // namespace lithe
