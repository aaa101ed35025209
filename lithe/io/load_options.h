#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/collision/hull_tolerance.h"

namespace lithe {

// Bounds on what a file may cost. What goes beyond is a LoadError, not a wait. The defaults have room for every public robot several
// times over, and stop what would fill the machine. docs/files.md says what both sets cost at most.
struct LoadLimits {
  std::size_t xml_bytes = std::size_t{128} << 20;   // of one XML file
  std::size_t mesh_bytes = std::size_t{512} << 20;  // of one mesh file
  std::size_t total_bytes = std::size_t{1} << 30;   // of all files together
  int elements = 1'000'000;  // XML elements and comments of all files together; three attributes count as one, too
  // How deep files may include one another, and how many XML files there may be in all.
  int include_depth = 16;
  int included_files = 1'000;
  int mesh_vertices = 10'000'000;  // of all meshes together
  int mesh_triangles = 20'000'000;
  int convex_points = 5'000'000;  // of all collision meshes together
  int hull_points = 500'000;      // of all meshes together whose convex hull gives a mass (MJCF)
  int shapes = 100'000;           // collisions and visuals together; a geom of MJCF is one
  int bodies = 10'000;            // and joints; what floats has four

  // For a stranger's file, on a server or in a test: the most expensive files that these limits admit take about a
  // second and less than 512 MB of memory (tests/io/hostile_cost_test.cpp).
  static constexpr LoadLimits untrusted();
};

constexpr LoadLimits LoadLimits::untrusted() {
  LoadLimits limits;
  limits.xml_bytes = std::size_t{16} << 20;
  limits.mesh_bytes = std::size_t{48} << 20;
  limits.total_bytes = std::size_t{48} << 20;
  limits.elements = 100'000;
  limits.mesh_vertices = 1'000'000;
  limits.mesh_triangles = 2'000'000;
  limits.convex_points = 500'000;
  limits.hull_points = 20'000;
  limits.shapes = 30'000;
  return limits;
}

// What a caller can decide about a load. The defaults suit a robot on one's own disk.
struct LoadOptions {
  // How the root of a robot is held where the file does not attach it to the world. With `automatic`, a link that is
  // called "world" is fixed, and one that has a mass floats. One without a mass floats by the mass that is fixed to it;
  // but it is fixed where no mass is fixed to it, where nothing moves on it, and where all that moves is one limb that
  // outweighs that mass (an arm on its pedestal). A warning "urdf.base" says what was assumed where the file may mean
  // something else.
  enum class Base { automatic, fixed, floating };
  Base base = Base::automatic;

  // Which links of one robot may touch one another. For a URDF:
  //   automatic         all but those that are joined, that overlap where the model starts, or that touch in most poses within the limits
  //   automatic_strict  the same, but those that overlap only at the start stay, with a warning
  //   all               all but parent and child
  //   none              none; the ground and other robots are touched nonetheless
  // SDF and MJCF say themselves who may touch whom, so that all but `none` mean the same there. docs/files.md has the rules.
  enum class SelfCollision { automatic, automatic_strict, all, none };
  SelfCollision self_collision = SelfCollision::automatic;
  // The SRDF file of a URDF: from it come pairs of links that do not collide, and states. Without this option an SRDF
  // is looked for where people keep it: STEM.srdf beside STEM.urdf, or in a folder "srdf" beside the URDF's folder.
  std::string srdf = {};

  // How far the convex hull of a collision mesh may lie inside the exact one (lithe/collision/hull_tolerance.h).
  HullTolerance hull_tolerance = {};
  // Whether the simplification of hulls is remembered between runs, in $LITHE_CACHE, $XDG_CACHE_HOME/lithe or
  // ~/.cache/lithe (lithe/io/mesh/hull_cache.h). LITHE_CACHE=off in the environment switches that off, too.
  bool cache = true;
  // Called from time to time by the thread that loads. `what` is the kind of work ("hulls"), of which `done` parts out
  // of `total` are finished.
  std::function<void(std::string_view what, int done, int total)> progress = {};

  // The keyframe (of an MJCF file) or the state (of an SRDF) in which the model starts: it gives `q`, `v` and
  // `motor_targets` of the LoadedModel. The empty name means
  // ·  of a URDF: the pose in which every joint is at 0, or at the limit next to 0;
  // ·  of an MJCF file: the keyframe "home" if there is one; else the first keyframe, if in the pose of the file loops are
  //    open or shapes lie deep in one another; else the pose of the file.
  // The name "qpos0" means the pose of the file, whatever keyframes there are.
  std::string keyframe = {};

  bool strict = false;  // warnings are errors
  bool visuals = true;  // read what is only to be seen

  // The folder of each package, by the NAME in package://NAME/… and model://NAME/…. Packages that are not named here
  // are looked for in the folders of ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, GAZEBO_MODEL_PATH, SDF_PATH and
  // GZ_SIM_RESOURCE_PATH, then in the folders above the file.
  std::map<std::string, std::string> packages = {};

  // Further folders from which files may be read. Allowed anyway are the file's own folder, the package around it (the
  // nearest folder above that has a package.xml, manifest.xml or model.config), `packages` and the folders of the
  // environment. Whatever leads elsewhere, by "..", by a link or by an absolute path, is refused, unless `anywhere` is
  // set.
  std::vector<std::string> roots = {};
  bool anywhere = false;

  // Files to use instead of the convex hull of a collision mesh, by the name of the mesh's file as the model writes it:
  // each file is one convex piece.
  std::map<std::string, std::vector<std::string>> convex_pieces = {};

  LoadLimits limits = {};
};

}  // namespace lithe
