#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/mjcf/filters.h"
#include "lithe/io/mjcf/parts.h"
#include "lithe/io/mjcf/poses.h"
#include "lithe/io/mjcf/rules.h"

namespace lithe::internal::mjcf {

namespace {

constexpr int kHiddenGroup = 3;  // MuJoCo's viewer does not show geoms of this group and above

using Type = GeomPart::Type;

// The type of a geom; sphere is MuJoCo's default. Height fields and signed distance fields are left out, with a
// warning.
std::optional<Type> read_type(const Attributes& attributes, Context& context) {
  const std::string_view word = attributes.choice(
      "type", {"sphere", "plane", "capsule", "ellipsoid", "cylinder", "box", "mesh", "hfield", "sdf"});
  if (word == "hfield" || word == "sdf") {
    context.warnings.add(attributes.place(), fmt::format("mjcf.geom.{}", word),
                         fmt::format("a geom of type {} is left out: use a mesh or boxes", word));
    return std::nullopt;
  }
  static const std::map<std::string_view, Type> kTypes = {{"plane", Type::plane},       {"sphere", Type::sphere},
                                                          {"capsule", Type::capsule},   {"ellipsoid", Type::ellipsoid},
                                                          {"cylinder", Type::cylinder}, {"box", Type::box},
                                                          {"mesh", Type::mesh}};
  return kTypes.at(word);
}

// How many numbers of `size` count: the radius; the radius and the half length along z; or three half sizes. The size
// of a plane is for the eye, and a mesh brings its own.
int size_count(Type type) {
  switch (type) {
    case Type::sphere: return 1;
    case Type::capsule:
    case Type::cylinder: return 2;
    case Type::box:
    case Type::ellipsoid: return 3;
    default: return 0;
  }
}

// Fits a primitive to the mesh that its geom names, as MuJoCo does it: to the box that has the mesh's moments, or with
// fitaabb to the mesh's bounds. Where a radius takes the place of several half sizes of the box it is their mean, or
// for bounds the largest of them.
void fit_to_mesh(const Attributes& attributes, Context& context, const Pose& frame, GeomPart& geom) {
  const int mesh = context.assets.mesh(attributes.text("mesh"), attributes.place());
  const auto [X_MF, half] = context.assets.fitting_box(mesh, attributes.flag_or("shellinertia", false));
  const bool bounds = context.compiler.fit_bounds;
  const double across = bounds ? std::max(half.x(), half.y()) : 0.5 * (half.x() + half.y());
  switch (geom.type) {
    case Type::sphere: geom.size.x() = bounds ? half.maxCoeff() : half.mean(); break;
    case Type::capsule:
      geom.size = Vec3(across, bounds ? half.z() - across : std::max(0.0, half.z() - 0.5 * across), 0);
      break;
    case Type::cylinder: geom.size = Vec3(across, half.z(), 0); break;
    case Type::box:
    case Type::ellipsoid: geom.size = half; break;
    default: attributes.fail("mesh", "only a sphere, capsule, cylinder, ellipsoid or box is fitted to a mesh");
  }
  geom.size *= attributes.number_or("fitscale", 1);
  geom.X_BG = frame * read_pose(attributes, context.compiler, context.warnings) * X_MF;
  for (int k = 0; k < size_count(geom.type); ++k) {
    // Of a ball's worth of mesh a capsule has no length; the builder wants some.
    geom.size[k] = std::max(geom.size[k], 1e-9);
  }
}

// Reads the size and the pose of a geom. `fromto` gives both for what is long: the pose has its middle and its
// direction, and the half length becomes the last number of the size.
void read_size_and_pose(const Attributes& attributes, Context& context, const Pose& frame, GeomPart& geom) {
  if (geom.type != Type::mesh && attributes.has("mesh")) {
    fit_to_mesh(attributes, context, frame, geom);
    return;
  }
  geom.size = attributes.filled("size", VecX::Zero(3));
  const std::optional<Segment> line = read_from_to(attributes);
  if (line) {
    const bool along_z = geom.type == Type::capsule || geom.type == Type::cylinder;
    const bool thick = geom.type == Type::box || geom.type == Type::ellipsoid;
    if (!along_z && !thick) attributes.fail("fromto", "it is for capsules, cylinders, boxes and ellipsoids");
    geom.size =
        along_z ? Vec3(geom.size.x(), line->half_length, 0) : Vec3(geom.size.x(), geom.size.x(), line->half_length);
  }
  for (int k = 0; k < size_count(geom.type); ++k) {
    if (geom.size[k] > 0) continue;
    attributes.fail("size",
                    fmt::format("number {} must be positive for this type of geom (it is {})", k + 1, geom.size[k]));
  }
  geom.X_BG = frame * (line ? line->middle : read_pose(attributes, context.compiler, context.warnings));
}

// Reads how the geom's surface behaves and what it touches. Two surfaces that meet are simpler here than in MuJoCo:
// there is one coefficient of friction and there are no priorities.
void read_surface(const Attributes& attributes, Context& context, GeomPart& geom) {
  static const VecX kFriction = Vec3(1, 0.005, 0.0001);
  const VecX friction = attributes.filled("friction", kFriction);
  if (friction.minCoeff() < 0) attributes.fail("friction", "it must not be negative");
  geom.friction = friction[0];
  const auto warn = [&](const char* kind, std::string_view text) {
    context.warnings.add(attributes.place(), kind, text);
  };
  if (friction.tail(2) != kFriction.tail(2)) {
    warn("mjcf.geom.friction", "of friction only the first number is honoured: nothing resists spinning and rolling");
  }
  if (const int condim = attributes.integer_or("condim", 3); condim != 3) {
    if (condim != 1 && condim != 4 && condim != 6) attributes.fail("condim", "it must be 1, 3, 4 or 6");
    warn("mjcf.geom.condim", fmt::format("condim=\"{}\" is not honoured: contacts have friction in two directions, as "
                                         "with condim 3 (give friction=\"0\" for none)",
                                         condim));
  }
  geom.margin = attributes.number_or("margin", 0);
  if (geom.margin < 0) attributes.fail("margin", "it must not be negative");
  if (geom.margin > 0) {
    warn("mjcf.geom.margin", "margin: contacts are found at this distance, but push only when the surfaces meet");
  }
  if (attributes.number_or("gap", 0) != 0)
    warn("mjcf.geom.gap", "gap is not honoured: contacts act when surfaces meet");
  geom.contype = static_cast<std::uint32_t>(attributes.integer_or("contype", 1));
  geom.conaffinity = static_cast<std::uint32_t>(attributes.integer_or("conaffinity", 1));
}

// Reads `mass`, kg, or `density`, kg/m³; the mass goes before. 1000 is MuJoCo's default density, that of water.
void read_mass(const Attributes& attributes, Context& context, GeomPart& geom) {
  geom.mass = attributes.number("mass");
  if (geom.mass && *geom.mass < 0) attributes.fail("mass", "it must not be negative");
  geom.density = attributes.number_or("density", 1000);
  if (geom.density < 0) attributes.fail("density", "it must not be negative");
  geom.shell = attributes.flag_or("shellinertia", false);
  if (geom.shell && geom.type != Type::mesh) {
    context.warnings.add(attributes.place(), "mjcf.geom.shellinertia",
                         "shellinertia is honoured for meshes only: this geom is solid");
  }
}

// The colour of a geom; MuJoCo's default is half grey.
Vec4 read_color(const Attributes& attributes, Context& context) {
  // A geom's own colour goes over its material's.
  if (const auto rgba = attributes.numbers("rgba", 4, 4)) return *rgba;
  const char* own = attributes.element().attribute("material");
  if (own && !*own) return Vec4(0.5, 0.5, 0.5, 1);  // material="": none, whatever the class says
  if (const char* material = attributes.text("material")) return context.assets.color(material, attributes.place());
  return Vec4(0.5, 0.5, 0.5, 1);
}

// A ball of triangles with radius 1. Visuals have no ellipsoids, so theirs is this mesh, stretched.
std::shared_ptr<const TriangleMesh> unit_ball() {
  constexpr int kRings = 12, kAround = 24;
  auto mesh = std::make_shared<TriangleMesh>();
  for (int ring = 0; ring <= kRings; ++ring) {
    for (int k = 0; k < kAround; ++k) {
      const double polar = std::numbers::pi * ring / kRings, azimuth = 2 * std::numbers::pi * k / kAround;
      mesh->vertices.emplace_back(std::sin(polar) * std::cos(azimuth), std::sin(polar) * std::sin(azimuth),
                                  std::cos(polar));
    }
  }
  for (int ring = 0; ring < kRings; ++ring) {
    for (int k = 0; k < kAround; ++k) {
      const int a = ring * kAround + k, b = ring * kAround + (k + 1) % kAround, below = kAround;
      if (ring + 1 < kRings) mesh->triangles.push_back({a, a + below, b + below});
      if (ring > 0) mesh->triangles.push_back({a, b + below, b});
    }
  }
  return mesh;
}

// Adds geoms to the model as shapes that collide, and as visuals.
class GeomWriter {
 public:
  explicit GeomWriter(Context& context) : context_(context), filters_(context.scene.geoms) {}

