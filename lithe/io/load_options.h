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
  int include_depth = 16;
  int included_files = 1'000;
  int mesh_vertices = 10'000'000;  // of all meshes together
  int mesh_triangles = 20'000'000;
  int convex_points = 5'000'000;  // of all collision meshes together
  int hull_points = 500'000;      // of all meshes together whose convex hull gives a mass (MJCF)
  int shapes = 100'000;           // collisions and visuals together; a geom of MJCF is one
  int bodies = 10'000;            // and joints; what floats has four

  // For a stranger's file, on a server or in a test: with these, none takes a second or 512 MB (tests/io/hostile_cost_test.cpp).
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

struct LoadOptions {
  // How a root that the file does not attach to the world is held. `automatic`: a link that is called "world" is fixed, one that has a
  // mass floats, and one without floats by the mass that is fixed to it; it is fixed where there is none, where nothing moves, and where all
  // that moves is one limb that outweighs that mass (an arm on its pedestal). A warning "urdf.base" says so where it may not be what is meant.
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
  // An SRDF file, whose disabled pairs and states are taken for a URDF. Without one it is looked for where people keep it: STEM.srdf beside
  // STEM.urdf, or in a folder "srdf" beside that of the URDF.
  std::string srdf = {};

  // How far the convex hull of a collision mesh may lie inside the exact one (lithe/collision/hull_tolerance.h).
  HullTolerance hull_tolerance = {};
  // What was found out about meshes is kept between runs, in $LITHE_CACHE, $XDG_CACHE_HOME/lithe or ~/.cache/lithe (lithe/io/mesh/hull_cache.h).
  // LITHE_CACHE=off in the environment switches that off, too.
  bool cache = true;
  // Called from time to time by the thread that loads: what is being done, and how much of it is.
  std::function<void(std::string_view what, int done, int total)> progress = {};

  // The keyframe (MJCF) or state of the SRDF (URDF) whose state `loaded.q`, `v` and `motor_targets` are. "": the pose of a URDF; of an MJCF
  // "home" if there is one of that name; else the first, where in the pose of the file loops are open or shapes lie deep in one another;
  // else the pose of the file. "qpos0": the pose of the file.
  std::string keyframe = {};

  bool strict = false;  // warnings are errors
  bool visuals = true;  // read what is only to be seen

  // Where package://NAME/… and model://NAME/… are. What is not here is looked for in ROS_PACKAGE_PATH and AMENT_PREFIX_PATH (and
  // GAZEBO_MODEL_PATH, SDF_PATH, GZ_SIM_RESOURCE_PATH for model://), then in the folders above the file.
  std::map<std::string, std::string> packages = {};

  // Files may come from the file's own folder, from the package around it (the nearest folder above with a package.xml or
  // model.config), from `packages` and the folders of the environment, and from these. Anything else, by "..", by a link or by an
  // absolute path, is refused, unless `anywhere`.
  std::vector<std::string> roots = {};
  bool anywhere = false;

  // Convex pieces of a collision mesh, by the mesh's file name as it is written in the model: files to use instead of its hull.
  std::map<std::string, std::vector<std::string>> convex_pieces = {};

  LoadLimits limits = {};
};

}  // namespace lithe
