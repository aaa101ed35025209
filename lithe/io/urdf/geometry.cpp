#include <algorithm>
#include <cmath>

#include "lithe/core/internal/suggest.h"
#include "lithe/io/urdf/robot.h"

namespace lithe::internal {

namespace {

constexpr std::size_t kMostMissingVisuals = 1000;  // each is looked for in many folders

// Refuses a number beyond kLargestUrdfNumber, and returns the others. `what` is the name of the attribute.
double within_bounds(const XmlElement& element, std::string_view what, double x) {
  if (std::abs(x) > kLargestUrdfNumber) {
    element.fail(fmt::format("{} of <{}> is {:g}; nothing about a robot is beyond {:g}", what, element.name(), x,
                             kLargestUrdfNumber));
  }
  return x;
}

// Refuses a negative number, and returns the others.
double not_negative(const XmlElement& element, const char* name, double x) {
  if (x < 0) element.fail(fmt::format("{} of <{}> is {:g}, but must not be negative", name, element.name(), x));
  return x;
}

}  // namespace

double urdf_number(const XmlElement& element, const char* name) {
  return within_bounds(element, name, element.required_number(name));
}

double urdf_number(const XmlElement& element, const char* name, double otherwise) {
  const std::optional<double> x = element.number(name);
  return x ? within_bounds(element, name, *x) : otherwise;
}

double urdf_number_not_negative(const XmlElement& element, const char* name, double otherwise) {
  return not_negative(element, name, urdf_number(element, name, otherwise));
}

Vec3 urdf_vector(const XmlElement& element, const char* name, const Vec3& otherwise) {
  const std::optional<Vec3> x = element.vector3(name);
  if (!x) return otherwise;
  for (const double part : *x) within_bounds(element, name, part);
  return *x;
}

double urdf_value(const XmlElement& element) {
  if (element.attribute("value")) return urdf_number(element, "value");
  return within_bounds(element, "the text", element.text_number());
}

double urdf_friction(const XmlElement& element, UrdfReading& reading) {
  const double x = element.attribute("value") ? element.required_number("value") : element.text_number();
  if (x < 0) element.fail(fmt::format("<{}> is {:g}, but must not be negative", element.name(), x));
  if (x <= kMostUrdfFriction) return x;
  reading.warn(element, "gazebo.friction",
               fmt::format("<{}> is {:g}: a friction of {:g} is taken, with which nothing slips either", element.name(),
                           x, kMostUrdfFriction));
  return kMostUrdfFriction;
}

XmlElement only_child(const XmlElement& parent, const char* name, UrdfReading& reading) {
  const std::vector<XmlElement> all = parent.children(name);
  if (all.empty()) return {};
  if (all.size() > 1) {
    reading.warn(all[1], fmt::format("second.{}", name),
                 fmt::format("<{}> has {} <{}>; only the first counts", parent.name(), all.size(), name));
  }
  return all.front();
}

Pose read_urdf_origin(const XmlElement& parent, UrdfReading& reading) {
  const XmlElement origin = only_child(parent, "origin", reading);
  if (!origin) return {};
  warn_of_unknown(origin, "urdf", {}, {"xyz", "rpy", "quat_xyzw"}, reading.warnings);
  Pose pose = Pose::translation(urdf_vector(origin, "xyz", Vec3::Zero()));
  // Newer files may have a quaternion x y z w instead of rpy.
  if (!origin.attribute("quat_xyzw")) {
    pose.R = rotation_from_rpy(urdf_vector(origin, "rpy", Vec3::Zero()));
    return pose;
  }
  if (origin.attribute("rpy")) origin.fail("<origin> has both rpy and quat_xyzw; leave one of them out");
  const VecX q = origin.numbers("quat_xyzw", 4, 4);
  for (const double part : q) within_bounds(origin, "quat_xyzw", part);
  pose.R = rotation_from_wxyz(Vec4(q[3], q[0], q[1], q[2]), origin.place(), reading.warnings);
  return pose;
}

namespace {

// A <mesh> whose file is not read yet.
struct MeshReference {
  XmlElement element;
  std::string uri;
  Vec3 scale = Vec3::Ones();
};
using UrdfGeometry = std::variant<Sphere, Capsule, Box, Cylinder, MeshReference>;

// Reads a <box>, whose size is the length of its edges. A Box has half of them.
Box read_box(const XmlElement& box, UrdfReading& reading) {
  warn_of_unknown(box, "urdf", {}, {"size"}, reading.warnings);
  box.required_attribute("size");
  const Vec3 size = urdf_vector(box, "size", Vec3::Zero());
  for (const double edge : size) not_negative(box, "size", edge);
  return {size / 2};
}

// Reads a <mesh>. Its scale should be three numbers; one that is meant for all three directions occurs as well.
MeshReference read_mesh_reference(const XmlElement& mesh, UrdfReading& reading) {
  warn_of_unknown(mesh, "urdf", {}, {"filename", "scale"}, reading.warnings);
  MeshReference reference{.element = mesh, .uri = mesh.required_attribute("filename")};
  if (!mesh.attribute("scale")) return reference;
  const VecX scale = mesh.numbers("scale", 1, 3);
  if (scale.size() == 2) mesh.fail("scale of <mesh> has 2 numbers, but must have 3 (or 1 for all directions)");
  for (int k = 0; k < 3; ++k) {
    reference.scale[k] = within_bounds(mesh, "scale", scale[scale.size() == 1 ? 0 : k]);
    if (reference.scale[k] == 0) mesh.fail("scale of <mesh> has a zero: the mesh would be flat");
  }
  return reference;
}

// Reads the shape in the <geometry> of a <collision> or <visual>. The result is empty where there is none to be had:
// exporters write empty elements, meshes without a name and spheres of no size for links that have no surface, and
// shapes of other programs are not known. What is left out is a warning, whose rank depends on whether it would
// collide.
std::optional<UrdfGeometry> read_geometry(const XmlElement& owner, UrdfReading& reading) {
  const auto none = [&](const XmlElement& at, const std::string& what) {
    reading.warn(at, owner.name() == "collision" ? "shape" : "visual",
                 fmt::format("{}; its <{}> is left out", what, owner.name()));
    return std::nullopt;
  };
  const XmlElement geometry = only_child(owner, "geometry", reading);
  if (!geometry) return none(owner, fmt::format("<{}> has no <geometry> inside", owner.name()));
  const std::vector<XmlElement> children = geometry.children();
  if (children.empty()) return none(geometry, "<geometry> is empty");
  if (children.size() > 1) {
    reading.warn(children[1], "second.geometry",
                 fmt::format("<geometry> has {} shapes; only the first, <{}>, counts: give each a <{}> of its own",
                             children.size(), children[0].name(), owner.name()));
  }
  const XmlElement& shape = children.front();
  if (shape.name() == "box") return read_box(shape, reading);
  // The length of a capsule is that between the centres of its caps; <capsule> is an extension of the format.
  if (shape.name() == "sphere" || shape.name() == "cylinder" || shape.name() == "capsule") {
    const bool sphere = shape.name() == "sphere";
    if (sphere) {
      warn_of_unknown(shape, "urdf", {}, {"radius"}, reading.warnings);
    } else {
      warn_of_unknown(shape, "urdf", {}, {"radius", "length"}, reading.warnings);
    }
    const double radius = not_negative(shape, "radius", urdf_number(shape, "radius"));
    const double half_length = sphere ? 0 : not_negative(shape, "length", urdf_number(shape, "length")) / 2;
    if (radius == 0) return none(shape, fmt::format("<{}> has a radius of 0", shape.name()));
    if (sphere) return Sphere{radius};
    if (shape.name() == "cylinder") return Cylinder{radius, half_length};
    return Capsule{radius, half_length};
  }
  if (shape.name() == "mesh") {
    MeshReference mesh = read_mesh_reference(shape, reading);
    if (!mesh.uri.empty()) return mesh;
    reading.warn(shape, "empty_mesh", fmt::format("<mesh> has an empty filename; its <{}> is left out", owner.name()));
    return std::nullopt;
  }
  return none(shape,
              fmt::format("<{}> is no shape that is known here (<box>, <sphere>, <cylinder>, <capsule> or <mesh> are)",
                          shape.name()));
}

// The name of a collision or visual: its own, or one that is made of the link's name. A name that is taken gets a
// number.
std::string name_of(const XmlElement& owner, const UrdfLink& link, NameSet& names) {
  const char* name = owner.attribute("name");
  if (name && *name) return names.unique(name);
  return names.unique(fmt::format("{}_{}", link.name, owner.name()));
}

// Reads the colour of a material. Where it cannot be read it is left out with a warning, since colours are only to be
// seen. Three numbers are an opaque colour.
std::optional<Vec4> read_rgba(const XmlElement& color, UrdfReading& reading) {
  try {
    const VecX numbers = color.numbers("rgba", 3, 4);
    Vec4 rgba = Vec4::Ones();
    rgba.head(numbers.size()) = numbers;
    return rgba;
  } catch (const LoadError& error) {
    reading.warn(color, "rgba", fmt::format("a colour is left out: {}", error.text()));
    return std::nullopt;
  }
}

// Reads the colour that stands in a <material> itself, brought into 0 … 1. The result is empty where there is only a
// name.
std::optional<Vec4> read_color(const XmlElement& material, UrdfReading& reading) {
  warn_of_unknown(material, "urdf", {"color", "texture"}, {"name"}, reading.warnings);
  if (const XmlElement texture = material.child("texture")) {
    reading.warn(texture, "texture", "textures are not shown; the material's colour is");
  }
  const XmlElement color = only_child(material, "color", reading);
  if (!color) return std::nullopt;
  warn_of_unknown(color, "urdf", {}, {"rgba"}, reading.warnings);
  const std::optional<Vec4> written = read_rgba(color, reading);
  if (!written) return std::nullopt;
  Vec4 rgba = *written;
  if ((rgba.array() < 0).any() || (rgba.array() > 1).any()) {
    reading.warn(color, "rgba",
                 fmt::format("rgba is {}; each number is cut to 0 … 1", shortened(color.attribute("rgba"))));
    rgba = rgba.cwiseMax(0).cwiseMin(1);
  }
  return rgba;
}

// Notes the colour of a material by its name. It may be defined anywhere, also in a visual that stands after the one
// that refers to it, so all are noted before any link is read.
void remember_color(const XmlElement& material, UrdfReading& reading) {
  const char* name = material.attribute("name");
  const XmlElement color = material.child("color");
  if (!name || !*name || !color) return;
  const std::optional<Vec4> rgba = read_rgba(color, reading);
  if (!rgba) return;
  const auto [known, is_new] = reading.colors.emplace(name, *rgba);
  if (!is_new && known->second != *rgba) {
    reading.warn(material, "second.material",
                 "a material is defined twice with different colours; where only its name "
                 "is given, the first is used");
  }
}

// Colours a visual by its <material>: by the colour in it, or else by the colour of the material of that name. A visual
// that finds none is noted, since <gazebo> may have a colour for it.
void color_visual(const XmlElement& element, Visual& visual, UrdfLink& link, UrdfReading& reading) {
  const XmlElement material = only_child(element, "material", reading);
  std::optional<Vec4> color;
  if (material) {
    const char* name = material.attribute("name");
    color = read_color(material, reading);
    if (!color && name && *name) {
      const auto known = reading.colors.find(name);
      if (known != reading.colors.end()) {
        color = known->second.cwiseMax(0).cwiseMin(1);
      } else if (!material.child("texture") && !material.child("color")) {
        reading.warn(material, "material", "a material is named but defined nowhere; its visual is grey");
      }
    }
  }
  if (color) {
    visual.color = *color;
  } else {
    link.unpainted.push_back(static_cast<int>(link.visuals.size()));
  }
}

// What an error says. "file:line: error: " is taken off if that is the place of `element`, which the warning names
// again.
std::string_view without_place(const LoadError& error, const XmlElement& element) {
  std::string_view what = error.what();
  const std::string place = to_string(element.place()) + ": error: ";
  if (what.starts_with(place)) what.remove_prefix(place.size());
  return what;
}

// Reads the mesh of a visual. False where that is not possible, with a warning: the mesh is only to be seen, and the
// rest of the robot is worth having without it. A mesh that many visuals share is tried once.
bool set_visual_mesh(const MeshReference& mesh, Visual& visual, UrdfReading& reading) {
  if (reading.missing_visuals.contains(mesh.uri)) return false;
  try {
    const std::string file = reading.resources.resolve(mesh.uri, mesh.element.place()).string();
    visual.geometry = Visual::Mesh{reading.resources.mesh(mesh.uri, mesh.element.place()), mesh.scale, file};
    return true;
  } catch (const LoadError& error) {
    reading.warnings.add(mesh.element.place(), "visual.mesh",
                         fmt::format("a mesh to be seen is left out: {}", without_place(error, mesh.element)));
    reading.missing_visuals.insert(mesh.uri);
  }
  if (reading.missing_visuals.size() > kMostMissingVisuals) {
    mesh.element.fail(fmt::format("more than {} meshes cannot be read; say where they are, or turn visuals off",
                                  kMostMissingVisuals));
  }
  return false;
}

}  // namespace

void read_urdf_colors(const XmlElement& robot, UrdfReading& reading) {
  for (const XmlElement& material : robot.children("material")) {
    if (!material.attribute("name")) reading.warn(material, "material_name", "a <material> has no name");
    read_color(material, reading);
    remember_color(material, reading);
  }
  // Materials of the whole robot come first, so that theirs is the colour where both define a name.
  for (const XmlElement& link : robot.children("link")) {
    for (const XmlElement& visual : link.children("visual")) {
      for (const XmlElement& material : visual.children("material")) remember_color(material, reading);
    }
  }
}

void read_urdf_collision(const XmlElement& collision, const Material& material, UrdfLink& link, UrdfReading& reading) {
  reading.resources.count_shape(collision.place());
  // The group is of an early URDF, and a collision's material paints what is not seen: neither says anything here.
  warn_of_unknown(collision, "urdf", {"origin", "geometry", "material", "verbose"}, {"name", "group", "concave"},
                  reading.warnings);
  if (collision.attribute("concave")) {
    reading.warn(collision, "concave", "concave meshes collide as their convex hulls, unless convex_pieces are given");
  }
  Shape shape{.name = {}, .placement = read_urdf_origin(collision, reading), .material = material};
  const std::optional<UrdfGeometry> geometry = read_geometry(collision, reading);
  if (!geometry) return;
  const auto add = [&](const Geometry& piece) {
    shape.name = name_of(collision, link, reading.shape_names);
    shape.geometry = piece;
    link.shapes.push_back(shape);
  };
  if (const auto* mesh = std::get_if<MeshReference>(&*geometry)) {
    for (ConvexMesh& piece :
         convex_meshes(reading.resources, mesh->uri, mesh->scale, mesh->element.place(), reading.warnings)) {
      // A stand-in has four points unless the mesh has fewer; those have no hull.
      if (piece.points.size() < 4) {
        mesh->element.fail(
            fmt::format("mesh \"{}\" has {} points, but needs at least 4 to collide", mesh->uri, piece.points.size()));
      }
      add(std::move(piece));
    }
  } else {
    std::visit(
        [&](const auto& primitive) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(primitive)>, MeshReference>) add(primitive);
        },
        *geometry);
  }
}