  // Adds a geom and returns the names of the shapes that it became. A geom that touches nothing becomes a visual only.
  std::vector<std::string> add(const GeomPart& geom) {
    std::vector<std::string> shapes;
    if (geom.touches()) shapes = add_shapes(geom);
    const LoadOptions& options = context_.resources.options();
    const bool only_seen = !geom.touches();
    const bool discarded = only_seen && context_.compiler.discard_visuals;
    if (options.visuals && geom.group < kHiddenGroup && !discarded) add_visual(geom);
    return shapes;
  }
  bool exact() const { return filters_.exact(); }

 private:
  // Adds the shapes of a geom that touches something. Only a mesh can be several, its convex pieces.
  std::vector<std::string> add_shapes(const GeomPart& geom) {
    Shape shape{.name = geom.name,
                .geometry = {},
                .placement = geom.X_BG,
                .material = {.friction = geom.friction},
                .margin = geom.margin,
                .filter = filters_.filter(geom)};
    std::vector<Geometry> pieces;
    switch (geom.type) {
      case Type::plane: pieces.push_back(Plane{}); break;
      case Type::sphere: pieces.push_back(Sphere{geom.size.x()}); break;
      case Type::capsule: pieces.push_back(Capsule{geom.size.x(), geom.size.y()}); break;
      case Type::cylinder: pieces.push_back(Cylinder{geom.size.x(), geom.size.y()}); break;
      case Type::box: pieces.push_back(Box{geom.size}); break;
      case Type::ellipsoid:
        context_.warnings.add(geom.from.place(), "mjcf.geom.ellipsoid",
                              "an ellipsoid collides as the convex hull of points on it");
        pieces.push_back(counted(ellipsoid_points(geom.size), geom));
        break;
      case Type::mesh:
        for (ConvexMesh& mesh : context_.assets.convex_meshes(geom.mesh)) {
          pieces.push_back(counted(std::move(mesh), geom));
        }
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      shape.name = names_.unique(i == 0 ? geom.name : fmt::format("{}_piece_{}", geom.name, i + 1));
      names.push_back(shape.name);
      shape.geometry = std::move(pieces[i]);
      at_line(geom.from, [&] { context_.loaded.builder.add_shape(context_.scene.bodies[geom.body].name, shape); });
    }
    return names;
  }

