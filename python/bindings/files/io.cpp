#include <fmt/format.h>

#include <filesystem>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "lithe/io/load.h"
#include "python/bindings/parts.h"
#include "python/bindings/values/arrays.h"
#include "python/bindings/values/choices.h"
#include "python/bindings/values/paths.h"

namespace lithe::python {

namespace {

using Base = LoadOptions::Base;
using SelfCollision = LoadOptions::SelfCollision;

// Error classes of Python with the place that the C++ error knows: file (str) and line (int, 0: the file as a whole).
void bind_errors(nb::module_& m) {
  const auto make = [&](const char* name, const nb::object& bases, const char* doc) {
    const std::string full = fmt::format("{}.{}", nb::cast<std::string>(m.attr("__name__")), name);
    nb::object type = nb::steal(PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr));
    if (!type.is_valid()) throw nb::python_error();
    m.attr(name) = type;
    return type.release().ptr();  // lives as long as the process, like the translator that uses it
  };
  static PyObject* load_error =
      make("LoadError", nb::object(m.attr("Error")),
           "What is wrong with a file, where, and what to do about it: 'robot.urdf:12: error: …'.\n\n"
           "`file` and `line` say where (line 0: the file as a whole), `text` is the message without the place.");
  static PyObject* missing_file =
      make("MissingFile", nb::make_tuple(nb::handle(load_error), nb::handle(PyExc_FileNotFoundError)),
           "A LoadError where all that is wrong is that a file is not there; a FileNotFoundError, too.");
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void*) {
        const auto raise = [](PyObject* type, const LoadError& error) {
          nb::object exception = nb::handle(type)(error.what());
          exception.attr("file") = error.place().file;
          exception.attr("line") = error.place().line;
          exception.attr("text") = error.text();
          PyErr_SetObject(type, exception.ptr());
        };
        try {
          std::rethrow_exception(thrown);
        } catch (const MissingFile& error) {
          raise(missing_file, error);
        } catch (const LoadError& error) {
          raise(load_error, error);
        }
      },
      nullptr);
}

void bind_limits(nb::module_& m) {
  const LoadLimits d;
  nb::class_<LoadLimits>(
      m, "LoadLimits",
      "Bounds on what a file may cost; what goes beyond is a LoadError, not a wait. The defaults have room for real "
      "robots; untrusted() is for strangers' files. Every member is a keyword argument.")
      .def(
          "__init__",
          [](LoadLimits* self, std::size_t xml_bytes, std::size_t mesh_bytes, std::size_t total_bytes, int elements,
             int include_depth, int included_files, int mesh_vertices, int mesh_triangles, int convex_points,
             int hull_points, int shapes, int bodies) {
            new (self) LoadLimits{.xml_bytes = xml_bytes,
                                  .mesh_bytes = mesh_bytes,
                                  .total_bytes = total_bytes,
                                  .elements = elements,
                                  .include_depth = include_depth,
                                  .included_files = included_files,
                                  .mesh_vertices = mesh_vertices,
                                  .mesh_triangles = mesh_triangles,
                                  .convex_points = convex_points,
                                  .hull_points = hull_points,
                                  .shapes = shapes,
                                  .bodies = bodies};
          },
          nb::kw_only(), nb::arg("xml_bytes") = d.xml_bytes, nb::arg("mesh_bytes") = d.mesh_bytes,
          nb::arg("total_bytes") = d.total_bytes, nb::arg("elements") = d.elements,
          nb::arg("include_depth") = d.include_depth, nb::arg("included_files") = d.included_files,
          nb::arg("mesh_vertices") = d.mesh_vertices, nb::arg("mesh_triangles") = d.mesh_triangles,
          nb::arg("convex_points") = d.convex_points, nb::arg("hull_points") = d.hull_points,
          nb::arg("shapes") = d.shapes, nb::arg("bodies") = d.bodies)
      .def_static(
          "untrusted", [] { return LoadLimits::untrusted(); },
          "For a stranger's file: with these, none takes more than about a second and 512 MB.")
      .def_rw("xml_bytes", &LoadLimits::xml_bytes, "Of one XML file.")
      .def_rw("mesh_bytes", &LoadLimits::mesh_bytes, "Of one mesh file.")
      .def_rw("total_bytes", &LoadLimits::total_bytes, "Of all files together.")
      .def_rw("elements", &LoadLimits::elements, "XML elements and comments of all files together.")
      .def_rw("include_depth", &LoadLimits::include_depth)
      .def_rw("included_files", &LoadLimits::included_files)
      .def_rw("mesh_vertices", &LoadLimits::mesh_vertices, "Of all meshes together.")
      .def_rw("mesh_triangles", &LoadLimits::mesh_triangles)
      .def_rw("convex_points", &LoadLimits::convex_points, "Of all collision meshes together.")
      .def_rw("hull_points", &LoadLimits::hull_points, "Of all meshes together whose convex hull gives a mass (MJCF).")
      .def_rw("shapes", &LoadLimits::shapes, "Collisions and visuals together.")
      .def_rw("bodies", &LoadLimits::bodies, "And joints.")
      .def("__repr__", [](const LoadLimits& l) {
        return fmt::format("LoadLimits(total_bytes={}, elements={}, bodies={}, shapes={}, …)", l.total_bytes,
                           l.elements, l.bodies, l.shapes);
      });
}

