#include "lithe/io/mesh.h"
#include "lithe/io/mesh/assimp.h"
#include "lithe/io/mesh/cursor.h"

namespace lithe {

using namespace internal;

TriangleMesh parse_mesh(std::string_view bytes, const std::string& file, const LoadLimits& limits) {
  using Parse = TriangleMesh (*)(std::string_view, const std::string&, const LoadLimits&);
  static constexpr std::pair<std::string_view, Parse> kFormats[] = {
      {".stl", parse_stl}, {".obj", parse_obj}, {".ply", parse_ply}, {".dae", parse_dae}, {".msh", parse_msh}};

  // The ending is looked for in the last part of the path only: a folder may have a dot in its name.
  const std::string_view name = std::string_view(file).substr(file.find_last_of("/\\") + 1);  // all of it, after npos
  const std::size_t dot = name.rfind('.');
  const std::string_view ending = dot == std::string_view::npos ? "" : name.substr(dot);
  for (const auto& [known, parse] : kFormats) {
    if (equal_in_any_case(ending, known)) return parse(bytes, file, limits);
  }
  return parse_other_mesh(bytes, file, ending, limits);
}

}  // namespace lithe
