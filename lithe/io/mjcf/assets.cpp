#include "lithe/io/mjcf/assets.h"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "lithe/core/internal/suggest.h"
#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/mesh/inertia.h"
#include "lithe/io/mjcf/rules.h"

namespace lithe::internal::mjcf {

namespace {

// Fails because an asset is not there, with the names that may have been meant. Long and many names are not compared.
template <class Map>
[[noreturn]] void fail_unknown(const char* kind, std::string_view wanted, const Map& known, const SourcePlace& place) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : known) {
    if (name.size() < 100 && names.size() < 1000) names.push_back(name);
  }
  std::ranges::sort(names);
  wanted = wanted.substr(0, 100);
  throw LoadError(place, fmt::format("there is no {} \"{}\" in <asset>{}", kind, wanted, did_you_mean(wanted, names)));
}

}  // namespace

void Assets::read(const XmlElement& section, Includes& includes, const Defaults& defaults) {
  for (const XmlElement& element : includes.children(section)) {
    const std::string_view name = element.name();
    if (name == "mesh") {
      read_mesh(element, defaults);
    } else if (name == "material") {
      read_material(element, defaults);
    } else if (name == "texture" || name == "hfield" || name == "skin" || name == "model") {
      const char* instead = name == "texture"  ? "surfaces have one colour"
                            : name == "hfield" ? "there are no height fields; use a mesh or boxes"
                            : name == "model"  ? "no models are attached"
                                               : "there are no soft skins";
      warnings_.add(element.place(), fmt::format("mjcf.{}", name), fmt::format("<{}> is not read: {}", name, instead));
    } else {
      warnings_.add(element.place(), "mjcf.unknown.asset",
                    fmt::format("<{}> in <asset> is not known and was ignored", name));
    }
  }
}

// Notes a <mesh>. One without a name is called after its file, as in MuJoCo. The file is read when a geom needs it.
void Assets::read_mesh(const XmlElement& element, const Defaults& defaults) {
  check_attributes(element, kMeshRules, warnings_);
  const Attributes attributes = defaults.attributes(element, Kind::mesh);
  const char* file = attributes.text("file");
  std::string name;
  if (const char* given = attributes.name()) {
    name = given;
  } else if (file) {
    name = std::filesystem::path(file).stem().string();
  } else {
    element.fail("<mesh> needs a name or a file");
  }
  if (!file && !attributes.has("vertex")) {
    element.fail(fmt::format("mesh \"{}\" needs a file or vertices{}", name,
                             attributes.has("builtin") ? "; the builtin ones are not made here" : ""));
  }
  if (!mesh_index_.emplace(name, static_cast<int>(meshes_.size())).second) {
    element.fail(fmt::format("there are two meshes named \"{}\"", name));
  }
  meshes_.push_back({attributes});
}

// Reads a <material>, of which only the colour is kept.
void Assets::read_material(const XmlElement& element, const Defaults& defaults) {
  check_attributes(element, kMaterialRules, warnings_);
  const Attributes attributes = defaults.attributes(element, Kind::material);
  const std::string name = element.required_attribute("name");
  const Vec4 color = attributes.numbers("rgba", 4, 4).value_or(VecX::Ones(4));
  if (!colors_.emplace(name, color).second) element.fail(fmt::format("there are two materials named \"{}\"", name));
}

int Assets::mesh(const char* name, const SourcePlace& place) const {
  const auto found = mesh_index_.find(name);
  if (found == mesh_index_.end()) fail_unknown("mesh", name, mesh_index_, place);
  return found->second;
}

Vec4 Assets::color(const char* material, const SourcePlace& place) const {
  const auto found = colors_.find(material);
  if (found == colors_.end()) fail_unknown("material", material, colors_, place);
  return found->second;
}

// The mesh's file as Resources is asked for it: without its folders if the compiler strips paths, and below meshdir.
std::string Assets::file_name(const Attributes& attributes) const {
  std::string file = attributes.text("file");
  if (compiler_.strip_paths) file = std::filesystem::path(file).filename().string();
  return includes_.file_name(compiler_.mesh_folder, file, attributes.place());
}

// Counts the mesh against the limits, though its file may have been counted already: each asset has a scaled copy.
void Assets::count(const TriangleMesh& mesh, const XmlElement& element) {
  const LoadLimits& limits = resources_.options().limits;
  vertices_ += mesh.vertices.size();
  triangles_ += mesh.triangles.size();
  if (vertices_ > static_cast<std::size_t>(limits.mesh_vertices)) {
    element.fail(fmt::format("the model's meshes have more than {} vertices in all (LoadLimits::mesh_vertices)",
                             limits.mesh_vertices));
  }
  if (triangles_ > static_cast<std::size_t>(limits.mesh_triangles)) {
    element.fail(fmt::format("the model's meshes have more than {} triangles in all (LoadLimits::mesh_triangles)",
                             limits.mesh_triangles));
  }
}

