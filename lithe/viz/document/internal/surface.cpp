#include "lithe/viz/document/internal/surface.h"

#include <Eigen/Geometry>

#include <cmath>
#include <numbers>

#include "lithe/core/internal/overloaded.h"
#include "lithe/viz/document/internal/show_parts.h"

namespace lithe::internal {

namespace {

constexpr int kSegments = 32;  // around the axis
constexpr int kCapRings = 8;   // from a cap's equator to its pole

// Adds a vertex with the normal there.
void add_vertex(Surface& out, const Vec3& position, const Vec3& normal) {
  for (const double x : position) out.positions.push_back(show_number(x));
  for (const double x : normal) out.normals.push_back(show_number(x));
}

// A point of an outline that is turned about z, with the normal there.
struct OutlinePoint {
  double r, z, normal_r, normal_z;
};

// The outline runs from the bottom to the top. A point that is there twice, with two normals, makes an edge.
Surface turned(const std::vector<OutlinePoint>& outline) {
  Surface out;
  for (const OutlinePoint& point : outline) {
    for (int i = 0; i < kSegments; ++i) {
      const double angle = 2 * std::numbers::pi * i / kSegments;
      const double c = std::cos(angle), s = std::sin(angle);
      add_vertex(out, Vec3(point.r * c, point.r * s, point.z),
                 Vec3(point.normal_r * c, point.normal_r * s, point.normal_z));
    }
  }
  const auto vertex = [](std::size_t ring, int i) {
    return static_cast<std::uint32_t>(ring * kSegments + static_cast<std::size_t>(i % kSegments));
  };
  for (std::size_t k = 0; k + 1 < outline.size(); ++k) {
    const OutlinePoint &low = outline[k], &high = outline[k + 1];
    if (low.r == high.r && low.z == high.z) continue;
    for (int i = 0; i < kSegments; ++i) {
      const std::uint32_t a = vertex(k, i), b = vertex(k, i + 1), c = vertex(k + 1, i + 1), d = vertex(k + 1, i);
      if (low.r > 0) out.triangles.insert(out.triangles.end(), {a, b, c});
      if (high.r > 0) out.triangles.insert(out.triangles.end(), {a, c, d});
    }
  }
  return out;
}

// A capsule along z, or a sphere where it has no length: two caps, with the cylinder between their equators.
Surface capsule(double radius, double half_length) {
  std::vector<OutlinePoint> outline;
  const auto add = [&](int ring, double centre) {  // −kCapRings: the lower pole, 0: an equator
    const double angle = std::numbers::pi / 2 * ring / kCapRings;
    const double c = std::abs(ring) == kCapRings ? 0 : std::cos(angle), s = std::sin(angle);
    outline.push_back({radius * c, centre + radius * s, c, s});
  };
  for (int ring = -kCapRings; ring <= 0; ++ring) add(ring, -half_length);
  for (int ring = half_length > 0 ? 0 : 1; ring <= kCapRings; ++ring) add(ring, half_length);
  return turned(outline);
}

// A cylinder along z. Its edges are in the outline twice, once with the normal of each side.
Surface cylinder(double r, double h) {
  return turned({{0, -h, 0, -1}, {r, -h, 0, -1}, {r, -h, 1, 0}, {r, h, 1, 0}, {r, h, 0, 1}, {0, h, 0, 1}});
}

// Triangles with vertices of their own, so that each has one normal: (b − a) × (c − a). Unit edges keep the product in
// range whatever the size of the mesh, and its length is then the sine of the angle between them.
Surface flat(const ShowMesh& mesh) {
  Surface out;
  for (std::size_t i = 0; i + 2 < mesh.triangles.size(); i += 3) {
    const Vec3 corner[3] = {mesh.vertices[mesh.triangles[i]], mesh.vertices[mesh.triangles[i + 1]],
                            mesh.vertices[mesh.triangles[i + 2]]};
    const Vec3 normal = (corner[1] - corner[0]).stableNormalized().cross((corner[2] - corner[0]).stableNormalized());
    const double sine = normal.norm();
    if (!(sine > 1e-12)) continue;
    for (const Vec3& p : corner) {
      out.triangles.push_back(static_cast<std::uint32_t>(out.positions.size() / 3));
      add_vertex(out, p, normal / sine);
    }
  }
  return out;
}

// A square in the plane z = 0, seen from above.
ShowMesh square(double half_size) {
  ShowMesh mesh;
  for (const auto& [x, y] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
    mesh.vertices.push_back(half_size * Vec3(x, y, 0));
  }
  mesh.triangles = {0, 1, 2, 0, 2, 3};
  return mesh;
}

}  // namespace

Surface surface_of(const ShowShape& shape) {
  return std::visit(
      Overloaded{[](const Sphere& s) { return capsule(s.radius, 0); },
                 [](const Capsule& c) { return capsule(c.radius, c.half_length); },
                 [](const Cylinder& c) { return cylinder(c.radius, c.half_length); },
                 [](const Box& b) { return flat(hull_mesh(box_hull(b.half_size))); },
                 [](const Plane&) { return flat(square(kPlaneHalfSize)); }, [](const ShowMesh& m) { return flat(m); }},
      shape.geometry);
}

}  // namespace lithe::internal
