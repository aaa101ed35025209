#include <fmt/format.h>

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lithe/io/write_mjcf.h"
#include "lithe/io/write_urdf.h"
#include "python/bindings/parts.h"
#include "python/bindings/values/arrays.h"
#include "python/bindings/values/paths.h"

// Models as text for other programs.
namespace lithe::python {

namespace {

std::map<std::string, std::string> meshes_of(const UrdfFile& file) {
  std::map<std::string, std::string> meshes;
  for (const UrdfFile::Mesh& mesh : file.meshes) meshes.emplace(mesh.file, mesh.obj);
  return meshes;
}

}  // namespace

void bind_write(nb::module_& m) {
  nb::class_<UrdfFile>(m, "UrdfFile", "A model as URDF; str() of it is the XML.")
      .def_ro("xml", &UrdfFile::xml)
      .def_prop_ro("meshes", &meshes_of, "{file as the URDF names it: text of an OBJ}.")
      .def_ro("warnings", &UrdfFile::warnings, "What URDF cannot hold, one line per kind.")
      .def("__str__", [](const UrdfFile& file) { return file.xml; })
      .def("__repr__", [](const UrdfFile& file) {
        return fmt::format("<UrdfFile: {} bytes, {} meshes, {} warnings>", file.xml.size(), file.meshes.size(),
                           file.warnings.size());
      });
  nb::class_<MjcfFile>(m, "MjcfFile", "A model as MJCF; str() of it is the XML.")
      .def_ro("xml", &MjcfFile::xml)
      .def_ro("warnings", &MjcfFile::warnings, "What MJCF cannot hold, one line per kind.")
      .def("__str__", [](const MjcfFile& file) { return file.xml; })
      .def("__repr__", [](const MjcfFile& file) {
        return fmt::format("<MjcfFile: {} bytes, {} warnings>", file.xml.size(), file.warnings.size());
      });

  m.def(
      "write_urdf",
      [](const Model& model, const std::string& name, const std::string& mesh_folder,
         const std::vector<Visual>& visuals) {
        return write_urdf(model, {.name = name, .mesh_folder = mesh_folder, .visuals = visuals});
      },
      nb::arg("model"), nb::kw_only(), nb::arg("name") = "robot", nb::arg("mesh_folder") = "meshes",
      nb::arg("visuals") = std::vector<Visual>{},
      R"(A model as the text of a URDF, which load_text() reads back: numbers have 17 digits.

`mesh_folder` is where the URDF looks for its meshes, relative to its own folder; `visuals` is what is to be seen
(loaded.visuals). What URDF cannot hold (planes, motors, loops …) is lost with a warning in the result; a screw joint is an Error.)");
  m.def(
      "save_urdf",
      [](const Model& model, const PathIn& path, const std::string& name, const std::string& mesh_folder,
         const std::vector<Visual>& visuals) {
        return save_urdf(model, path.string(), {.name = name, .mesh_folder = mesh_folder, .visuals = visuals});
      },
      nb::arg("model"), nb::arg("path"), nb::kw_only(), nb::arg("name") = "robot", nb::arg("mesh_folder") = "meshes",
      nb::arg("visuals") = std::vector<Visual>{},
      "write_urdf() to the disk, the meshes beside it. Returns the warnings.");
  m.def(
      "write_mjcf",
      [](const Model& model, const std::string& name, double time_step) {
        return write_mjcf(model, {.name = name, .time_step = time_step});
      },
      nb::arg("model"), nb::kw_only(), nb::arg("name") = "model", nb::arg("time_step") = 2e-3,
      R"(A model as the text of an MJCF, which load_text() reads back: every number is written in full.

What MJCF cannot hold (restitution, velocity limits …) is lost with a warning in the result.)");
}

}  // namespace lithe::python
