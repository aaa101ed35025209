#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lithe/io/internal/resources.h"
#include "lithe/io/loaded_model.h"

namespace lithe::internal {

// What the readers of all formats share.

// Joints that follow one another, at most.
inline constexpr int kLongestMimicChain = 100;

// Roll, pitch, yaw: turns about the fixed axes x, then y, then z (URDF and SDF).
Mat3 rotation_from_rpy(const Vec3& rpy);
Vec3 rpy_from_rotation(const Mat3& R);  // pitch within ±π/2

// From a quaternion in the file's order w, x, y, z; normalised. An error at `place` if it is (nearly) zero; a warning if its length is
// not 1 within 1e-3.
Mat3 rotation_from_wxyz(const VecX& wxyz, const SourcePlace& place, WarningList& warnings);

// The inertia about the centre of mass, in the axes of the inertial frame (X_BC: that frame in the body), with its checks: a mass that is
// negative is an error; an inertia that no real body has (not positive, or against the triangle inequality) sets allow_unphysical_inertia, and is a
// warning "inertia.unphysical" unless it is rounding of a point mass.
void set_inertia(Body& body, double mass, const Mat3& about_centre, const Pose& X_BC, const SourcePlace& place,
                 WarningList& warnings);

// What a collision mesh becomes: its convex hull, or those of the pieces that the options name for it. What is returned stands in for
// them until load() has built all hulls (hull_jobs.h); it has four points or, where the mesh has fewer, those. A scale may mirror.
std::vector<ConvexMesh> convex_meshes(Resources& resources, std::string_view uri, const MeshFrame& frame,
                                      const SourcePlace& place);

// The same, but a file that is not there is a warning "mesh.missing", and nothing collides in its place: robots travel without some
// of their meshes.
std::vector<ConvexMesh> convex_meshes(Resources& resources, std::string_view uri, const Vec3& scale,
                                      const SourcePlace& place, WarningList& warnings);

// The surface of an ellipsoid with these half axes, by points on it.
ConvexMesh ellipsoid_points(const Vec3& half_axes);

// Warns about each child element and each attribute of `element` that is not listed, as "<kind>.unknown": "<kind>" is the format.
void warn_of_unknown(const XmlElement& element, std::string_view kind, std::initializer_list<std::string_view> children,
                     std::initializer_list<std::string_view> attributes, WarningList& warnings);

// Names that are not taken yet: `wanted`, or wanted_2, wanted_3 …
class NameSet {
 public:
  // An Error where all names together are larger than any that people give: many things named after one with a long name.
  std::string unique(std::string wanted);
  bool contains(const std::string& name) const { return names_.contains(name); }

 private:
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> next_;  // number to try
  std::size_t bytes_ = 0;
};

// Does something, and gives what the builder refuses the element's line.
template <class Action>
void at_line(const XmlElement& element, Action action) {
  try {
    action();
  } catch (const LoadError&) {
    throw;
  } catch (const Error& error) {
    element.fail(error.what());
  }
}

// Builds the model; what the builder refuses becomes a LoadError at `place`. The state is the neutral one, motor targets are 0.
void finish(LoadedModel& loaded, const SourcePlace& place);

}  // namespace lithe::internal