std::vector<std::array<std::int32_t, 3>> Assets::triangles_of_hull(const std::vector<Vec3>& points,
                                                                   const XmlElement& element) {
  const int most = resources_.options().limits.hull_points;
  hull_points_ += points.size();
  if (hull_points_ > static_cast<std::size_t>(most)) {
    element.fail(
        fmt::format("the meshes whose convex hull gives a mass have more than {} points "
                    "(LoadLimits::hull_points); simplify or close them, or give their bodies an <inertial>",
                    most));
  }
  return hull_triangles(points);
}

// A mesh whose vertices stand in the attribute `vertex`, with or without triangles in `face`. Without them its convex
// hull is meant.
TriangleMesh Assets::inline_mesh(const Attributes& attributes) {
  const LoadLimits& limits = resources_.options().limits;
  const VecX numbers = *attributes.numbers("vertex", 12, 3 * limits.mesh_vertices);
  if (numbers.size() % 3 != 0) attributes.fail("vertex", "it must be three numbers for each vertex");
  TriangleMesh mesh;
  for (Eigen::Index i = 0; i < numbers.size(); i += 3) mesh.vertices.push_back(numbers.segment<3>(i));
  const std::optional<VecX> corners = attributes.numbers("face", 3, 3 * limits.mesh_triangles);
  if (!corners) {
    mesh.triangles = triangles_of_hull(mesh.vertices, attributes.element());
    return mesh;
  }
  if (corners->size() % 3 != 0) attributes.fail("face", "it must be three vertices for each triangle");
  const double count = static_cast<double>(mesh.vertices.size());
  for (Eigen::Index i = 0; i < corners->size(); i += 3) {
    const Vec3 triangle = corners->segment<3>(i);
    const bool whole = triangle == triangle.array().floor().matrix();
    if (!whole || triangle.minCoeff() < 0 || triangle.maxCoeff() >= count) {
      attributes.fail("face", fmt::format("triangle {} has a corner that is not a vertex: they count from 0 to {}",
                                          i / 3, count - 1));
    }
    mesh.triangles.push_back({static_cast<std::int32_t>(triangle.x()), static_cast<std::int32_t>(triangle.y()),
                              static_cast<std::int32_t>(triangle.z())});
  }
  return mesh;
}

// How the asset places the vertices of its file: they are moved so that refpos is the origin, turned back by refquat,
// and then scaled.
MeshFrame Assets::reference_frame(const Attributes& attributes) const {
  MeshFrame frame;
  frame.scale = attributes.vector3("scale").value_or(Vec3::Ones());
  if ((frame.scale.array() == 0).any()) attributes.fail("scale", "no factor may be 0");
  frame.origin = attributes.vector3("refpos").value_or(Vec3::Zero());
  if (const auto turn = attributes.numbers("refquat", 4, 4)) {
    frame.R = rotation_from_wxyz(*turn, attributes.place(), warnings_);
  }
  return frame;
}

// The vertices are moved here and not where they are read, because several assets may be made of one file.
std::shared_ptr<const TriangleMesh> Assets::triangles(int index) {
  Mesh& mesh = meshes_[index];
  if (mesh.triangles) return mesh.triangles;
  const Attributes& attributes = mesh.attributes;
  auto result = std::make_shared<TriangleMesh>(
      attributes.has("file") ? *resources_.mesh(file_name(attributes), attributes.place()) : inline_mesh(attributes));
  count(*result, attributes.element());
  const MeshFrame frame = reference_frame(attributes);
  for (Vec3& point : result->vertices) {
    // MuJoCo keeps vertices in single precision; masses are to be the same to the last digits.
    const Vec3 in_file = point.cast<float>().cast<double>();
    point = frame.scale.cwiseProduct(frame.R.transpose() * (in_file - frame.origin));
  }
  const std::optional<Vec3> scale = attributes.vector3("scale");
  if (scale && scale->prod() < 0) {
    // Mirrored: turn the triangles round, so that they look outwards again.
    for (auto& triangle : result->triangles) std::swap(triangle[0], triangle[1]);
  }
  for (const Vec3& vertex : result->vertices) {
    if (!vertex.allFinite()) attributes.element().fail("the mesh's scale and frame make a vertex infinite");
  }
  mesh.triangles = std::move(result);
  return mesh.triangles;
}

