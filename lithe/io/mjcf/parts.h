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

// What the sections of a file say, before it becomes a model. The parts are kept until then, because later sections
// refer to earlier parts by name and change them.

// A <joint> or <freejoint>.
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

// A <geom>. Its size is as MuJoCo has it: half sizes, with the long axis along z.
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
  bool shell = false;              // its mass is that of a thin sheet
  bool paired = false;             // a <pair> names it
  std::vector<int> partners = {};  // geoms that it touches by a <pair>, whatever the contypes; ascending

  bool touches() const { return contype != 0 || conaffinity != 0 || paired; }
};

// A <site>. X_BS is its pose in the frame of its body.
struct SitePart {
  XmlElement from;
  std::string name;
  int body = 0;
  Pose X_BS = {};
};

// A <body>. X_PB is its pose in the frame of its parent.
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

// Where a joint is: the number of its body, and its number among the joints there.
struct JointPlace {
  int body = 0, joint = 0;
};

// A joint as a number, for maps. A body has six joints at most.
inline std::int64_t key(const JointPlace& place) { return std::int64_t{place.body} << 8 | place.joint; }

// How a hinge or slide follows another one (<equality>): q = multiplier·q_source + offset.
struct Following {
  JointPlace source;
  double multiplier = 1, offset = 0;
};

// A child of <tendon>. The length of a fixed one is Σ coefficient·qpos over its joints.
struct TendonPart {
  std::vector<std::pair<JointPlace, double>> joints = {};
  bool fixed = true;  // a spatial one only has a name
};

// All parts of a file, and their numbers by name.
struct Scene {
  std::vector<BodyPart> bodies;  // depth first; 0 is the world
  std::vector<GeomPart> geoms;
  std::vector<std::pair<int, int>> all_geoms;  // their bodies and numbers; −1 for one that is left out
  std::vector<SitePart> sites;
  bool incomplete = false;  // something was left out that MuJoCo numbers
  std::unordered_map<std::string, int> body_index, geom_index, site_index;
  std::unordered_map<std::string, JointPlace> joint_index;
  std::unordered_map<std::string, TendonPart> tendons;
  std::unordered_map<std::int64_t, Following> follows;  // by key(joint)

  JointPart& joint(const JointPlace& place) { return bodies[place.body].joints[place.joint]; }
  const JointPart& joint(const JointPlace& place) const { return bodies[place.body].joints[place.joint]; }

  // The part that an attribute of the element names; an unknown name is an error at the element.
  int find_body(const XmlElement& element, const char* attribute) const;
  int find_geom(const XmlElement& element, const char* attribute) const;
  int find_site(const XmlElement& element, const char* attribute) const;
  JointPlace find_joint(const XmlElement& element, const char* attribute) const;
};

// Everything that is needed while one file is read.
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

  // Warns that an element is not known and was ignored.
  void warn_of_unknown(const XmlElement& element, const XmlElement& inside);
};

// Readers of the sections. read_bodies() comes first, since the others refer to its parts by their names.
void read_bodies(Context& context, const XmlElement& worldbody);
JointPart read_joint(Context& context, const XmlElement& element, int inherited_class, const Pose& frame);
JointPart read_free_joint(Context& context, const XmlElement& element);
void read_geom(Context& context, const XmlElement& element, int body, int inherited_class, const Pose& frame);
void read_contacts(Context& context, const std::vector<XmlElement>& sections);
void read_equality(Context& context, const std::vector<XmlElement>& sections);
void read_tendons(Context& context, const std::vector<XmlElement>& sections);
void read_actuators(Context& context, const std::vector<XmlElement>& sections);

// Reads a range of two numbers, such as `range`. It counts where `limited` says so, or by the compiler's autolimits
// where it is there; otherwise the result is empty.
std::optional<VecX> read_limited_range(const Attributes& attributes, const char* range_name, const char* limited_name,
                                       Context& context);

// Finds out, once all bodies are read, what moves what, and refuses trees that are too large.
void measure_tree(Scene& scene, int most_joints);

// Computes the inertias of all bodies, from <inertial> or from geoms, within the compiler's bounds.
void compute_inertias(Context& context);

// Gives a name to what has none in the file. It says where the part is: "torso_joint", "torso_capsule_2".
void name_parts(Scene& scene);

// Counts where the joints' numbers are in q and v, and lists the joints in the layout.
void number_joints(Context& context);

// Locks joints that would move no mass, with a warning. The inertias must be known by then.
void lock_massless_joints(Context& context);

// Add the parts to a builder or to the model, once everything is named.
void add_bodies(const Context& context, ModelBuilder& builder);
void add_geoms(Context& context);
void add_sites(Context& context);

// Set the state in which the model starts, and read the states that the file names; the model must have been built.
// There are at least `count` keyframes (<size nkey="…">).
void set_initial_state(Context& context);
void read_keyframes(Context& context, const std::vector<XmlElement>& sections, int count);

// The configuration in which bodies are where the file puts them; `model` must have been built by add_bodies().
VecX pose_of_the_file(const Scene& scene, const Model& model);

}  // namespace lithe::internal::mjcf
