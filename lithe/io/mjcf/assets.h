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

// <asset>: the meshes and colours that geoms refer to. Meshes are read when they are first needed.
class Assets {
 public:
  Assets(const Compiler& compiler, const Includes& includes, Resources& resources, WarningList& warnings)
      : compiler_(compiler), includes_(includes), resources_(resources), warnings_(warnings) {}

  void read(const XmlElement& section, Includes& includes, const Defaults& defaults);

  // By name; an error at `place` if there is none.
  int mesh(const char* name, const SourcePlace& place) const;
  Vec4 color(const char* material, const SourcePlace& place) const;

  // The mesh as the file means it: scaled and put into its reference frame.
  std::shared_ptr<const TriangleMesh> triangles(int mesh);
  // Solid of density 1, or as the asset's attribute `inertia` says; `shell`: a thin sheet in any case.
  const SpatialInertia& inertia(int mesh, bool shell);
  // A box that stands for the mesh, where a primitive is to be fitted to it: its half sizes, and its frame in the mesh's. The long side is z.
  struct FittingBox {
    Pose X_MF = {};
    Vec3 half_size = Vec3::Zero();
  };
  FittingBox fitting_box(int mesh, bool shell);
  // What the mesh is when something touches it: its hull, or the pieces that LoadOptions name for its file.
  std::vector<ConvexMesh> convex_meshes(int mesh);

 private:
  struct Mesh {
    Attributes attributes;
    std::shared_ptr<const TriangleMesh> triangles = nullptr;
    std::optional<SpatialInertia> solid = std::nullopt, shell = std::nullopt;
  };
  void read_mesh(const XmlElement& element, const Defaults& defaults);
  void read_material(const XmlElement& element, const Defaults& defaults);
  TriangleMesh inline_mesh(const Attributes& attributes);
  void count(const TriangleMesh& mesh, const XmlElement& element);
  // Of the hull; an error where the meshes so far have too many points for it.
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
