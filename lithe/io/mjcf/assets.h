#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lithe/io/mesh.h"
#include "lithe/io/mesh/hull_jobs.h"
#include "lithe/io/mjcf/compiler.h"
#include "lithe/io/mjcf/defaults.h"
#include "lithe/model/shape.h"
#include "lithe/spatial/inertia.h"

namespace lithe::internal::mjcf {

// The meshes and colours of <asset>, to which geoms refer by name. Meshes are read when they are first needed.
class Assets {
 public:
  Assets(const Compiler& compiler, const Includes& includes, Resources& resources, WarningList& warnings)
      : compiler_(compiler), includes_(includes), resources_(resources), warnings_(warnings) {}

  // Notes what an <asset> section has. Textures, height fields, skins and models are warned about.
  void read(const XmlElement& section, Includes& includes, const Defaults& defaults);

  // The number of a mesh and the colour of a material, by name; an error at `place` if there is none.
  int mesh(const char* name, const SourcePlace& place) const;
  Vec4 color(const char* material, const SourcePlace& place) const;

  // The mesh as the asset means it: scaled and put into its reference frame, m.
  std::shared_ptr<const TriangleMesh> triangles(int mesh);
  // The mass properties at density 1, as the asset's attribute `inertia` says. With `shell` they are those of a thin
  // sheet of mass 1 per unit of area in any case.
  const SpatialInertia& inertia(int mesh, bool shell);
  // A box that stands for the mesh where a primitive is to be fitted to it, with its frame F in the mesh's frame M. The
  // long side is along z.
  struct FittingBox {
    Pose X_MF = {};
    Vec3 half_size = Vec3::Zero();
  };
  FittingBox fitting_box(int mesh, bool shell);
  // What the mesh is when something touches it: its hull, or the pieces that LoadOptions::convex_pieces names for its
  // file.
  std::vector<ConvexMesh> convex_meshes(int mesh);

 private:
  // A <mesh> with what has been computed for it so far.
  struct Mesh {
    Attributes attributes;
    std::shared_ptr<const TriangleMesh> triangles = nullptr;
    std::optional<SpatialInertia> solid = std::nullopt, shell = std::nullopt;
  };
  void read_mesh(const XmlElement& element, const Defaults& defaults);
  void read_material(const XmlElement& element, const Defaults& defaults);
  TriangleMesh inline_mesh(const Attributes& attributes);
  void count(const TriangleMesh& mesh, const XmlElement& element);
  // The triangles of the points' convex hull, which gives a mass. An error beyond LoadLimits::hull_points, which holds
  // for all such meshes together.
  std::vector<std::array<std::int32_t, 3>> triangles_of_hull(const std::vector<Vec3>& points,
                                                             const XmlElement& element);
  std::string file_name(const Attributes& attributes) const;
  MeshFrame reference_frame(const Attributes& attributes) const;
  SpatialInertia computed_inertia(int mesh, std::string_view kind);

  const Compiler& compiler_;
  const Includes& includes_;
  Resources& resources_;
  WarningList& warnings_;
  std::vector<Mesh> meshes_;
  std::unordered_map<std::string, int> mesh_index_;
  std::unordered_map<std::string, Vec4> colors_;
  std::size_t vertices_ = 0, triangles_ = 0;  // of all meshes so far; a file counts for each mesh that is made of it
  std::size_t hull_points_ = 0;
};

}  // namespace lithe::internal::mjcf
