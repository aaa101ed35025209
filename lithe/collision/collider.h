#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lithe/core/index.h"
#include "lithe/model/shape.h"
#include "lithe/spatial/pose.h"

namespace lithe {

// In the order in which pair tests take them: a pair (a, b) has type(a) ≤ type(b).
enum class ShapeType : std::uint8_t { sphere, capsule, cylinder, box, mesh, plane };
inline constexpr int kShapeTypes = 6;

const char* to_string(ShapeType type);

// A shape as collision sees it: sizes at hand, hull built, bounds known.
struct Collider {
  ShapeIndex shape = {};
  BodyIndex body = {};
  ShapeType type = ShapeType::sphere;
  double radius = 0;                           // sphere, capsule, cylinder
  double half_length = 0;                      // capsule, cylinder: along z
  Vec3 half_size = Vec3::Zero();               // box
  std::shared_ptr<const internal::Hull> hull;  // box and mesh
  Pose placement = {};                         // of the shape's frame G in the body
  bool placed_at_origin = true;                // placement is the identity
  double margin = 0;

  // Bounds in G; a plane has none (infinite radius).
  Vec3 box_centre = Vec3::Zero(), box_half = Vec3::Zero();
  double length_scale = 0;  // what tolerances are measured in
};

// Prepares a shape; the hull of a mesh may add warnings. A shape may have no thickness, but a box or a cylinder that is a
// mere point is refused: as a sphere of radius 0 it has directions to be measured in.
Collider make_collider(const Shape& shape, ShapeIndex index, std::vector<std::string>* warnings = nullptr);

// The tolerances of a pair (see docs/collision.md): everything a rounding error could decide lies inside a band.
struct Bands {
  double length;    // L, the smaller of the two shapes'
  double margin;    // contacts exist up to this gap: 1e-3 L, or the shapes' own margins if larger
  double side;      // δ = 1e-4 L: a face's prism reaches this far beyond its sides
  double face_tie;  // 1e-5 L: faces this close to the best are equally good; area, then number decides
  double edge_tie;  // 1e-4 L: edges win only by more than this
};
Bands bands_of(const Collider& a, const Collider& b);

}  // namespace lithe