  // Counts the points of a mesh against LoadLimits::convex_points.
  ConvexMesh counted(ConvexMesh mesh, const GeomPart& geom) {
    points_ += static_cast<int>(mesh.points.size());
    const int most = context_.resources.options().limits.convex_points;
    if (points_ > most)
      geom.from.fail(fmt::format("the model's collision meshes have more than {} points in all", most));
    return mesh;
  }

  // Adds the visual of a geom. A mesh that cannot be read is left out, with a warning.
  void add_visual(const GeomPart& geom) {
    Visual visual{.name = geom.name,
                  .body = context_.scene.bodies[geom.body].name,
                  .placement = geom.X_BG,
                  .geometry = {},
                  .color = geom.color};
    switch (geom.type) {
      case Type::plane: visual.geometry = Plane{}; break;
      case Type::sphere: visual.geometry = Sphere{geom.size.x()}; break;
      case Type::capsule: visual.geometry = Capsule{geom.size.x(), geom.size.y()}; break;
      case Type::cylinder: visual.geometry = Cylinder{geom.size.x(), geom.size.y()}; break;
      case Type::box: visual.geometry = Box{geom.size}; break;
      case Type::ellipsoid:
        if (!ball_) ball_ = unit_ball();
        visual.geometry = Visual::Mesh{ball_, geom.size};
        break;
      case Type::mesh: try { visual.geometry = Visual::Mesh{context_.assets.triangles(geom.mesh)};
        } catch (const LoadError& error) {
          // What only is to be seen may be missing.
          context_.warnings.add(error.place(), "visual.mesh",
                                fmt::format("a visual mesh is left out: {}", error.what()));
          return;
        }
    }
    context_.loaded.visuals.push_back(std::move(visual));
  }

