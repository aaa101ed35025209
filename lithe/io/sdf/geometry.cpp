#include "lithe/io/sdf/geometry.h"

#include "lithe/io/internal/reader_parts.h"
#include "lithe/spatial/rotation.h"

namespace lithe::internal {

namespace {

// The one shape inside a <geometry>, with its numbers checked and without the meshes' files.
struct Written {
  enum class Kind { nothing, primitive, ellipsoid, mesh };
  Kind kind = Kind::nothing;
  std::variant<Sphere, Capsule, Box, Cylinder, Plane> primitive = Sphere{};
  Pose placement = {};
  Vec3 size = Vec3::Ones();  // an ellipsoid's half axes, a mesh's scale
  std::string uri = {};
  XmlElement element = {};
};

// The number in a child element, which must be positive. `otherwise` is the format's default.
double positive(const XmlElement& shape, const char* name, double otherwise) {
  const double value = child_number(shape, name, otherwise);
  if (value > 0) return value;
  (shape.child(name) ? shape.child(name) : shape).fail(fmt::format("<{}> is {}, but must be positive", name, value));
}

// The three numbers in a child element, which must be positive or, where that makes sense, not negative. The default is
// 1.
Vec3 sizes(const XmlElement& shape, const char* name, bool may_be_zero) {
  const Vec3 value = child_vector(shape, name, Vec3::Ones());
  if (may_be_zero ? (value.array() >= 0).all() : (value.array() > 0).all()) return value;
  shape.child(name).fail(fmt::format("<{}> is {} {} {}, but must be {}", name, value.x(), value.y(), value.z(),
                                     may_be_zero ? "not negative" : "positive"));
}

// Reads a <plane>, whose normal may have any length. A Plane's own normal is z, hence the placement.
void read_plane(SdfContext& context, const XmlElement& shape, Written& written) {
  check_contents(context, shape, {.once = {"normal", "size"}});
  const Vec3 normal = child_vector(shape, "normal", Vec3::UnitZ());
  const double length = normal.norm();
  if (!(length > 1e-9)) shape.child("normal").fail("the normal of a plane is zero");
  written.primitive = Plane{};
  written.placement = Pose::rotation(rotation_from_z(normal / length));
}

// Reads a <mesh>: the name of its file, and its scale.
void read_mesh(SdfContext& context, const XmlElement& shape, Written& written) {
  // Gazebo can take one submesh of a file, or cut it into convex pieces. Neither is done here.
  check_contents(
      context, shape,
      {.once = {"uri", "scale"}, .left_out = {"submesh", "convex_decomposition"}, .attributes = {"optimization"}});
  written.uri = shape.required("uri").text();
  written.size = child_vector(shape, "scale", Vec3::Ones());
}

// Reads a <geometry>. Cylinders and capsules are along z; the length of a capsule is that between the centres of its
// caps. Kinds of shape that are left out were warned about and give `nothing`.
Written read_geometry(SdfContext& context, const XmlElement& owner) {
  const XmlElement geometry = owner.required("geometry");
  check_contents(context, geometry,
                 {.once = {"box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh", "empty"},
                  .left_out = {"heightmap", "image", "polyline", "cone"}});
  const std::vector<XmlElement> shapes = geometry.children();
  if (shapes.empty()) geometry.fail("<geometry> is empty; write <empty/> if this is meant");
  if (shapes.size() > 1) {
    context.warnings.add(
        shapes[1].place(), "sdf.geometry",
        fmt::format("<geometry> holds <{}> beside <{}>; only the first is read", shapes[1].name(), shapes[0].name()));
  }
  const XmlElement& shape = shapes.front();
  const std::string_view kind = shape.name();
  Written written = {.kind = Written::Kind::primitive, .element = shape};
  if (kind == "box") {
    check_contents(context, shape, {.once = {"size"}});
    written.primitive = Box{.half_size = 0.5 * sizes(shape, "size", true)};
  } else if (kind == "sphere") {
    check_contents(context, shape, {.once = {"radius"}});
    written.primitive = Sphere{.radius = positive(shape, "radius", 1)};
  } else if (kind == "cylinder") {
    check_contents(context, shape, {.once = {"radius", "length"}});
    written.primitive =
        Cylinder{.radius = positive(shape, "radius", 1), .half_length = 0.5 * child_not_negative(shape, "length", 1)};
  } else if (kind == "capsule") {
    check_contents(context, shape, {.once = {"radius", "length"}});
    written.primitive =
        Capsule{.radius = positive(shape, "radius", 0.5), .half_length = 0.5 * child_not_negative(shape, "length", 1)};
  } else if (kind == "plane") {
    read_plane(context, shape, written);
  } else if (kind == "ellipsoid") {
    check_contents(context, shape, {.once = {"radii"}});
    written.kind = Written::Kind::ellipsoid;
    written.size = sizes(shape, "radii", false);
  } else if (kind == "mesh") {
    written.kind = Written::Kind::mesh;
    read_mesh(context, shape, written);
  } else {
    written.kind = Written::Kind::nothing;
  }
  return written;
}

// The colour of a <visual>: <diffuse>, else <ambient>, made more transparent by <transparency>.
Vec4 color_of(SdfContext& context, const XmlElement& visual) {
  Vec4 color = Visual{}.color;
  if (const XmlElement material = visual.child("material")) {
    // How it looks beyond one colour is nothing that a model holds.
    check_contents(context, material,
                   {.once = {"ambient", "diffuse", "specular", "emissive", "script", "shader", "lighting", "pbr",
                             "double_sided", "render_order", "shininess"}});
    XmlElement chosen = material.child("diffuse");
    if (!chosen) chosen = material.child("ambient");
    if (chosen) {
      const VecX numbers = chosen.text_numbers(3, 4);
      color.head<3>() = numbers.head<3>();
      if (numbers.size() == 4) color[3] = numbers[3];
      if ((color.array() < 0).any() || (color.array() > 1).any()) chosen.fail("a colour's numbers lie between 0 and 1");
    }
  }
  const double transparency = child_number(visual, "transparency", 0);
  if (transparency < 0 || transparency > 1) visual.child("transparency").fail("<transparency> lies between 0 and 1");
  color[3] *= 1 - transparency;
  return color;
}

// Reads the mesh of a <visual>. The result is empty, with a warning, where that is not possible: the model works
// without what is only to be seen. A file that cannot be read is tried once.
std::optional<Visual::Mesh> visual_mesh(SdfContext& context, const Written& written) {
  const SourcePlace place = written.element.place();
  const std::string key = place.file + '\n' + written.uri;
  if (context.unreadable.contains(key)) return std::nullopt;
  try {
    return Visual::Mesh{.triangles = context.resources.mesh(written.uri, place),
                        .scale = written.size,
                        .file = context.resources.resolve(written.uri, place).string()};
  } catch (const LoadError& error) {
    context.unreadable.insert(key);
    const std::string_view text = error.what();
    const std::size_t start = text.find("error: ");
    context.warnings.add(place, "visual.mesh",
                         fmt::format("a mesh is not shown: {}", start == text.npos ? text : text.substr(start + 7)));
    return std::nullopt;
  }
}

// Reads <friction>. The numbers for ODE count, or those for Bullet where there are no others. Both engines know two
// directions of friction; a material has the first coefficient in all directions.
void read_friction(SdfContext& context, const XmlElement& friction, Shape& shape) {
  check_contents(context, friction, {.once = {"ode", "bullet"}, .left_out = {"torsional"}});
  const XmlElement ode = friction.child("ode");
  const XmlElement bullet = friction.child("bullet");
  if (ode) check_contents(context, ode, {.once = {"mu", "mu2"}, .left_out = {"fdir1", "slip1", "slip2"}});
  if (bullet) {
    check_contents(context, bullet, {.once = {"friction", "friction2"}, .left_out = {"fdir1", "rolling_friction"}});
  }
  const bool by_bullet = !ode && bullet;
  const XmlElement& source = by_bullet ? bullet : ode;
  const char* const first_name = by_bullet ? "friction" : "mu";
  const char* const second_name = by_bullet ? "friction2" : "mu2";
  shape.material.friction = child_not_negative(source, first_name, 1);
  const double second = child_not_negative(source, second_name, shape.material.friction);
  if (second != shape.material.friction) {
    context.warnings.add(source.place(), "sdf.friction2",
                         fmt::format("friction differs by direction ({} and {}); {} is taken for all",
                                     shape.material.friction, second, shape.material.friction));
  }
}

// Reads a bitmask, which must fit into 32 bits.
std::uint32_t bitmask(const XmlElement& contact, const char* name, std::uint32_t otherwise) {
  if (!contact.child(name)) return otherwise;
  const double value = child_not_negative(contact, name, 0);
  if (value != static_cast<double>(static_cast<std::uint32_t>(std::min(value, 4294967295.0)))) {
    contact.child(name).fail(fmt::format("<{}> is {}, but must be a whole number below 2³²", name, value));
  }
  return static_cast<std::uint32_t>(value);
}

// Reads the bitmasks of <contact>. In SDF two shapes collide if the category of one meets the collide_bitmask of the
// other. A CollisionFilter says the same where both masks of a shape are equal, which is the usual case; otherwise it
// also asks the other way round.
void read_contact(SdfContext& context, const XmlElement& contact, Shape& shape) {
  check_contents(
      context, contact,
      {.once = {"collide_bitmask", "category_bitmask", "collide_without_contact", "collide_without_contact_bitmask"},
       .left_out = {"ode", "bullet", "poissons_ratio", "elastic_modulus"}});
  if (child_flag(contact, "collide_without_contact", false)) {
    context.warnings.add(contact.place(), "sdf.collide_without_contact",
                         "shapes that touch always push: collide_without_contact is ignored");
  }
  const std::uint32_t collide = bitmask(contact, "collide_bitmask", 65535);
  const std::uint32_t category = bitmask(contact, "category_bitmask", collide);
  shape.filter = {.groups = category, .mask = collide};
  if (category != collide) {
    context.warnings.add(
        contact.place(), "sdf.category_bitmask",
        "category_bitmask and collide_bitmask differ: two shapes collide here only if each one's category "
        "meets the other's bitmask, in SDF if one does");
  }
}

}  // namespace

std::vector<SdfShape> read_collision_geometry(SdfContext& context, const XmlElement& collision) {
  const Written written = read_geometry(context, collision);
  const SourcePlace place = written.element.place();
  std::vector<SdfShape> shapes;
  switch (written.kind) {
    case Written::Kind::nothing: break;
    case Written::Kind::primitive:
      if (std::holds_alternative<Plane>(written.primitive) && written.element.child("size")) {
        context.warnings.add(place, "sdf.plane", "a plane that collides is infinite; its size is for the eye");
      }
      // The two variants have these alternatives in common.
      std::visit([&](const auto& shape) { shapes.push_back({shape, written.placement}); }, written.primitive);
      break;
    case Written::Kind::ellipsoid:
      context.warnings.add(place, "sdf.ellipsoid", "an ellipsoid collides as the convex hull of points on it");
      shapes.push_back({ellipsoid_points(written.size)});
      break;
    case Written::Kind::mesh:
      for (ConvexMesh& piece : convex_meshes(context.resources, written.uri, written.size, place, context.warnings)) {
        if (piece.points.size() < 4) {
          throw LoadError(place, fmt::format("mesh \"{}\" has {} points; a solid needs 4", shortened(written.uri),
                                             piece.points.size()));
        }
        shapes.push_back({std::move(piece)});
      }
      break;
  }
  return shapes;
}

std::optional<Visual> read_visual_geometry(SdfContext& context, const XmlElement& visual) {
  const Written written = read_geometry(context, visual);
  Visual result;
  result.placement = written.placement;
  result.color = color_of(context, visual);
  switch (written.kind) {
    case Written::Kind::nothing: return std::nullopt;
    case Written::Kind::primitive:
      std::visit([&](const auto& shape) { result.geometry = shape; }, written.primitive);
      return result;
    case Written::Kind::ellipsoid:
      context.warnings.add(written.element.place(), "sdf.visual_ellipsoid", "an ellipsoid is not shown");
      return std::nullopt;
    case Written::Kind::mesh: break;
  }
  std::optional<Visual::Mesh> mesh = visual_mesh(context, written);
  if (!mesh) return std::nullopt;
  result.geometry = std::move(*mesh);
  return result;
}

void read_surface(SdfContext& context, const XmlElement& collision, Shape& shape) {
  // The format's default is all of 16 bits, with which a shape meets every usual mask.
  shape.filter = {.groups = 65535, .mask = 65535};
  const XmlElement surface = collision.child("surface");
  if (!surface) return;
  check_contents(context, surface, {.once = {"friction", "bounce", "contact"}, .left_out = {"soft_contact"}});
  if (const XmlElement friction = surface.child("friction")) read_friction(context, friction, shape);
  if (const XmlElement contact = surface.child("contact")) read_contact(context, contact, shape);
  if (const XmlElement bounce = surface.child("bounce")) {
    check_contents(context, bounce, {.once = {"restitution_coefficient"}, .left_out = {"threshold"}});
    const double restitution = child_number(bounce, "restitution_coefficient", 0);
    if (restitution < 0 || restitution > 1) {
      bounce.child("restitution_coefficient")
          .fail(fmt::format("the restitution is {}, but lies between 0 and 1", restitution));
    }
    shape.material.restitution = restitution;
  }
}

}  // namespace lithe::internal
