#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "lithe/io/internal/reader_parts.h"

namespace lithe::internal {

// A URDF as it stands in the file, link by link and joint by joint, before it becomes a tree of bodies. Private to the URDF reader:
//
//   reader.cpp          the order of things, and xacro files
//   urdf_geometry.cpp   numbers, origins, shapes, materials
//   urdf_links.cpp      <link>
//   urdf_joints.cpp     <joint>
//   urdf_gazebo.cpp     <gazebo> and <transmission>
//   urdf_locks.cpp      joints that cannot move, and what they follow
//   urdf_tree.cpp       who hangs on whom, what is wrong with that, and the way into the ModelBuilder

struct UrdfLink {
  XmlElement element;
  std::string name = {};
  Body body = {};  // its frame is the link's
  std::vector<Shape> shapes = {};
  std::vector<Visual> visuals = {};
  std::vector<int> unpainted = {};  // those of the visuals that name no colour

  // What <gazebo> says about it. Applied once, at the end.
  std::optional<double> friction = {};
  std::optional<Vec4> paint = {};         // for the unpainted
  std::optional<bool> self_collide = {};  // with other links

  // Filled in by connect().
  int parent_joint = -1;
  std::vector<int> child_joints = {};  // in the order of the file
};

struct UrdfJoint {
  XmlElement element;
  std::string name = {};
  std::string type = {};
  Pose origin = {};      // of the child's frame at zero, in the parent's
  JointList parts = {};  // empty: fixed

  // Filled in by connect().
  int parent = -1, child = -1;  // links

  // A joint of a type that moves, but not here; its parts are empty, and its origin is where it stands.
  bool locked = false;
  double locked_at = 0;

  std::string_view kind() const { return locked ? std::string_view("locked") : std::string_view(type); }
  bool has_one_dof() const { return parts.size() == 1 && parts.front().nv() == 1; }
};

struct UrdfRobot {
  std::vector<UrdfLink> links = {};
  std::vector<UrdfJoint> joints = {};
  std::unordered_map<std::string, int> link_index = {}, joint_index = {};
};

// What reading any part needs, and what the parts share.
struct UrdfReading {
  Resources& resources;
  WarningList& warnings;
  std::unordered_map<std::string, Vec4> colors = {};  // of the materials
  NameSet shape_names = {}, visual_names = {};
  std::unordered_set<std::string> missing_visuals = {};  // meshes that could not be read
  bool suggested_mimic = false;                          // names are compared once: there may be many

  void warn(const XmlElement& element, std::string_view kind, std::string_view text) {
    warnings.add(element.place(), fmt::format("urdf.{}", kind), text);
  }
};

// Numbers, all of them below kLargestUrdfNumber in size: what is beyond is no robot's, and its powers overflow.
inline constexpr double kLargestUrdfNumber = 1e12;
double urdf_number(const XmlElement& element, const char* name);  // an error if absent
double urdf_number(const XmlElement& element, const char* name, double otherwise);
double urdf_number_not_negative(const XmlElement& element, const char* name, double otherwise);
Vec3 urdf_vector(const XmlElement& element, const char* name, const Vec3& otherwise);
// The element's text, or its attribute "value", as Gazebo has both.
double urdf_value(const XmlElement& element);
// The same for a coefficient of friction. Files say 1e14 for what never slips; more than kMostUrdfFriction is cut to it, with a warning.
inline constexpr double kMostUrdfFriction = 1e4;
double urdf_friction(const XmlElement& element, UrdfReading& reading);

// The child of that name, or none. A second one is a warning and not read.
XmlElement only_child(const XmlElement& parent, const char* name, UrdfReading& reading);

// What the <origin> in `parent` says; the identity without one.
Pose read_urdf_origin(const XmlElement& parent, UrdfReading& reading);

// All materials of the file that have a name and a colour.
void read_urdf_colors(const XmlElement& robot, UrdfReading& reading);
// One <collision> may be several convex pieces; one <visual> may be a mesh that is not there, and then is left out.
void read_urdf_collision(const XmlElement& collision, const Material& material, UrdfLink& link, UrdfReading& reading);
void read_urdf_visual(const XmlElement& visual, UrdfLink& link, UrdfReading& reading);

UrdfLink read_urdf_link(const XmlElement& element, UrdfReading& reading);
UrdfJoint read_urdf_joint(const XmlElement& element, UrdfReading& reading);

// Friction, springs and the like from <gazebo reference="…">; the other <gazebo> elements are warned about.
void read_urdf_gazebo(const XmlElement& robot, UrdfRobot& parts, UrdfReading& reading);
std::vector<Actuator> read_urdf_transmissions(const XmlElement& robot, const UrdfRobot& parts, UrdfReading& reading);

// Finds each joint's links and the root, which it returns. Refuses unknown links, two parents, cycles and several roots.
int connect(const XmlElement& robot, UrdfRobot& parts);
// Links from the root outwards, each branch in one piece, children in the order of the file.
std::vector<int> depth_first(const UrdfRobot& parts, int root);
bool has_inertia(const UrdfLink& link);

// Joints of the connected parts that move no mass, which would make every acceleration infinite, are locked at 0, or at the nearest position
// within their limits; and so are those that follow a joint that does not move.
void lock_joints(UrdfRobot& parts, int root, UrdfReading& reading);
// The joint that this one's <mimic> follows; null where there is none, or none with one degree of freedom. An error where it follows itself,
// also through others.
const UrdfJoint* mimic_source(const UrdfJoint& joint, const UrdfRobot& parts);

// The connected parts as bodies, shapes, mimics and visuals.
void assemble(const UrdfRobot& parts, int root, LoadedModel& loaded, UrdfReading& reading);

// " (did you mean …?)"; nothing where names are so long or so many that looking would take long.
std::string urdf_suggestion(const std::string& wanted, const std::unordered_map<std::string, int>& known);

}  // namespace lithe::internal