void read_urdf_visual(const XmlElement& element, UrdfLink& link, UrdfReading& reading) {
  reading.resources.count_shape(element.place());
  warn_of_unknown(element, "urdf", {"origin", "geometry", "material"}, {"name"}, reading.warnings);
  const std::optional<UrdfGeometry> geometry = read_geometry(element, reading);
  if (!geometry) return;
  Visual visual{.name = {}, .body = link.name, .placement = read_urdf_origin(element, reading)};
  const auto* mesh = std::get_if<MeshReference>(&*geometry);
  if (mesh && !set_visual_mesh(*mesh, visual, reading)) return;
  std::visit(
      [&](const auto& primitive) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(primitive)>, MeshReference>) visual.geometry = primitive;
      },
      *geometry);
  visual.name = name_of(element, link, reading.visual_names);
  color_visual(element, visual, link, reading);
  link.visuals.push_back(std::move(visual));
}

std::string urdf_suggestion(const std::string& wanted, const std::unordered_map<std::string, int>& known) {
  // The distance between two names takes the product of their lengths.
  constexpr std::size_t kLongest = 100, kMost = 10'000;
  if (wanted.size() > kLongest || known.size() > kMost) return "";
  std::vector<std::string_view> names;
  for (const auto& [name, index] : known) {
    if (name.size() <= kLongest) names.push_back(name);
  }
  std::ranges::sort(names);  // so that the message does not depend on the map's order
  return did_you_mean(wanted, names);
}

}  // namespace lithe::internal
