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

// A URDF as it stands in the file, link by link and joint by joint, before it becomes a tree of bodies. The files of
// the URDF reader share this header:
//
//   reader.cpp     the order of things, and xacro files
//   geometry.cpp   numbers, origins, shapes, materials
//   links.cpp      <link>
//   joints.cpp     <joint>
//   gazebo.cpp     <gazebo> and <transmission>
//   locks.cpp      joints that cannot move, and what they follow
//   tree.cpp       who hangs on whom, what is wrong with that, and the way into the ModelBuilder

// A <link> with everything that hangs on it but other links.
struct UrdfLink {
  XmlElement element;
  std::string name = {};
  Body body = {};  // its frame is the link's
  std::vector<Shape> shapes = {};
  std::vector<Visual> visuals = {};
  std::vector<int> unpainted = {};  // the indices of visuals that name no colour

  // What <gazebo> says about the link. It is applied once, at the end.
  std::optional<double> friction = {};
  std::optional<Vec4> paint = {};         // for the unpainted
  std::optional<bool> self_collide = {};  // with other links

  // Filled in by connect().
  int parent_joint = -1;
  std::vector<int> child_joints = {};  // in the order of the file
};

// A <joint>, with the joints of a Model of which it consists.
struct UrdfJoint {
  XmlElement element;
  std::string name = {};
  std::string type = {};
  Pose origin = {};      // the child's frame in the parent's when the joint is at 0
  JointList parts = {};  // empty: fixed

  // Filled in by connect().
  int parent = -1, child = -1;  // links

  // A joint whose type can move, but which was locked: it has no parts, and its origin includes the position at which
  // it stands.
  bool locked = false;
  double locked_at = 0;

  // What messages call the joint.
  std::string_view kind() const { return locked ? std::string_view("locked") : std::string_view(type); }
  bool has_one_dof() const { return parts.size() == 1 && parts.front().nv() == 1; }
};

// All links and joints, in the order of the file, and their places by name.
struct UrdfRobot {
  std::vector<UrdfLink> links = {};
  std::vector<UrdfJoint> joints = {};
  std::unordered_map<std::string, int> link_index = {}, joint_index = {};
};

// What the reading of every part needs, and what the parts tell one another.
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

// Attributes that are numbers or vectors. All numbers must be below kLargestUrdfNumber in size: what is beyond is no
// robot's, and its powers overflow.
inline constexpr double kLargestUrdfNumber = 1e12;
double urdf_number(const XmlElement& element, const char* name);  // an error if absent
double urdf_number(const XmlElement& element, const char* name, double otherwise);
double urdf_number_not_negative(const XmlElement& element, const char* name, double otherwise);
Vec3 urdf_vector(const XmlElement& element, const char* name, const Vec3& otherwise);
// The number in an element: its text, or its attribute "value". Gazebo has both ways.
double urdf_value(const XmlElement& element);
// The same for a coefficient of friction. Files say 1e14 for what never slips; more than kMostUrdfFriction is cut to
// that, with a warning.
inline constexpr double kMostUrdfFriction = 1e4;
double urdf_friction(const XmlElement& element, UrdfReading& reading);

// The first child of that name, or none. A second one is a warning and not read, as the format means each to stand
// once.
XmlElement only_child(const XmlElement& parent, const char* name, UrdfReading& reading);

// The pose that the <origin> in `parent` says, m and rad; the identity without one.
Pose read_urdf_origin(const XmlElement& parent, UrdfReading& reading);

// Notes all materials of the file that have a name and a colour.
void read_urdf_colors(const XmlElement& robot, UrdfReading& reading);
// Reads a <collision> or <visual> into the link. One <collision> may become several convex pieces; a <visual> whose
// mesh is not there is left out.
void read_urdf_collision(const XmlElement& collision, const Material& material, UrdfLink& link, UrdfReading& reading);
void read_urdf_visual(const XmlElement& visual, UrdfLink& link, UrdfReading& reading);

// Reads one <link> or one <joint>, without regard to the others.
UrdfLink read_urdf_link(const XmlElement& element, UrdfReading& reading);
UrdfJoint read_urdf_joint(const XmlElement& element, UrdfReading& reading);

// Reads <gazebo reference="…">: friction, springs and the like. Other <gazebo> elements are warned about.
void read_urdf_gazebo(const XmlElement& robot, UrdfRobot& parts, UrdfReading& reading);
// Reads all <transmission> elements: an actuator for each joint that they drive.
std::vector<Actuator> read_urdf_transmissions(const XmlElement& robot, const UrdfRobot& parts, UrdfReading& reading);

// Finds the two links of each joint, and the root, whose index is returned. Refuses unknown links, links with two
// parents, cycles and several roots.
int connect(const XmlElement& robot, UrdfRobot& parts);
// The links from the root outwards: each branch in one piece, and children in the order of the file.
std::vector<int> depth_first(const UrdfRobot& parts, int root);
bool has_inertia(const UrdfLink& link);

// Locks joints that move no mass, which would make every acceleration infinite: at 0, or at the nearest position within
// their limits. Joints that follow one that does not move are locked as well. The parts must be connected.
void lock_joints(UrdfRobot& parts, int root, UrdfReading& reading);
// The joint that this one follows by its <mimic>. Null where there is none, or where it does not have one degree of
// freedom. An error where the joint would follow itself, also through others.
const UrdfJoint* mimic_source(const UrdfJoint& joint, const UrdfRobot& parts);

// Adds the connected parts to the builder: bodies, shapes, mimics and visuals.
void assemble(const UrdfRobot& parts, int root, LoadedModel& loaded, UrdfReading& reading);

// The end of a message about an unknown name: " (did you mean …?)". It is empty where names are so long or so many that
// looking would take long.
std::string urdf_suggestion(const std::string& wanted, const std::unordered_map<std::string, int>& known);

}  // namespace lithe::internal
