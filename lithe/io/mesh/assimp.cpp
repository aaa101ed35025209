#include "lithe/io/mesh/assimp.h"

#include "lithe/io/mesh/builder.h"
#include "lithe/io/xml/xml.h"

#ifdef LITHE_WITH_ASSIMP

#include <assimp/IOSystem.hpp>
#include <assimp/Importer.hpp>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <vector>

namespace lithe::internal {

namespace {

// Keeps assimp from opening files: a mesh may name others, and its own bytes have been read already.
class NoFiles final : public Assimp::IOSystem {
 public:
  bool Exists(const char*) const override { return false; }
  char getOsSeparator() const override { return '/'; }
  Assimp::IOStream* Open(const char*, const char*) override { return nullptr; }
  void Close(Assimp::IOStream*) override {}
};

// A place in a file that assimp reads. Assimp tells no lines, so what is wrong is said of the file as a whole.
class WholeFile final : public MeshCursor {
 public:
  explicit WholeFile(const std::string& file) : file_(file) {}
  [[noreturn]] void fail(std::string_view what) const override { throw LoadError({file_, 0}, what); }

 private:
  const std::string& file_;
};

// Parses the bytes in the format that `ending` (with its dot) names. Assimp cuts the polygons into triangles and
// validates the structure, so that indices can be trusted. The importer owns the scene.
const aiScene& read_scene(Assimp::Importer& importer, std::string_view bytes, std::string_view ending,
                          const WholeFile& place) {
  importer.SetIOHandler(new NoFiles);  // the importer deletes it
  const aiScene* scene = nullptr;
  try {
    scene =
        importer.ReadFileFromMemory(bytes.data(), bytes.size(), aiProcess_Triangulate | aiProcess_ValidateDataStructure,
                                    std::string(ending.substr(1)).c_str());
  } catch (const std::exception& error) {
    place.fail(fmt::format("assimp cannot read it: {}", error.what()));
  }
  if (!scene || !scene->mRootNode) {
    place.fail(fmt::format("assimp cannot read it: {}", shortened(importer.GetErrorString())));
  }
  return *scene;
}

// Adds the triangles of one mesh, moved by X, the transform of the node that shows it. Equal vertices are merged,
// because assimp repeats a vertex for each of its normals.
void add_mesh(const aiMesh& mesh, const aiMatrix4x4& X, VertexMerger& merger, MeshBuilder& builder,
              const WholeFile& place) {
  const auto corner = [&](unsigned index) {
    const aiVector3D p = X * mesh.mVertices[index];
    if (!Vec3(p.x, p.y, p.z).allFinite()) place.fail("the mesh has a vertex that is not finite");
    return merger.find_or_add(Vec3(p.x, p.y, p.z), builder, place);
  };
  for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
    const aiFace& face = mesh.mFaces[f];
    if (face.mNumIndices != 3) continue;  // points and lines
    const std::int32_t a = corner(face.mIndices[0]), b = corner(face.mIndices[1]), c = corner(face.mIndices[2]);
    builder.add_triangle(a, b, c, place);
  }
}

}  // namespace

bool has_assimp() { return true; }

TriangleMesh parse_other_mesh(std::string_view bytes, const std::string& file, std::string_view ending,
                              const LoadLimits& limits) {
  check_mesh_bytes(bytes, file, limits);
  const WholeFile place(file);
  Assimp::Importer importer;
  if (ending.size() < 2 || !importer.IsExtensionSupported(std::string(ending))) {
    place.fail(fmt::format(
        "meshes that end in {} are read neither by Lithe nor by assimp; convert it to .stl, .obj, .ply or .dae",
        ending.empty() ? "nothing" : shown(ending)));
  }
  const aiScene& scene = read_scene(importer, bytes, ending, place);
  MeshBuilder builder(limits);
  VertexMerger merger;
  // The list takes the place of recursion: nodes may nest deeper than the stack of calls goes.
  std::vector<std::pair<const aiNode*, aiMatrix4x4>> nodes = {{scene.mRootNode, scene.mRootNode->mTransformation}};
  while (!nodes.empty()) {
    const auto [node, X] = nodes.back();
    nodes.pop_back();
    for (unsigned m = 0; m < node->mNumMeshes; ++m)
      add_mesh(*scene.mMeshes[node->mMeshes[m]], X, merger, builder, place);
    for (unsigned c = 0; c < node->mNumChildren; ++c) {
      nodes.emplace_back(node->mChildren[c], X * node->mChildren[c]->mTransformation);
    }
  }
  return std::move(builder).finish(file);
}

}  // namespace lithe::internal

#else

namespace lithe::internal {

bool has_assimp() { return false; }

TriangleMesh parse_other_mesh(std::string_view, const std::string& file, std::string_view ending, const LoadLimits&) {
  throw LoadError(
      {file, 0},
      fmt::format("meshes that end in {} are not read; convert it to .stl, .obj, .ply or .dae, or build Lithe "
                  "with -DLITHE_WITH_ASSIMP=ON",
                  ending.empty() ? "nothing" : shown(ending)));
}

}  // namespace lithe::internal

#endif
