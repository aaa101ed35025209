#include "lithe/io/load.h"

#include "lithe/dynamics/internal/mass_factor.h"
#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/internal/readers.h"
#include "lithe/io/internal/sampled_poses.h"
#include "lithe/io/internal/self_collision.h"
#include "lithe/io/internal/start_state.h"
#include "lithe/io/srdf/srdf.h"

namespace lithe {

using namespace internal;

namespace {

// The entry point of one format: it turns the root element of a document into a model, with warnings about what is
// lost.
using Reader = LoadedModel (*)(const XmlElement&, Resources&, WarningList&);

// A file format that load() knows, recognised by the name of its root element.
struct Format {
  std::string_view root;  // name of the root element
  std::string_view name;
  Reader reader;
};
constexpr Format kFormats[] = {{"robot", "URDF", read_urdf}, {"sdf", "SDF", read_sdf}, {"mujoco", "MJCF", read_mjcf}};

// Finds the format by the root element's name. The ending of the file's name is not asked: URDF and MJCF are both often
// called .xml.
const Format& format_of(const XmlElement& root) {
  for (const Format& format : kFormats) {
    if (root.name() == format.root) return format;
  }
  root.fail(
      fmt::format("<{}> is not a robot or a world: the root element is <robot> (URDF), <sdf> (SDF) or <mujoco> (MJCF)",
                  root.name()));
}

// Reads an SRDF that was found by its name and that nobody asked for: where it cannot be read, the robot goes without
// it, with a warning. (An SRDF that the options name is an error in that case.)
Srdf read_found_srdf(const std::string& file, Resources& resources, WarningList& warnings) {
  try {
    return read_srdf(resources.xml(file, {}).root(), warnings);
  } catch (const LoadError& error) {
    warnings.add(error.place(), "srdf.unreadable", fmt::format("{}; the SRDF is not used", error.text()));
    return {};
  }
}

// Adds what the file leaves open: the state in which the model starts, and which links of a URDF may touch, first by
// its SRDF and then by LoadOptions::self_collision. `beside` is the path of the URDF, beside which an SRDF is looked
// for; it is empty for a text that is no file.
void complete(bool is_urdf, const std::string& beside, const SourcePlace& place, Resources& resources,
              WarningList& warnings, LoadedModel& loaded) {
  using Policy = LoadOptions::SelfCollision;
  const LoadOptions& options = resources.options();
  bool pairs_listed = false;
  if (is_urdf) {
    // Zero may lie outside a joint's limits, as it does for an elbow that bends from 10° to 150°.
    loaded.q = within_limits(loaded.model, std::move(loaded.q));
    if (!options.srdf.empty()) {
      pairs_listed = apply_srdf(read_srdf(resources.xml(options.srdf, {}).root(), warnings), loaded, warnings);
    } else if (!beside.empty()) {
      const std::string file = find_srdf(beside, options, warnings);
      if (!file.empty()) pairs_listed = apply_srdf(read_found_srdf(file, resources, warnings), loaded, warnings);
    }
  } else if (!options.srdf.empty()) {
    throw LoadError(place, "an SRDF goes with a URDF only (LoadOptions::srdf): this format says itself what may touch");
  }
  // The states of an SRDF are taken only if they are asked for: a URDF starts where it is zero.
  if (!is_urdf || !options.keyframe.empty()) choose_start(loaded, options.keyframe);

  const Policy policy = options.self_collision;
  // SDF and MJCF have said already who may touch whom, so that only `none` changes anything for them.
  if (policy == Policy::none) {
    except_all_pairs(is_urdf, place, loaded);
  } else if (is_urdf && policy != Policy::all) {
    except_self_collisions({.policy = policy, .often = !pairs_listed, .place = place}, loaded, warnings);
  }
}

// Replaces the stand-ins that the readers left in mesh shapes by the finished hulls, in the builder and in the model,
// which have a copy of each shape. Whatever is wrong with a mesh is therefore found here, and not in the first step.
void build_hulls(LoadedModel& loaded, Resources& resources, WarningList& warnings) {
  HullJobs& hulls = resources.hulls();
  hulls.build(resources.options(), warnings);
  const auto finish_shape = [&](Shape& shape) {
    const auto* mesh = std::get_if<ConvexMesh>(&shape.geometry);
    if (mesh) shape.geometry = hulls.finished(*mesh, shape.name);
    return mesh != nullptr;
  };
  loaded.builder.change_shapes(finish_shape);
  for (std::size_t i = 0; i < loaded.model.shapes().size(); ++i) {
    Shape shape = loaded.model.shapes()[i];
    if (finish_shape(shape)) loaded.model.set_shape(ShapeIndex(static_cast<int>(i)), shape);
  }
}

// Warns of a degree of freedom that nothing resists where the model starts, although its joint carries mass: a point
// mass on the joint's own axis, or two joints that do the same. A step holds such a degree of freedom still; whoever
// loads the model learns of it here, and not from a robot that does not move. The factorisation names the first one
// only.
void warn_of_singular_dofs(const LoadedModel& loaded, const XmlElement& root, WarningList& warnings) {
  // In a chain of so many, the factorisation costs the cube of their number.
  constexpr int kMostDofsToCheck = 500;
  const Model& model = loaded.model;
  if (model.nv() == 0 || model.nv() > kMostDofsToCheck) return;
  Kinematics kin;
  MassMatrix M;
  MassFactor factor;
  kinematics(model, loaded.q, kin);
  mass_matrix(model, kin, M);
  factorize(model, M, factor);
  if (factor.singular_dof < 0) return;
  for (const Joint& joint : model.joints()) {
    if (factor.singular_dof < joint.v_index || factor.singular_dof >= joint.v_index + joint.nv()) continue;
    warnings.add(
        root.place(), "inertia.singular",
        fmt::format("nothing resists joint '{}' where the model starts: what it moves has no inertia about it, or "
                    "another joint does the same; it is held still there",
                    joint.name));
  }
}

// Reads a document from its root element to the finished LoadedModel. `only` is the name of the format that the caller
// insists on, or empty; `beside` is as for complete().
LoadedModel read(const XmlElement& root, Resources& resources, const LoadOptions& options, std::string_view only,
                 const std::string& beside) {
  const Format& format = format_of(root);
  if (!only.empty() && format.name != only) {
    root.fail(fmt::format("this is {}, not {}: call load(), which tells the formats apart", format.name, only));
  }
  WarningList warnings(options.strict);
  resources.warn_to(warnings);
  LoadedModel loaded;
  // Errors of the classes that build the model know no place in a file, so they are reported at the root element.
  at_line(root, [&] {
    loaded = format.reader(root, resources, warnings);
    build_hulls(loaded, resources, warnings);
    complete(format.name == "URDF", beside, root.place(), resources, warnings, loaded);
  });
  warn_of_singular_dofs(loaded, root, warnings);
  loaded.warnings = warnings.ranked();
  loaded.collision_meshes = resources.collision_meshes();
  loaded.hulls = resources.hulls().report();
  loaded.files = resources.files();
  return loaded;
}

// Loads a file. Its path is opened as the caller gives it; only names that stand inside a file are looked for in
// packages.
LoadedModel load_file(const std::string& path, const LoadOptions& options, std::string_view only) {
  Resources resources(path, options);
  return read(resources.xml(path, {}).root(), resources, options, only, path);
}

}  // namespace

LoadedModel load(const std::string& path, const LoadOptions& options) { return load_file(path, options, ""); }
LoadedModel load_urdf(const std::string& path, const LoadOptions& options) { return load_file(path, options, "URDF"); }
LoadedModel load_sdf(const std::string& path, const LoadOptions& options) { return load_file(path, options, "SDF"); }
LoadedModel load_mjcf(const std::string& path, const LoadOptions& options) { return load_file(path, options, "MJCF"); }

LoadedModel load_text(std::string_view text, const std::string& name, const LoadOptions& options) {
  Resources resources(name, options);
  // There is no file beside which an SRDF could lie, hence the empty path.
  return read(resources.xml_from_text(text, name).root(), resources, options, "", "");
}

}  // namespace lithe
