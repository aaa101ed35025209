#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/write_urdf.h"

namespace lithe::internal {

// The elements of a URDF as text, for write_urdf(). Each adds to `xml`, indented.

// For attributes: & < > " and control characters become entities.
std::string escaped(std::string_view text);

// <origin …/>; nothing for the identity.
std::string origin_text(const Pose& pose);
std::string vector_text(const Vec3& x);
std::string number_text(double x);

// <inertial>…</inertial>; nothing for a body without mass and inertia.
std::string inertial_text(const SpatialInertia& inertia);

// <limit …/>, <dynamics …/>, whatever the joint needs of them.
std::string limit_text(const Joint& joint);
std::string dynamics_text(const Joint& joint);
// What stands for no limit. URDF wants a number everywhere.
inline constexpr double kNoUrdfLimit = 1e12;

// Shapes and visuals, with the mesh files they need.
class UrdfSurfaces {
 public:
  UrdfSurfaces(std::string mesh_folder, UrdfFile& file, WarningList& lost)
      : mesh_folder_(std::move(mesh_folder)), file_(file), lost_(lost) {}

  std::string collision_text(const Shape& shape);  // "" for a plane
  std::string visual_text(const Visual& visual);

 private:
  // <geometry>…</geometry>; "" for a plane.
  template <class Geometry>
  std::string geometry_text(const Geometry& geometry, const std::string& name);
  std::string mesh_file(const std::string& name, std::string obj);

  std::string mesh_folder_;
  UrdfFile& file_;
  WarningList& lost_;
  NameSet file_names_;
  std::unordered_map<const TriangleMesh*, std::string> written_;
};

}  // namespace lithe::internal
