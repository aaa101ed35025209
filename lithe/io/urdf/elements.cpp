#include "lithe/io/urdf/elements.h"

#include <algorithm>
#include <cmath>

#include "lithe/core/internal/overloaded.h"

namespace lithe::internal {

namespace {

// The stem of a mesh's file, from the name of its shape. It has only characters that every file system takes.
std::string file_stem(std::string_view name) {
  std::string stem(name.substr(0, 100));
  for (char& c : stem) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return stem;
}

// The lines of vertices of an OBJ file.
std::string vertices_text(const std::vector<Vec3>& points) {
  std::string text;
  for (const Vec3& p : points) text += fmt::format("v {}\n", vector_text(p));
  return text;
}

// An OBJ file for a shape that collides as its convex hull. Readers drop vertices that no face uses, so a fan of
// triangles names each of them; as a surface it means nothing.
std::string hull_obj(const ConvexMesh& mesh) {
  std::string text = "# points whose convex hull is meant; the faces only name them all\n" + vertices_text(mesh.points);
  for (std::size_t i = 2; i < mesh.points.size(); ++i) text += fmt::format("f 1 {} {}\n", i, i + 1);
  return text;
}

// An OBJ file for a surface that is to be seen. OBJ counts vertices from 1.
std::string surface_obj(const TriangleMesh& mesh) {
  std::string text = vertices_text(mesh.vertices);
  for (const auto& [a, b, c] : mesh.triangles) text += fmt::format("f {} {} {}\n", a + 1, b + 1, c + 1);
  return text;
}

}  // namespace

std::string escaped(std::string_view text) {
  // Control characters are written by their numbers: an XML parser makes blanks of line ends and tabs in attributes.
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("&#{};", static_cast<int>(c));
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string number_text(double x) { return fmt::format("{:.17g}", x); }

std::string vector_text(const Vec3& x) { return fmt::format("{:.17g} {:.17g} {:.17g}", x.x(), x.y(), x.z()); }

std::string origin_text(const Pose& pose) {
  // Only an exact identity is left out, so that what is read back is the same to the last bit.
  const bool turned = !(pose.R.array() == Mat3::Identity().array()).all();
  if (!turned && pose.p.isZero(0)) return "";
  std::string text = fmt::format("<origin xyz=\"{}\"", vector_text(pose.p));
  if (turned) text += fmt::format(" rpy=\"{}\"", vector_text(rpy_from_rotation(pose.R)));
  return text + "/>";
}

std::string inertial_text(const SpatialInertia& inertia) {
  if (inertia.mass == 0 && inertia.rotational.isZero(0)) return "";
  // A URDF has the inertia about the centre of mass, in the axes of <origin>, which here are those of the link.
  const Mat3 I = inertia.about_centre();
  return fmt::format(
      "    <inertial>{}<mass value=\"{}\"/>"
      "<inertia ixx=\"{}\" ixy=\"{}\" ixz=\"{}\" iyy=\"{}\" iyz=\"{}\" izz=\"{}\"/></inertial>\n",
      origin_text(Pose::translation(inertia.centre())), number_text(inertia.mass), number_text(I(0, 0)),
      number_text(I(0, 1)), number_text(I(0, 2)), number_text(I(1, 1)), number_text(I(1, 2)), number_text(I(2, 2)));
}

std::string limit_text(const Joint& joint) {
  const auto bounded = [](double x) { return number_text(std::clamp(x, -kNoUrdfLimit, kNoUrdfLimit)); };
  // A revolute joint without limits is written as a continuous one, which has no range. A prismatic joint always has
  // one.
  const bool limited = std::isfinite(joint.lower) || std::isfinite(joint.upper);
  const bool ranged = joint.type == JointType::prismatic || (joint.type == JointType::revolute && limited);
  if (!ranged && std::isinf(joint.effort_limit) && std::isinf(joint.velocity_limit)) return "";
  std::string text = "    <limit";
  if (ranged) text += fmt::format(" lower=\"{}\" upper=\"{}\"", bounded(joint.lower), bounded(joint.upper));
  text += fmt::format(" effort=\"{}\" velocity=\"{}\"/>\n", bounded(joint.effort_limit), bounded(joint.velocity_limit));
  return text;
}

std::string dynamics_text(const Joint& joint) {
  if (joint.damping == 0 && joint.dry_friction == 0) return "";
  return fmt::format("    <dynamics damping=\"{}\" friction=\"{}\"/>\n", number_text(joint.damping),
                     number_text(joint.dry_friction));
}

// Keeps a mesh for saving and returns its name as the URDF writes it.
std::string UrdfSurfaces::mesh_file(const std::string& name, std::string obj) {
  const std::string stem = file_names_.unique(file_stem(name));
  std::string file = mesh_folder_.empty() ? stem + ".obj" : fmt::format("{}/{}.obj", mesh_folder_, stem);
  file_.meshes.push_back({file, std::move(obj)});
  return file;
}

// One function is for shapes and visuals, whose variants of geometry differ in their last alternative only.
template <class AnyGeometry>
std::string UrdfSurfaces::geometry_text(const AnyGeometry& geometry, const std::string& name) {
  const auto round = [](const char* element, double radius, double half_length) {
    return fmt::format("<{} radius=\"{}\" length=\"{}\"/>", element, number_text(radius), number_text(2 * half_length));
  };
  const std::string shape = std::visit(
      Overloaded{[&](const Sphere& g) { return fmt::format("<sphere radius=\"{}\"/>", number_text(g.radius)); },
                 [&](const Box& g) { return fmt::format("<box size=\"{}\"/>", vector_text(2 * g.half_size)); },
                 [&](const Cylinder& g) { return round("cylinder", g.radius, g.half_length); },
                 [&](const Capsule& g) {
                   lost_.add({}, "capsule",
                             fmt::format("'{}' is a <capsule>, which not every reader of URDF knows", name));
                   return round("capsule", g.radius, g.half_length);
                 },
                 [&](const Plane&) {
                   lost_.add({}, "plane", fmt::format("'{}' is a plane and left out: URDF has none", name));
                   return std::string();
                 },
                 [&](const ConvexMesh& g) {
                   return fmt::format("<mesh filename=\"{}\"/>", escaped(mesh_file(name, hull_obj(g))));
                 },
                 [&](const Visual::Mesh& g) {
                   // Visuals that share a mesh share its file.
                   std::string& file = written_[g.triangles.get()];
                   if (file.empty()) file = mesh_file(name + "_visual", surface_obj(*g.triangles));
                   return fmt::format("<mesh filename=\"{}\" scale=\"{}\"/>", escaped(file), vector_text(g.scale));
                 }},
      geometry);
  return shape.empty() ? "" : fmt::format("<geometry>{}</geometry>", shape);
}

std::string UrdfSurfaces::collision_text(const Shape& shape) {
  const std::string geometry = geometry_text(shape.geometry, shape.name);
  if (geometry.empty()) return "";
  return fmt::format("    <collision name=\"{}\">{}{}</collision>\n", escaped(shape.name), origin_text(shape.placement),
                     geometry);
}

std::string UrdfSurfaces::visual_text(const Visual& visual) {
  const std::string geometry = geometry_text(visual.geometry, visual.name);
  if (geometry.empty()) return "";
  return fmt::format("    <visual name=\"{}\">{}{}<material name=\"\"><color rgba=\"{} {}\"/></material></visual>\n",
                     escaped(visual.name), origin_text(visual.placement), geometry, vector_text(visual.color.head<3>()),
                     number_text(visual.color.w()));
}

}  // namespace lithe::internal
