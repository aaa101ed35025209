#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/loaded_model.h"
#include "lithe/io/mjcf/assets.h"

namespace lithe::internal::mjcf {

// What the sections of a file say, before it becomes a model: later sections speak of earlier parts, by name, and change them.

struct JointPart {
  enum class Type { hinge, slide, ball, free };
  XmlElement from;
  std::string name;
  Type type = Type::hinge;
  Vec3 anchor = Vec3::Zero();  // in the body frame
  double ref = 0;              // MuJoCo's position in the pose of the file, where q is 0 here: q = qpos − ref
  double lower_effort = -Joint::kInfinity, upper_effort = Joint::kInfinity;  // actuatorfrcrange
  Joint properties = {};  // axis (in the body frame), limits, spring, damping …; its type and placement come later

  bool locked = false;             // it would move no mass
  int q_index = -1, v_index = -1;  // where its numbers begin, here and in MuJoCo (number_joints)

  bool has_one_dof() const { return type == Type::hinge || type == Type::slide; }
  int dofs() const { return has_one_dof() ? 1 : type == Type::ball ? 3 : 6; }
  int coordinates() const { return has_one_dof() ? 1 : type == Type::ball ? 4 : 7; }
};

struct GeomPart {
  enum class Type { plane, sphere, capsule, ellipsoid, cylinder, box, mesh };
  XmlElement from;
  std::string name;
  int body = 0;
  Type type = Type::sphere;
  Vec3 size = Vec3::Zero();
  int mesh = -1;
  Pose X_BG = {};
  std::uint32_t contype = 1, conaffinity = 1;
  double friction = 1;
  double margin = 0;
  int group = 0;
  Vec4 color = Vec4(0.5, 0.5, 0.5, 1);
  std::optional<double> mass = std::nullopt;
  double density = 1000;
  bool shell = false;
  bool paired = false;             // a <pair> names it
  std::vector<int> partners = {};  // geoms that it touches by a <pair>, whatever the contypes; ascending

  bool touches() const { return contype != 0 || conaffinity != 0 || paired; }
};

struct SitePart {
  XmlElement from;
  std::string name;
  int body = 0;
  Pose X_BS = {};
};

struct BodyPart {
  XmlElement from;
  std::string name;
  int parent = -1;
  Pose X_PB = {};
  Pose X_WB = {};  // in the pose of the file
  int mover = 0;   // the nearest body at or above this one that has joints; 0 for what never moves (measure_tree)
  std::vector<JointPart> joints = {};
  XmlElement inertial = {};
  std::vector<int> geoms = {};
  SpatialInertia inertia = {};
  bool unphysical = false;  // no real body has this inertia; there was a warning
};

struct JointPlace {
  int body = 0, joint = 0;
};

// Identifies a joint in maps.
inline std::int64_t key(const JointPlace& place) { return std::int64_t{place.body} << 8 | place.joint; }

// A hinge or slide that follows another (<equality>): q = multiplier·q_source + offset.
struct Following {
  JointPlace source;
  double multiplier = 1, offset = 0;
};

// <tendon>: a fixed one's length is Σ coefficient·qpos over joints.
struct TendonPart {
  std::vector<std::pair<JointPlace, double>> joints = {};
  bool fixed = true;  // a spatial one only has a name
};

struct Scene {
  std::vector<BodyPart> bodies;  // depth first; 0 is the world
  std::vector<GeomPart> geoms;
  std::vector<std::pair<int, int>> all_geoms;  // body and geom, which is −1 for one that is left out
  std::vector<SitePart> sites;
  bool incomplete = false;  // something was left out that would have had joints
  std::unordered_map<std::string, int> body_index, geom_index, site_index;
  std::unordered_map<std::string, JointPlace> joint_index;
  std::unordered_map<std::string, TendonPart> tendons;
  std::unordered_map<std::int64_t, Following> follows;  // by key(joint)

  JointPart& joint(const JointPlace& place) { return bodies[place.body].joints[place.joint]; }
  const JointPart& joint(const JointPlace& place) const { return bodies[place.body].joints[place.joint]; }

  // By name; an unknown one is an error at the element, with the attribute that has it.
  int find_body(const XmlElement& element, const char* attribute) const;
  int find_geom(const XmlElement& element, const char* attribute) const;
  int find_site(const XmlElement& element, const char* attribute) const;
  JointPlace find_joint(const XmlElement& element, const char* attribute) const;
};

// Everything that one file needs while it is read.
struct Context {
  Context(const XmlElement& mujoco, Resources& files, WarningList& list)
      : root(mujoco), resources(files), warnings(list), includes(mujoco, files, list) {}

  XmlElement root;
  Resources& resources;
  WarningList& warnings;
  Includes includes;
  Compiler compiler = {};
  Physics physics = {};
  Defaults defaults = {};
  Assets assets = {compiler, includes, resources, warnings};
  Scene scene = {};
  LoadedModel loaded = {};

  // "<element> … is not known and was ignored".
  void warn_of_unknown(const XmlElement& element, const XmlElement& inside);
};

// The sections; `read_bodies` comes first, and the others need the parts' names.
void read_bodies(Context& context, const XmlElement& worldbody);
JointPart read_joint(Context& context, const XmlElement& element, int inherited_class, const Pose& frame);
JointPart read_free_joint(Context& context, const XmlElement& element);
void read_geom(Context& context, const XmlElement& element, int body, int inherited_class, const Pose& frame);
void read_contacts(Context& context, const std::vector<XmlElement>& sections);
void read_equality(Context& context, const std::vector<XmlElement>& sections);
void read_tendons(Context& context, const std::vector<XmlElement>& sections);
void read_actuators(Context& context, const std::vector<XmlElement>& sections);

// Two numbers, where `limited` (or, by the compiler's autolimits, their presence) says that they count.
std::optional<VecX> read_limited_range(const Attributes& attributes, const char* range_name, const char* limited_name,
                                       Context& context);

// Once all bodies are read: what moves what, and whether that is few enough.
void measure_tree(Scene& scene, int most_joints);

// From <inertial> or from geoms, with the compiler's bounds; for all bodies.
void compute_inertias(Context& context);

// What has no name in the file gets one that says where it is: "torso_joint", "torso_capsule_2".
void name_parts(Scene& scene);

// Where the joints' numbers are in q and v, and the layout's list of them.
void number_joints(Context& context);

// Joints that would move no mass stay as they are, with a warning; after the inertias.
void lock_massless_joints(Context& context);

// Into a builder, once everything is named.
void add_bodies(const Context& context, ModelBuilder& builder);
void add_geoms(Context& context);
void add_sites(Context& context);

// The states that the file names; after the model is built. `count`: there are at least as many (<size nkey="…">).
void set_initial_state(Context& context);
void read_keyframes(Context& context, const std::vector<XmlElement>& sections, int count);

// q where the file's pose has each joint; `model` is built of add_bodies().
VecX pose_of_the_file(const Scene& scene, const Model& model);

}  // namespace lithe::internal::mjcf
