#include "lithe/viz/document/internal/show_parts.h"

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/hull/shared_hull.h"
#include "lithe/core/check.h"
#include "lithe/core/internal/overloaded.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"

namespace lithe::internal {

namespace {

// The triangles of a visual, scaled. A scale that mirrors turns them inside out, so they are turned back.
ShowMesh mesh_of(const Visual::Mesh& visual, const std::string& name) {
  LITHE_CHECK(visual.triangles != nullptr, "visual '{}' has no triangles", name);
  ShowMesh mesh;
  for (const Vec3& vertex : visual.triangles->vertices) {
    mesh.vertices.push_back(vertex.cwiseProduct(visual.scale));
    LITHE_CHECK(mesh.vertices.back().allFinite(), "a vertex of visual '{}' is not finite", name);
  }
  const bool mirrored = visual.scale.prod() < 0;
  for (const std::array<std::int32_t, 3>& triangle : visual.triangles->triangles) {
    for (const std::int32_t vertex : {triangle[0], triangle[mirrored ? 2 : 1], triangle[mirrored ? 1 : 2]}) {
      LITHE_CHECK(vertex >= 0 && static_cast<std::size_t>(vertex) < mesh.vertices.size(),
                  "a triangle of visual '{}' has vertex {}, of {}", name, vertex, mesh.vertices.size());
      mesh.triangles.push_back(static_cast<std::uint32_t>(vertex));
    }
  }
  return mesh;
}

}  // namespace

ShowMesh hull_mesh(const Hull& hull) {
  ShowMesh mesh = {.vertices = hull.vertices};
  for (int face = 0; face < static_cast<int>(hull.faces.size()); ++face) {
    // A face is convex, so triangles from its first vertex to each of the other edges fill it.
    const std::span<const int> ring = hull.face_vertices(face);
    for (std::size_t i = 2; i < ring.size(); ++i) {
      for (const int vertex : {ring[0], ring[i - 1], ring[i]}) {
        mesh.triangles.push_back(static_cast<std::uint32_t>(vertex));
      }
    }
  }
  return mesh;
}

// Bodies in the order of the model, with the places that they have in the neutral configuration.
std::vector<ShowBody> show_bodies(const Model& model) {
  Kinematics kin;
  kinematics(model, neutral_configuration(model), kin);
  std::vector<Pose> X_WB;
  body_poses(model, kin, X_WB);
  std::vector<ShowBody> bodies;
  for (std::size_t i = 0; i < model.bodies().size(); ++i) {
    bodies.push_back({.name = model.bodies()[i].name, .robot = model.tree().bodies[i].tree, .neutral = X_WB[i]});
  }
  return bodies;
}

std::vector<ShowShape> show_shapes(const Model& model, const std::vector<Visual>& visuals) {
  std::vector<ShowShape> shapes;
  for (const Shape& shape : model.shapes()) {
    shapes.push_back({.name = shape.name, .body = shape.body, .placement = shape.placement});
    std::visit(Overloaded{[&](const ConvexMesh& mesh) {
                            shapes.back().geometry = hull_mesh(*shared_hull(mesh, shape.name).hull);
                          },
                          [&](const auto& primitive) { shapes.back().geometry = primitive; }},
               shape.geometry);
  }
  for (const Visual& visual : visuals) {
    shapes.push_back({.name = visual.name,
                      .body = model.body(visual.body),
                      .visual = true,
                      .placement = visual.placement,
                      .color = visual.color});
    std::visit(Overloaded{[&](const Visual::Mesh& mesh) { shapes.back().geometry = mesh_of(mesh, visual.name); },
                          [&](const auto& primitive) { shapes.back().geometry = primitive; }},
               visual.geometry);
  }
  return shapes;
}

std::vector<ShowJoint> show_joints(const Model& model) {
  std::vector<ShowJoint> joints(model.joints().size());
  for (const Body& body : model.bodies()) {
    Pose X_JB = body.placement;  // from the last joint backwards, every joint between at zero
    for (auto joint = body.joints.rbegin(); joint != body.joints.rend(); ++joint) {
      const Joint& from = model.joints()[*joint];
      const Pose X_BJ = X_JB.inverse();
      joints[*joint] = {
          .name = from.name, .type = from.type, .body = from.body, .position = X_BJ.p, .axis = X_BJ.R * from.axis};
      X_JB = from.placement * X_JB;
    }
  }
  return joints;
}

}  // namespace lithe::internal
