#include "lithe/io/internal/joined_bodies.h"

namespace lithe::internal {

namespace {

constexpr int kMostWithoutShapes = 2;  // a joint about three axes is often written with two links between
constexpr int kMostSkipped = 8;        // links without mass in a row: one for each of six coordinates, and some

}  // namespace

RigidParts rigid_parts(const Model& model) {
  RigidParts result;
  result.part_of.assign(model.bodies().size(), RigidParts::kNone);
  // Bodies are numbered depth first, so that parents come before their children.
  for (std::size_t b = 1; b < model.bodies().size(); ++b) {
    // A weld continues the part above it; a joint begins a new one, and so does a weld to the world.
    const Body& body = model.bodies()[b];
    const int above = result.part_of[body.parent];
    if (body.joints.empty() && above != RigidParts::kNone) {
      result.part_of[b] = above;
    } else {
      int dofs = 0;
      for (const JointIndex j : body.joints) dofs += model.joints()[j].nv();
      result.part_of[b] = static_cast<int>(result.parts.size());
      result.parts.push_back({.parent = above, .floats = dofs >= 6});
    }
    RigidParts::Part& part = result.parts[result.part_of[b]];
    part.has_mass = part.has_mass || body.inertia.mass > 0 || !body.inertia.rotational.isZero(0);
  }
  // A body with several shapes is listed once.
  std::vector<char> listed(model.bodies().size(), 0);
  for (const Shape& shape : model.shapes()) {
    const int part = result.part_of[shape.body];
    if (part == RigidParts::kNone || listed[shape.body]) continue;
    listed[shape.body] = 1;
    result.parts[part].solid.push_back(shape.body);
  }
  return result;
}

std::vector<std::pair<int, int>> joined_parts(const RigidParts& parts) {
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t child = 0; child < parts.parts.size(); ++child) {
    if (parts.parts[child].solid.empty()) continue;
    // The way leads from the child inwards, across parts that are skipped. A part with shapes ends it if it has a mass,
    // since it is a link then and no coordinate.
    int without_shapes = 0;
    int at = static_cast<int>(child);
    for (int skipped = 0; skipped <= kMostSkipped && !parts.parts[at].floats; ++skipped) {
      at = parts.parts[at].parent;
      if (at == RigidParts::kNone) break;
      const RigidParts::Part& above = parts.parts[at];
      if (!above.solid.empty()) pairs.emplace_back(at, static_cast<int>(child));
      if (!above.has_mass) continue;
      if (!above.solid.empty() || ++without_shapes > kMostWithoutShapes) break;
    }
  }
  return pairs;
}

}  // namespace lithe::internal
