#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/core/eigen.h"
#include "lithe/io/load_options.h"

namespace lithe {

// A surface of triangles, as mesh files hold it.
struct TriangleMesh {
  std::vector<Vec3> vertices = {};
  std::vector<std::array<std::int32_t, 3>> triangles = {};  // anticlockwise seen from outside
};

// A mesh that became convex for collision, as it was: what a linter compares with its hull.
struct CollisionMesh {
  std::string file;
  std::shared_ptr<const TriangleMesh> mesh;
  Vec3 scale = Vec3::Ones();
};

// Readers of the formats, bounded by `limits`. `file` is the name for messages ("file:line: error: …"; binary formats give a byte
// position instead of a line). Polygons become triangles (fans; in OBJ, cut ear by ear); colours, normals and textures are not read. Equal vertices are
// merged in STL, which has no indices.
TriangleMesh parse_stl(std::string_view bytes, const std::string& file,
                       const LoadLimits& limits = {});  // text or binary
TriangleMesh parse_obj(std::string_view text, const std::string& file, const LoadLimits& limits = {});
TriangleMesh parse_ply(std::string_view bytes, const std::string& file,
                       const LoadLimits& limits = {});  // text or binary
TriangleMesh parse_msh(std::string_view bytes, const std::string& file,
                       const LoadLimits& limits = {});  // MuJoCo's own, not Gmsh's
// Collada: the geometry that the scene shows (all of it, if there is no scene), with its nodes' transforms, in metres and z up.
TriangleMesh parse_dae(std::string_view text, const std::string& file, const LoadLimits& limits = {});

// By the file name's ending (.stl, .obj, .ply, .dae, .msh, in any case). Other formats are read by assimp where Lithe is built with it
// (LITHE_WITH_ASSIMP); where not, they are an error that says so.
TriangleMesh parse_mesh(std::string_view bytes, const std::string& file, const LoadLimits& limits = {});

}  // namespace lithe
