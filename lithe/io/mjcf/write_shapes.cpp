#include <algorithm>
#include <map>

#include "lithe/core/internal/overloaded.h"
#include "lithe/io/mjcf/write_parts.h"

namespace lithe::internal::mjcf {

namespace {

constexpr double kThin = 1e-9;           // m; MJCF has no sizes of 0
constexpr std::size_t kMostGroups = 31;  // contype is a signed number of 32 bits

std::string mesh_name(const Shape& shape) { return shape.name + "_points"; }

// The size as MJCF accepts it: one of 0 becomes very small, with a warning.
double thick(double size, const Shape& shape, Output& out) {
  if (size > 0) return size;
  out.warn("thin shape", fmt::format("shape '{}' has a size of 0, written as {}", shape.name, kThin));
  return kThin;
}

// Writes the type and size of a geom. A capsule without length is a sphere.
void write_geometry(const Shape& shape, Output& out) {
  const auto write = [&](const char* type, const ConstVecRef& size) {
    out.attribute("type", type);
    out.attribute("size", text_of(size));
  };
  std::visit(
      Overloaded{
          [&](const Sphere& g) { write("sphere", VecX::Constant(1, g.radius)); },
          [&](const Capsule& g) {
            if (g.half_length > 0) {
              write("capsule", Eigen::Vector2d(g.radius, g.half_length));
            } else {
              write("sphere", VecX::Constant(1, g.radius));
            }
          },
          [&](const Cylinder& g) { write("cylinder", Eigen::Vector2d(g.radius, thick(g.half_length, shape, out))); },
          [&](const Box& g) {
            Vec3 size = g.half_size;
            for (double& x : size) x = thick(x, shape, out);
            write("box", size);
          },
          [&](const Plane&) { write("plane", Vec3(0, 0, 1)); },
          [&](const ConvexMesh&) {
            out.attribute("type", "mesh");
            out.attribute("mesh", mesh_name(shape));
          },
      },
      shape.geometry);
}

// Whether MJCF can hold the shape: it has no planes on moving bodies.
bool is_written(const Model& model, const Shape& shape) {
  const bool moves = model.tree().bodies[shape.body].dof >= 0;
  return !(moves && std::holds_alternative<Plane>(shape.geometry));
}

}  // namespace

void write_geom(const Model& model, const Shape& shape, std::uint32_t contype, std::uint32_t conaffinity, Output& out) {
  if (!is_written(model, shape)) {
    out.warn("moving plane", fmt::format("plane '{}' is on a body that moves, which MJCF does not allow", shape.name));
    return;
  }
  out.open("geom");
  out.attribute("name", shape.name);
  write_geometry(shape, out);
  out.pose(shape.placement);
  out.attribute_unless(1, "friction", shape.material.friction);
  out.attribute_unless(0, "margin", shape.margin);
  if (contype != 1) out.attribute("contype", fmt::format("{}", contype));
  if (conaffinity != 1) out.attribute("conaffinity", fmt::format("{}", conaffinity));
  out.close();
  if (shape.material.restitution > 0) {
    out.warn("restitution", fmt::format("shape '{}' bounces; MJCF knows no restitution", shape.name));
  }
}

void write_meshes(const Model& model, Output& out) {
  // In MJCF a mesh that has vertices and no faces means its convex hull.
  const auto is_mesh = [](const Shape& shape) { return std::holds_alternative<ConvexMesh>(shape.geometry); };
  if (std::ranges::none_of(model.shapes(), is_mesh)) return;
  out.open("asset");
  for (const Shape& shape : model.shapes()) {
    if (!is_mesh(shape)) continue;
    std::string points;
    for (const Vec3& p : std::get<ConvexMesh>(shape.geometry).points) {
      points += fmt::format("{}{}", points.empty() ? "" : "  ", text_of(p));
    }
    out.open("mesh");
    out.attribute("name", mesh_name(shape));
    out.attribute("vertex", points);
    out.close();
  }
  out.close();
}

// The contact bits of each shape. Each filter that occurs gets a bit of its own as contype, and the bits of those it
// touches as conaffinity. That relation is symmetric, so MuJoCo's "either way" is the same as Lithe's "both ways".
std::vector<std::pair<std::uint32_t, std::uint32_t>> contact_bits(const Model& model, Output& out) {
  std::vector<CollisionFilter> filters;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> index;
  std::vector<std::size_t> filter_of;
  for (const Shape& shape : model.shapes()) {
    const auto [known, is_new] = index.try_emplace({shape.filter.groups, shape.filter.mask}, filters.size());
    if (is_new) filters.push_back(shape.filter);
    filter_of.push_back(known->second);
  }
  if (filters.size() > kMostGroups) {
    out.warn("filters",
             fmt::format("there are {} different collision filters; MJCF holds {}, and the rest collide with "
                         "everything",
                         filters.size(), kMostGroups));
  }
  constexpr std::uint32_t kAll = 0x7fffffff;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> bits(filters.size(), {kAll, kAll});
  for (std::size_t i = 0; i < std::min(filters.size(), kMostGroups); ++i) {
    bits[i] = {std::uint32_t{1} << i, 0};
    for (std::size_t j = 0; j < std::min(filters.size(), kMostGroups); ++j) {
      const bool touch = (filters[i].groups & filters[j].mask) != 0 && (filters[j].groups & filters[i].mask) != 0;
      if (touch) bits[i].second |= std::uint32_t{1} << j;
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
  for (const std::size_t filter : filter_of) result.push_back(bits[filter]);
  return result;
}

void write_contacts(const Model& model, Output& out) {
  std::map<std::pair<int, int>, bool> exceptions;  // of several for the same bodies the last one counts
  for (const Model::PairException& e : model.pair_exceptions()) {
    exceptions[{std::min<int>(e.a, e.b), std::max<int>(e.a, e.b)}] = e.collide;
  }
  if (exceptions.empty()) return;
  std::vector<std::vector<const Shape*>> shapes(model.bodies().size());
  for (const Shape& shape : model.shapes()) {
    if (is_written(model, shape)) shapes[shape.body].push_back(&shape);
  }
  out.open("contact");
  for (const auto& [bodies, collide] : exceptions) {
    if (!collide) {
      out.open("exclude");
      out.attribute("body1", model.bodies()[bodies.first].name);
      out.attribute("body2", model.bodies()[bodies.second].name);
      out.close();
      continue;
    }
    // MJCF knows such an exception for two geoms only, so all of the two bodies are listed.
    for (const Shape* a : shapes[bodies.first]) {
      for (const Shape* b : shapes[bodies.second]) {
        out.open("pair");
        out.attribute("geom1", a->name);
        out.attribute("geom2", b->name);
        out.close();
      }
    }
  }
  out.close();
}

}  // namespace lithe::internal::mjcf
