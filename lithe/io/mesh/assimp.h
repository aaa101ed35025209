#pragma once

#include <string>
#include <string_view>

#include "lithe/io/mesh.h"

namespace lithe::internal {

// Whether other mesh formats are read: CMake's option LITHE_WITH_ASSIMP.
bool has_assimp();

// Reads a mesh in a format that Lithe has no reader for, by assimp: all triangles of its scene, where its nodes put
// them, in the file's own units and axes. Files to which it refers are not opened. The size of the file and of the
// result are bounded, but what assimp does in between is not: turn it on for files that you trust. Without assimp, this
// is an error that says which formats are read.
TriangleMesh parse_other_mesh(std::string_view bytes, const std::string& file, std::string_view ending,
                              const LoadLimits& limits);

}  // namespace lithe::internal
