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

// How the vertices of a mesh file become points of a shape: scale·Rᵀ (x − origin).
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
  // `file` names the mesh; equal names mean equal vertices. Mirror images are simplified in the same way: a frame's signs
  // come after.
  ConvexMesh add(const std::string& file, const std::vector<Vec3>& vertices, const MeshFrame& frame,
                 const SourcePlace& place);

  // Throws LoadError, at the place that asked first, for a mesh without a hull; warns of what was changed.
  void build(const LoadOptions& options, WarningList& warnings);

  // What this one stands for; an other mesh as it is, with its exact hull.
  ConvexMesh finished(const ConvexMesh& mesh, const std::string& name) const;

  std::vector<LoadedHull> report() const;

 private:
  struct Variant {
    Vec3 signs;
    std::shared_ptr<const Hull> stand_in;
    ConvexMesh mesh;
  };
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
