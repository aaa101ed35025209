#include "lithe/collision/collider.h"

#include <algorithm>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/hull/shared_hull.h"
#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/core/internal/overloaded.h"

namespace lithe {

using namespace internal;
namespace {

void set_bounds(Collider& c, const Vec3& half) {
  c.box_centre = Vec3::Zero();
  c.box_half = half;
}

}  // namespace

const char* to_string(ShapeType type) {
  constexpr const char* kNames[kShapeTypes] = {"sphere", "capsule", "cylinder", "box", "mesh", "plane"};
  return kNames[static_cast<int>(type)];
}

double thickness_scale(double width, double radius) { return std::clamp(10 * width, radius / 100, radius); }

Collider make_collider(const Shape& shape, ShapeIndex index, std::vector<std::string>* warnings) {
  Collider c;
  c.shape = index;
  c.body = shape.body;
  c.placement = shape.placement;
  c.placed_at_origin = shape.placement.R == Mat3::Identity() && shape.placement.p == Vec3::Zero();
  c.margin = shape.margin;
  std::visit(Overloaded{
                 [&](const Sphere& s) {
                   c.type = ShapeType::sphere;
                   c.radius = s.radius;
                   set_bounds(c, Vec3::Constant(s.radius));
                   c.length_scale = s.radius;
                 },
                 [&](const Capsule& s) {
                   c.type = ShapeType::capsule;
                   c.radius = s.radius;
                   c.half_length = s.half_length;
                   set_bounds(c, Vec3(s.radius, s.radius, s.radius + s.half_length));
                   c.length_scale = thickness_scale(2 * s.radius, s.radius + s.half_length);
                 },
                 [&](const Cylinder& s) {
                   LITHE_CHECK(s.radius > 0 || s.half_length > 0,
                               "shape '{}': a cylinder of radius 0 and half length 0 is a point; make it a sphere",
                               shape.name);
                   c.type = ShapeType::cylinder;
                   c.radius = s.radius;
                   c.half_length = s.half_length;
                   set_bounds(c, Vec3(s.radius, s.radius, s.half_length));
                   c.length_scale =
                       thickness_scale(2 * std::min(s.radius, s.half_length), Vec3(s.radius, 0, s.half_length).norm());
                 },
                 [&](const Box& s) {
                   LITHE_CHECK(s.half_size.maxCoeff() > 0,
                               "shape '{}': a box of half size (0, 0, 0) is a point; make it a sphere", shape.name);
                   c.type = ShapeType::box;
                   c.half_size = s.half_size;
                   c.hull = std::make_shared<const Hull>(box_hull(s.half_size));
                   set_bounds(c, s.half_size);
                   c.length_scale = thickness_scale(2 * s.half_size.minCoeff(), s.half_size.norm());
                 },
                 [&](const Plane&) {
                   c.type = ShapeType::plane;
                   set_bounds(c, Vec3::Constant(kInfinity));
                   c.length_scale = kInfinity;
                 },
                 [&](const ConvexMesh& s) {
                   c.type = ShapeType::mesh;
                   SharedHull shared = shared_hull(s, shape.name);
                   if (warnings) warnings->insert(warnings->end(), shared.warnings.begin(), shared.warnings.end());
                   c.hull = std::move(shared.hull);
                   c.box_centre = c.hull->box_centre;
                   c.box_half = c.hull->box_half;
                   c.length_scale = thickness_scale(c.hull->width, c.hull->radius);
                 },
             },
             shape.geometry);
  return c;
}

Bands bands_of(const Collider& a, const Collider& b) {
  const double length = std::min(a.length_scale, b.length_scale);
  return {.length = length,
          .margin = std::max(1e-3 * length, a.margin + b.margin),
          .side = 1e-4 * length,
          .face_tie = 1e-5 * length,
          .edge_tie = 1e-4 * length};
}

}  // namespace lithe
