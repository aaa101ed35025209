#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/write_urdf.h"

namespace lithe::internal {

// The elements of a URDF as text, for write_urdf(). Elements of links and joints come as whole lines, indented.

// The text as the value of an attribute: & < > " and control characters become entities.
std::string escaped(std::string_view text);

// <origin …/>, or nothing for the identity. Numbers have 17 significant digits, which give back the same double.
std::string origin_text(const Pose& pose);
std::string vector_text(const Vec3& x);
std::string number_text(double x);

// <inertial>…</inertial>, or nothing for a body without mass and inertia.
std::string inertial_text(const SpatialInertia& inertia);

// <limit …/> and <dynamics …/>, or nothing where the joint has nothing of the kind.
std::string limit_text(const Joint& joint);
std::string dynamics_text(const Joint& joint);
// The number that stands for no limit, since URDF wants a number everywhere. The reader takes it for none.
inline constexpr double kNoUrdfLimit = 1e12;

// Writes shapes and visuals, and collects the mesh files that they need.
class UrdfSurfaces {
 public:
  UrdfSurfaces(std::string mesh_folder, UrdfFile& file, WarningList& lost)
      : mesh_folder_(std::move(mesh_folder)), file_(file), lost_(lost) {}

  std::string collision_text(const Shape& shape);  // "" for a plane
  std::string visual_text(const Visual& visual);

 private:
  // <geometry>…</geometry>, or "" for a plane, which URDF does not have.
  template <class Geometry>
  std::string geometry_text(const Geometry& geometry, const std::string& name);
  std::string mesh_file(const std::string& name, std::string obj);

  std::string mesh_folder_;
  UrdfFile& file_;
  WarningList& lost_;
  NameSet file_names_;
  std::unordered_map<const TriangleMesh*, std::string> written_;  // the files of visual meshes
};

}  // namespace lithe::internal