// A geom with shellinertia needs the sheet, whatever the asset says, so both may be asked for.
const SpatialInertia& Assets::inertia(int index, bool shell) {
  Mesh& mesh = meshes_[index];
  std::optional<SpatialInertia>& result = shell ? mesh.shell : mesh.solid;
  if (!result) {
    const std::string_view kind = mesh.attributes.choice("inertia", {"legacy", "exact", "convex", "shell"});
    result = computed_inertia(index, shell ? "shell" : kind);
  }
  return *result;
}

// Computes the inertia by one of MuJoCo's four kinds. The results are to be MuJoCo's also where these are doubtful,
// since the author of the file saw their effect there; a warning tells.
SpatialInertia Assets::computed_inertia(int index, std::string_view kind) {
  const std::shared_ptr<const TriangleMesh> mesh = triangles(index);
  const XmlElement& element = meshes_[index].attributes.element();
  SpatialInertia inertia;
  if (kind == "shell") {
    inertia = shell_inertia(*mesh);
  } else if (kind == "convex") {
    inertia = solid_inertia({mesh->vertices, triangles_of_hull(mesh->vertices, element)}).inertia;
  } else {
    const SolidInertia solid = solid_inertia(*mesh);
    inertia = pyramid_inertia(*mesh, kind == "legacy");
    if (!solid.closed) {
      warnings_.add(
          element.place(), "mjcf.mesh.open",
          "the mesh is not closed, so it has no volume; its mass is that of pyramids over its triangles, as in "
          "MuJoCo; close the mesh, or say inertia=\"convex\" or \"shell\"");
    } else if (kind == "legacy" && inertia.mass > (1 + 1e-6) * solid.inertia.mass) {
      warnings_.add(
          element.place(), "mjcf.mesh.inertia",
          fmt::format("the mesh is not convex: as in MuJoCo, its default (inertia=\"legacy\") counts parts of "
                      "it twice, {:.3g} times its volume; say inertia=\"exact\" for the true one",
                      inertia.mass / solid.inertia.mass));
    }
  }
  const bool usable = inertia.mass > 0 && std::isfinite(inertia.mass) && inertia.rotational.allFinite();
  if (!usable) {
    element.fail(
        "the mesh has no volume (it is flat, inside out, or far too large): give the body an <inertial>, or the mesh "
        "inertia=\"shell\"");
  }
  return inertia;
}

// The box that has the mesh's mass and moments, in the frame of the principal axes with the largest moment first; or,
// with fitaabb, the smallest box in that frame that holds the mesh.
Assets::FittingBox Assets::fitting_box(int index, bool shell) {
  const SpatialInertia& mass = inertia(index, shell);
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(mass.about_centre());
  FittingBox box;
  box.X_MF.p = mass.centre();
  box.X_MF.R.col(0) = solver.eigenvectors().col(2);
  box.X_MF.R.col(1) = solver.eigenvectors().col(1);
  box.X_MF.R.col(2) = box.X_MF.R.col(0).cross(box.X_MF.R.col(1));
  if (compiler_.fit_bounds) {
    Eigen::AlignedBox3d bounds;
    for (const Vec3& vertex : triangles(index)->vertices) bounds.extend(Vec3(box.X_MF.inverse() * vertex));
    box.half_size = 0.5 * bounds.sizes();
    box.X_MF.p = box.X_MF * Vec3(bounds.center());
    return box;
  }
  const Vec3 moments = solver.eigenvalues().reverse();
  // A sum of two moments of a real body is at least the third, but for rounding.
  const Vec3 squares = (moments.sum() - 2 * moments.array()).max(0);
  box.half_size = 0.5 * (6 / mass.mass * squares).cwiseSqrt();
  return box;
}

// A mesh whose vertices stand in the model has no file, so the name of the asset tells its hull from others.
std::vector<ConvexMesh> Assets::convex_meshes(int index) {
  const Attributes& attributes = meshes_[index].attributes;
  const char* file = attributes.text("file");
  if (!file) {
    const std::string name = attributes.name() ? attributes.name() : fmt::format("mesh {}", index);
    return {resources_.hulls().add(name, triangles(index)->vertices, {}, attributes.place())};
  }
  // The options name pieces by the file as the model writes it.
  const bool in_pieces = resources_.options().convex_pieces.contains(file);
  return lithe::convex_meshes(resources_, in_pieces ? file : file_name(attributes), reference_frame(attributes),
                              attributes.place());
}

}  // namespace lithe::internal::mjcf