  Context& context_;
  ContactFilters filters_;
  NameSet names_;
  std::shared_ptr<const TriangleMesh> ball_;
  int points_ = 0;
};

// Warns that friction between geoms may differ from MuJoCo's. Where all coefficients are equal both rules give the
// same.
void warn_of_differing_friction(Context& context) {
  const GeomPart* first = nullptr;
  for (const GeomPart& geom : context.scene.geoms) {
    if (!geom.touches()) continue;
    if (!first) first = &geom;
    if (geom.friction == first->friction) continue;
    context.warnings.add(geom.from.place(), "mjcf.geom.friction_rule",
                         fmt::format("geoms differ in friction ({} here, {} before): where two meet, MuJoCo takes the "
                                     "larger, but Lithe 2ab/(a + b)",
                                     geom.friction, first->friction));
    return;
  }
}

}  // namespace

void read_geom(Context& context, const XmlElement& element, int body, int inherited_class, const Pose& frame) {
  context.resources.count_shape(element.place());
  check_attributes(element, kGeomRules, context.warnings);
  for (const XmlElement& child : context.includes.children(element)) {
    if (child.name() != "plugin")
      context.warn_of_unknown(child, element);
    else
      context.warnings.add(child.place(), "mjcf.plugin", "<plugin> is not read");
  }
  const Attributes attributes = context.defaults.attributes(element, Kind::geom, inherited_class);
  const std::optional<Type> type = read_type(attributes, context);
  if (!type) {
    // MuJoCo counts a geom that is left out here, so the layout keeps a place for it.
    context.scene.all_geoms.emplace_back(body, -1);
    return;
  }
  GeomPart geom;
  geom.from = element;
  geom.body = body;
  geom.type = *type;
  if (geom.type == Type::mesh) {
    const char* mesh = attributes.text("mesh");
    if (!mesh) element.fail("a geom of type mesh needs the attribute mesh");
    geom.mesh = context.assets.mesh(mesh, element.place());
  }
  read_size_and_pose(attributes, context, frame, geom);
  read_surface(attributes, context, geom);
  read_mass(attributes, context, geom);
  geom.group = attributes.integer_or("group", 0);
  geom.color = read_color(attributes, context);

  Scene& scene = context.scene;
  const int index = static_cast<int>(scene.geoms.size());
  if (const char* name = attributes.name()) {
    geom.name = name;
    const auto [known, is_new] = scene.geom_index.emplace(name, index);
    if (!is_new) {
      element.fail(fmt::format("there are two geoms named \"{}\" (the first at line {})", name,
                               scene.geoms[known->second].from.line()));
    }
  }
  scene.bodies[body].geoms.push_back(index);
  scene.all_geoms.emplace_back(body, index);
  scene.geoms.push_back(std::move(geom));
}

void add_geoms(Context& context) {
  GeomWriter writer(context);
  std::vector<std::vector<std::string>> shapes;
  for (const GeomPart& geom : context.scene.geoms) {
    // A plane is a half-space without bounds, which only makes sense where it stands still. MuJoCo refuses it as well.
    const bool moves = context.scene.bodies[geom.body].mover != 0;
    if (geom.type == Type::plane && moves) geom.from.fail("a plane on a body that moves: planes belong to the world");
    shapes.push_back(writer.add(geom));
  }
  // MuJoCo numbers geoms body by body.
  std::ranges::stable_sort(context.scene.all_geoms, {}, &std::pair<int, int>::first);
  for (const auto& [body, index] : context.scene.all_geoms) {
    MujocoLayout::Geom& geom = context.loaded.mujoco.geoms.emplace_back();
    if (index < 0) continue;
    geom.name = context.scene.geoms[index].name;
    geom.shapes = std::move(shapes[index]);
  }
  if (!writer.exact()) {
    context.warnings.add(context.root.place(), "mjcf.geom.contype",
                         "there are more than 32 different pairs of contype and conaffinity: some of them collide with "
                         "everything");
  }
  warn_of_differing_friction(context);
}

}  // namespace lithe::internal::mjcf
