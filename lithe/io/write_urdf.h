#pragma once

#include <string>
#include <vector>

#include "lithe/io/loaded_model.h"

namespace lithe {

// What a URDF says and a Model does not.
struct UrdfWriteOptions {
  std::string name = "robot";
  std::string mesh_folder = "meshes";  // where the URDF looks for its meshes, relative to its own folder
  std::vector<Visual> visuals = {};    // to be seen (LoadedModel::visuals)
};

// A model as URDF, the mesh files that the URDF refers to, and what was lost.
struct UrdfFile {
  struct Mesh {
    std::string file;  // as the URDF names it
    std::string obj;   // its contents, as Wavefront OBJ
  };
  std::string xml;
  std::vector<Mesh> meshes = {};
  std::vector<std::string> warnings = {};  // what URDF cannot hold, one line per kind
};

// Writes a model. Numbers have 17 digits, so that read_urdf gives back the same bodies in the same places, the same inertias to
// rounding, joints, limits, shapes and mimics.
//
//   bodies   are links. A body with several joints, or whose frame is not its last joint's, hangs on massless links between; a free
//            or a planar joint (named as free_joint() and planar() name them) is one joint of type floating or planar.
//   world    is a link called "world", unless all there is to say is what load() assumes anyway: one root that floats by
//            free_joint("root"), or one without mass that is held.
//   frames   are massless links on fixed joints.
//   convex   meshes are OBJ files with one fan of triangles over all the points: right as a hull, which is what is meant, but not as a
//            surface.
//   no limit is written as 1e12, which read_urdf takes as none.
//   friction and restitution are one for all shapes of a body (<contact>, as PyBullet has it, and <gazebo>); springs are <gazebo>.
//
// Ball joints ("spherical") and capsules are extensions that not every program reads: a warning. Lost with a warning are planes,
// motors, loops, armature, springs of balls, gravity other than (0, 0, −9.81), margins, filters and collision exceptions. A
// screw joint is an Error: no joint of URDF comes near it.
UrdfFile write_urdf(const Model& model, const UrdfWriteOptions& options = {});

// Writes the URDF to `path` and the meshes beside it, and returns the warnings.
std::vector<std::string> save_urdf(const Model& model, const std::string& path, const UrdfWriteOptions& options = {});

}  // namespace lithe
