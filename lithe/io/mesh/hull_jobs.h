#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lithe/collision/hull/hull.h"
#include "lithe/io/load_options.h"
#include "lithe/io/loaded_model.h"
#include "lithe/io/source_place.h"

namespace lithe::internal {

// How the vertices x of a mesh file become points of a shape: scale·Rᵀ (x − origin), where the scale multiplies each
// coordinate.
struct MeshFrame {
  Vec3 scale = Vec3::Ones();
  Mat3 R = Mat3::Identity();
  Vec3 origin = Vec3::Zero();
};

// The convex hulls that one load() needs: each mesh in each frame once, all of them at the same time.
//
// A reader asks for a mesh and gets a stand-in: a few of its points, and a hull that is empty yet. When everything is read,
// build() makes all hulls, and finished() gives what a stand-in stands for.
class HullJobs {
 public:
  // Asks for the hull of a mesh and returns its stand-in. `file` names the mesh: equal names mean equal vertices.
  // Mirror images are simplified in the same way, because the signs of the scale are applied afterwards.
  ConvexMesh add(const std::string& file, const std::vector<Vec3>& vertices, const MeshFrame& frame,
                 const SourcePlace& place);

  // Builds all hulls. A mesh that can have none is a LoadError at the place that asked for it first; what was changed
  // about a mesh is a warning.
  void build(const LoadOptions& options, WarningList& warnings);

  // The mesh for which a stand-in stands, with its hull. A mesh that is no stand-in is given its exact hull.
  ConvexMesh finished(const ConvexMesh& mesh, const std::string& name) const;

  // What became of each job, in the order in which they were asked for.
  std::vector<LoadedHull> report() const;

 private:
  // A mirror image of a job, by the signs of its scale. `mesh` is what its stand-in stands for.
  struct Variant {
    Vec3 signs;
    std::shared_ptr<const Hull> stand_in;
    ConvexMesh mesh;
  };
  // One mesh in one frame, with as many mirror images as were asked for.
  struct Job {
    std::string file;
    SourcePlace place;
    std::vector<Vec3> points;  // with positive scales
    std::vector<Variant> variants;
    LoadedHull report;
    std::vector<std::string> warnings;
    std::string error;  // why it has no hull
  };
  static void run(Job& job, const LoadOptions& options, const class HullCache* cache);

  std::vector<Job> jobs_;
  std::unordered_map<std::string, std::size_t> by_key_;                               // file and frame
  std::unordered_map<const Hull*, std::pair<std::size_t, std::size_t>> by_stand_in_;  // job and variant
};

}  // namespace lithe::internal
