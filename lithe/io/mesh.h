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

// A collision mesh as its file has it, before its convex hull took its place: `lithe doctor` compares the two.
struct CollisionMesh {
  std::string file;
  std::shared_ptr<const TriangleMesh> mesh;
  Vec3 scale = Vec3::Ones();
};

// Readers of the mesh formats, bounded by `limits`. `file` is the name for messages: "file:line: error: …" for texts,
// and the position of a byte instead of the line for binary files. Polygons become triangles: fans, but in OBJ files
// the triangles of a careful cut. Colours, normals and textures are not read. STL has no indices, so equal vertices are
// merged there.
TriangleMesh parse_stl(std::string_view bytes, const std::string& file,
                       const LoadLimits& limits = {});  // text or binary
TriangleMesh parse_obj(std::string_view text, const std::string& file, const LoadLimits& limits = {});
TriangleMesh parse_ply(std::string_view bytes, const std::string& file,
                       const LoadLimits& limits = {});  // text or binary
TriangleMesh parse_msh(std::string_view bytes, const std::string& file,
                       const LoadLimits& limits = {});  // MuJoCo's own, not Gmsh's
// Collada: the geometry that the scene shows (all of it, if there is no scene), with its nodes' transforms, in metres and z up.
TriangleMesh parse_dae(std::string_view text, const std::string& file, const LoadLimits& limits = {});

// Chooses the reader by the ending of the file's name (.stl, .obj, .ply, .dae, .msh, in any case of letters). Other
// formats are read by assimp where Lithe is built with it (LITHE_WITH_ASSIMP); without it, they are an error that says
// so.
TriangleMesh parse_mesh(std::string_view bytes, const std::string& file, const LoadLimits& limits = {});

}  // namespace lithe