using Packages = std::optional<std::map<std::string, PathIn>>;
using Roots = std::optional<std::vector<PathIn>>;
using Pieces = std::optional<std::map<std::string, std::vector<PathIn>>>;
using Tolerance = std::optional<std::pair<double, double>>;

LoadOptions read_options(const Choice<Base>& base, bool strict, bool visuals, const Packages& packages,
                         const Roots& roots, bool anywhere, const Pieces& convex_pieces,
                         const std::optional<LoadLimits>& limits, const Choice<SelfCollision>& self_collision,
                         const std::optional<PathIn>& srdf, const std::string& keyframe,
                         const Tolerance& hull_tolerance, bool cache) {
  LoadOptions options{.base = base.get("base"),
                      .self_collision = self_collision.get("self_collision"),
                      .srdf = srdf ? srdf->string() : std::string(),
                      .keyframe = keyframe,
                      .strict = strict,
                      .visuals = visuals,
                      .anywhere = anywhere};
  if (packages) {
    for (const auto& [name, folder] : *packages) options.packages[name] = folder.string();
  }
  if (roots) {
    for (const PathIn& folder : *roots) options.roots.push_back(folder.string());
  }
  if (convex_pieces) {
    for (const auto& [mesh, files] : *convex_pieces) {
      for (const PathIn& file : files) options.convex_pieces[mesh].push_back(file.string());
    }
  }
  if (limits) options.limits = *limits;
  if (hull_tolerance) options.hull_tolerance = {.absolute = hull_tolerance->first, .relative = hull_tolerance->second};
  options.cache = cache;
  return options;
}

constexpr const char* kOptionsDoc = R"(

base           how a root that the file does not attach to the world is held: 'automatic' (a link called "world" is fixed,
               others by the mass they carry: docs/files.md), 'fixed' or 'floating'
strict         warnings are errors
visuals        read what is only to be seen
packages       {name: folder}: where package://name/… and model://name/… are; others are looked for in ROS_PACKAGE_PATH,
               AMENT_PREFIX_PATH, GAZEBO_MODEL_PATH and the like, then in the folders above the file
roots          further folders that files may come from, besides the file's own, the package around it and `packages`
anywhere       files may come from anywhere
convex_pieces  {mesh file as the model names it: [files]}: convex pieces to use instead of the mesh's hull
limits         LoadLimits: what a file may cost
self_collision which links of a URDF's robot may touch: 'auto' (all but those that are joined, that overlap where the
               model starts or that touch in most poses), 'auto_strict' (those that overlap only at the start may),
               'all' (all but parent and child) or 'none', which holds for every format
srdf           an SRDF with pairs of links that do not collide, and states; else the one beside the URDF, if there is one
keyframe       the name of the keyframe, or of the SRDF's state, to start in; 'qpos0': the pose of the file
hull_tolerance (absolute, relative): how far the hull of a collision mesh may lie inside the exact one, in m and of its
               size, whichever is less; by default (1e-3, 5e-3). (0, 0) keeps every vertex
cache          remember between runs what was found out about meshes

What is wrong is a LoadError (a ValueError with .file and .line); a file that is not there a MissingFile (a
FileNotFoundError, too). Nothing is fetched from a network; nothing is written but the cache of hulls.)";

