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

// Declarations that the readers of all formats share.

// The longest chain of joints that follow one another. Settling the chain takes a pass per joint.
inline constexpr int kLongestMimicChain = 100;

// The rotation by roll, pitch and yaw in rad, as URDF and SDF have it: about the fixed axes x, then y, then z. The
// inverse gives a pitch within ±π/2.
Mat3 rotation_from_rpy(const Vec3& rpy);
Vec3 rpy_from_rotation(const Mat3& R);

// The rotation by a quaternion in the order w, x, y, z, which is normalised. A quaternion that is (nearly) zero is an
// error at `place`; one whose length is not 1 within 1e-3 is a warning.
Mat3 rotation_from_wxyz(const VecX& wxyz, const SourcePlace& place, WarningList& warnings);

// Gives the body a mass and an inertia about the centre of mass, which is written in the axes of the inertial frame C.
// X_BC is that frame in the body. A negative mass is an error. An inertia that no real body has (not positive, or
// against the triangle inequality) sets allow_unphysical_inertia; it is a warning "inertia.unphysical", unless it is
// the rounding of a point mass.
void set_inertia(Body& body, double mass, const Mat3& about_centre, const Pose& X_BC, const SourcePlace& place,
                 WarningList& warnings);

// The convex meshes that a collision mesh becomes: its hull, or those of the pieces that the options name for it. What
// is returned stands in for them until load() has built all hulls (hull_jobs.h); it has four points, or fewer if the
// mesh has fewer. A scale may mirror.
std::vector<ConvexMesh> convex_meshes(Resources& resources, std::string_view uri, const MeshFrame& frame,
                                      const SourcePlace& place);

// The same, but a file that is not there is only a warning "mesh.missing", and nothing collides in its place: robots
// are often passed on without some of their meshes.
std::vector<ConvexMesh> convex_meshes(Resources& resources, std::string_view uri, const Vec3& scale,
                                      const SourcePlace& place, WarningList& warnings);

// An ellipsoid with these half axes, m, as the convex hull of points on its surface.
ConvexMesh ellipsoid_points(const Vec3& half_axes);

// Warns about each child element and each attribute of `element` that is not listed. The warnings are of the kind
// "<kind>.unknown.…", where `kind` is the format.
void warn_of_unknown(const XmlElement& element, std::string_view kind, std::initializer_list<std::string_view> children,
                     std::initializer_list<std::string_view> attributes, WarningList& warnings);

// Makes names that are not taken yet: `wanted` itself, else wanted_2, wanted_3 …
class NameSet {
 public:
  // The first of these names that is free; it is taken then. Where all names together have more than 16 MB there is an
  // Error: a file has named very many things after one with a long name.
  std::string unique(std::string wanted);
  bool contains(const std::string& name) const { return names_.contains(name); }

 private:
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> next_;  // the number to try next, by the name wanted
  std::size_t bytes_ = 0;
};

// Does something with the builder. What the builder refuses becomes a LoadError at the line of the element.
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