template <class Function, class... Extra>
void define_loader(nb::module_& m, const char* name, Function load_with, const std::string& doc,
                   const Extra&... arguments) {
  m.def(name, load_with, arguments..., nb::kw_only(), nb::arg("base") = "automatic", nb::arg("strict") = false,
        nb::arg("visuals") = true, nb::arg("packages").none() = nb::none(), nb::arg("roots").none() = nb::none(),
        nb::arg("anywhere") = false, nb::arg("convex_pieces").none() = nb::none(),
        nb::arg("limits").none() = nb::none(), nb::arg("self_collision") = "auto", nb::arg("srdf").none() = nb::none(),
        nb::arg("keyframe") = "", nb::arg("hull_tolerance").none() = nb::none(), nb::arg("cache") = true,
        (doc + kOptionsDoc).c_str());
}

// A loader of one C++ function. The GIL is released while it reads.
template <LoadedModel (*load_file)(const std::string&, const LoadOptions&)>
LoadedModel load_path(const PathIn& path, const Choice<Base>& base, bool strict, bool visuals, const Packages& packages,
                      const Roots& roots, bool anywhere, const Pieces& convex_pieces,
                      const std::optional<LoadLimits>& limits, const Choice<SelfCollision>& self_collision,
                      const std::optional<PathIn>& srdf, const std::string& keyframe, const Tolerance& hull_tolerance,
                      bool cache) {
  const LoadOptions options = read_options(base, strict, visuals, packages, roots, anywhere, convex_pieces, limits,
                                           self_collision, srdf, keyframe, hull_tolerance, cache);
  const nb::gil_scoped_release released;
  std::error_code ignored;
  if (!std::filesystem::exists(path.path, ignored)) throw MissingFile({path.string()}, "there is no such file");
  return load_file(path.string(), options);
}

}  // namespace

void bind_io(nb::module_& m) {
  bind_errors(m);
  bind_limits(m);
  nb::enum_<Base>(m, "LoadBase", "How a root that a file does not attach to the world is held.", nb::is_str())
      .str_value("automatic", Base::automatic, "automatic",
                 "A link called \"world\" or without mass is fixed, any other floats.")
      .str_value("fixed", Base::fixed, "fixed")
      .str_value("floating", Base::floating, "floating");
  nb::enum_<SelfCollision>(m, "SelfCollision", "Which links of one robot may touch one another.", nb::is_str())
      .str_value("auto", SelfCollision::automatic, "auto",
                 "All but those that are joined, that overlap where the model starts or that touch in most poses.")
      .str_value("auto_strict", SelfCollision::automatic_strict, "auto_strict",
                 "The same, but those that overlap only at the start may.")
      .str_value("all", SelfCollision::all, "all", "All but parent and child.")
      .str_value("none", SelfCollision::none, "none");
  bind_loaded(m);
  bind_write(m);

  define_loader(m, "load", &load_path<load>,
                "Reads a robot or a world: URDF, SDF or MJCF, told apart by the root element, meshes and included "
                "files with it.\n\n"
                "    loaded = lithe.load('robot.urdf')\n"
                "    record = lithe.step(loaded.model, loaded.q, loaded.v)",
                nb::arg("path"));
  define_loader(m, "load_urdf", &load_path<load_urdf>, "Reads a URDF; a file of another kind is an error.",
                nb::arg("path"));
  define_loader(m, "load_sdf", &load_path<load_sdf>, "Reads an SDF; a file of another kind is an error.",
                nb::arg("path"));
  define_loader(m, "load_mjcf", &load_path<load_mjcf>, "Reads an MJCF; a file of another kind is an error.",
                nb::arg("path"));
  define_loader(
      m, "load_text",
      [](std::string_view text, const PathIn& name, const Choice<Base>& base, bool strict, bool visuals,
         const Packages& packages, const Roots& roots, bool anywhere, const Pieces& convex_pieces,
         const std::optional<LoadLimits>& limits, const Choice<SelfCollision>& self_collision,
         const std::optional<PathIn>& srdf, const std::string& keyframe, const Tolerance& hull_tolerance, bool cache) {
        const LoadOptions options = read_options(base, strict, visuals, packages, roots, anywhere, convex_pieces,
                                                 limits, self_collision, srdf, keyframe, hull_tolerance, cache);
        const nb::gil_scoped_release released;
        return load_text(text, name.string(), options);
      },
      "Reads a robot or a world from a text. `name` stands for the file in messages, and relative names are resolved "
      "from its folder.",
      nb::arg("text"), nb::arg("name") = "text");
}

}  // namespace lithe::python
