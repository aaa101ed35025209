#include <algorithm>
#include <array>
#include <unordered_map>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/internal/readers.h"
#include "lithe/io/mjcf/parts.h"
#include "lithe/spatial/rotation.h"

namespace lithe::internal {
namespace mjcf {

namespace {

// The sections of a file by name. Each may stand several times, and all of one name together are one.
class Sections {
 public:
  explicit Sections(Context& context) {
    static constexpr std::array kRead =
        std::to_array<std::string_view>({"compiler", "option", "default", "asset", "worldbody", "contact", "equality",
                                         "tendon", "actuator", "keyframe", "size"});
    // What is only seen.
    static constexpr std::array kHarmless = std::to_array<std::string_view>({"visual", "statistic"});
    static constexpr std::array kLeftOut =
        std::to_array<std::string_view>({"sensor", "custom", "extension", "deformable"});
    const auto is_in = [](const auto& names, std::string_view name) {
      return std::ranges::find(names, name) != names.end();
    };
    for (const XmlElement& section : context.includes.children(context.root)) {
      const std::string_view name = section.name();
      if (is_in(kRead, name)) {
        sections_[std::string(name)].push_back(section);
      } else if (is_in(kLeftOut, name)) {
        context.warnings.add(section.place(), fmt::format("mjcf.{}", name),
                             fmt::format("<{}> is not read: the model has nothing like it", name));
      } else if (!is_in(kHarmless, name)) {
        context.warn_of_unknown(section, context.root);
      }
    }
  }

  const std::vector<XmlElement>& operator[](const std::string& name) { return sections_[name]; }

 private:
  std::unordered_map<std::string, std::vector<XmlElement>> sections_;
};

// The joint of a Model for a hinge, a slide or a ball.
Joint primitive(const JointPart& part, const Pose& placement) {
  Joint joint = part.properties;
  joint.name = part.name;
  joint.placement = placement;
  joint.type = part.type == JointPart::Type::hinge   ? JointType::revolute
               : part.type == JointPart::Type::slide ? JointType::prismatic
                                                     : JointType::ball;
  return joint;
}

// Takes out of a joint what <flag> switches off: the model does not have it.
void leave_out(const Physics& physics, Joint& joint) {
  if (!physics.springs) joint.stiffness = 0;
  if (!physics.damping) joint.damping = 0;
  if (!physics.dry_friction) joint.dry_friction = 0;
  if (!physics.limits) {
    joint.lower = -Joint::kInfinity;
    joint.upper = Joint::kInfinity;
  }
}

// The joints of a free joint. MuJoCo's states the pose in the world, so its frame is the world's; its spring rests in
// the pose of the file.
JointList free_joints(const BodyPart& body, const JointPart& part) {
  JointList joints = free_joint(part.name);
  for (std::size_t k = 0; k < joints.size(); ++k) {
    Joint& joint = joints[k];
    joint.stiffness = part.properties.stiffness;
    joint.damping = part.properties.damping;
    joint.armature = part.properties.armature;
    joint.dry_friction = part.properties.dry_friction;
    if (k < 3) joint.rest = body.X_PB.p[static_cast<Eigen::Index>(k)];
  }
  joints.back().rest_orientation = quaternion_from_rotation(body.X_PB.R);
  return joints;
}

// Adds a body with its joints. Joint i turns or slides the body frame about its anchor pᵢ:
// X_PB = X · ∏ T(pᵢ) Jᵢ(qᵢ) T(−pᵢ).
void add_body(const Context& context, const BodyPart& part, ModelBuilder& builder) {
  Body body{.name = part.name, .inertia = part.inertia};
  body.allow_unphysical_inertia = part.unphysical;
  JointList joints;
  body.placement = part.X_PB;
  for (const JointPart& joint : part.joints) {
    if (joint.locked) continue;
    if (joint.type == JointPart::Type::free) {
      joints = free_joints(part, joint);
      body.placement = {};
    } else {
      joints.push_back(primitive(joint, body.placement * Pose::translation(joint.anchor)));
      body.placement = Pose::translation(-joint.anchor);
    }
  }
  for (Joint& joint : joints) leave_out(context.physics, joint);
  const std::string& parent = context.scene.bodies[part.parent].name;
  at_line(part.from, [&] { builder.add_body(parent, std::move(body), std::move(joints)); });
}

}  // namespace

void lock_massless_joints(Context& context) {
  // Bodies are visited from the leaves inwards, so that what hangs on a body is known before the body. An armature
  // resists by itself, without any mass.
  Scene& scene = context.scene;
  std::vector<char> heavy(scene.bodies.size(), 0);
  for (std::size_t b = scene.bodies.size(); b-- > 1;) {
    BodyPart& body = scene.bodies[b];
    if (body.inertia.mass > 0 || !body.inertia.rotational.isZero(0)) heavy[b] = 1;
    if (heavy[b]) heavy[body.parent] = 1;
    for (JointPart& joint : body.joints) {
      if (heavy[b] || joint.properties.armature > 0) continue;
      joint.locked = true;
      scene.incomplete = true;
      context.warnings.add(
          joint.from.place(), "mjcf.joint.massless",
          fmt::format("joint {} moves no mass and is locked: give body {} a geom or an <inertial>, or the joint an "
                      "armature",
                      joint.name, body.name));
    }
  }
}

void number_joints(Context& context) {
  // MuJoCo counts in the same order, body by body. Locked joints have no numbers here.
  MujocoLayout& layout = context.loaded.mujoco;
  int q = 0, v = 0;
  for (BodyPart& body : context.scene.bodies) {
    for (JointPart& joint : body.joints) {
      if (joint.locked) continue;
      joint.q_index = q;
      joint.v_index = v;
      q += joint.coordinates();
      v += joint.dofs();
      layout.joints.push_back({.name = joint.name,
                               .type = static_cast<MujocoLayout::JointEntry::Type>(joint.type),
                               .qpos = joint.q_index,
                               .dof = joint.v_index,
                               .ref = joint.ref,
                               .lower_force = joint.lower_effort,
                               .upper_force = joint.upper_effort});
    }
  }
}

void add_bodies(const Context& context, ModelBuilder& builder) {
  for (std::size_t b = 1; b < context.scene.bodies.size(); ++b) add_body(context, context.scene.bodies[b], builder);
}

// The number of keyframes that <size nkey="…"> asks for. The rest of <size> is for MuJoCo's memory only.
static int least_keyframes(const std::vector<XmlElement>& sections) {
  int count = 0;
  for (const XmlElement& section : sections) count = std::max(count, Attributes(section).integer_or("nkey", 0));
  return count;
}

void add_sites(Context& context) {
  // MuJoCo numbers sites body by body. They can be sorted now, because nothing refers to them by number any more.
  std::ranges::stable_sort(context.scene.sites, {}, &SitePart::body);
  for (const SitePart& site : context.scene.sites) {
    at_line(site.from, [&] {
      context.loaded.builder.add_frame(context.scene.bodies[site.body].name,
                                       {.name = site.name, .placement = site.X_BS});
    });
  }
}

}  // namespace mjcf

// Sections may stand in any order in the file; they are read in the order in which they need one another.
LoadedModel read_mjcf(const XmlElement& mujoco, Resources& resources, WarningList& warnings) {
  mjcf::Context context(mujoco, resources, warnings);
  mjcf::check_attributes(mujoco, {"model"}, warnings);
  // These are MuJoCo's defaults for the name of a model and for the time step, s.
  const char* name = mujoco.attribute("model");
  context.loaded.name = name ? name : "MuJoCo Model";
  context.loaded.time_step = 0.002;

  mjcf::Sections sections(context);
  for (const XmlElement& section : sections["compiler"]) read_compiler(section, context.compiler, warnings);
  for (const XmlElement& section : sections["option"]) {
    read_option(section, context.loaded, context.physics, context.includes, warnings);
  }
  if (!context.physics.gravity) context.loaded.builder.set_gravity(Vec3::Zero());
  for (const XmlElement& section : sections["default"]) context.defaults.read(section, context.includes, warnings);
  for (const XmlElement& section : sections["asset"]) {
    context.assets.read(section, context.includes, context.defaults);
  }
  if (sections["worldbody"].empty()) mujoco.fail("there is no <worldbody>: the model has no bodies and no geoms");
  for (const XmlElement& section : sections["worldbody"]) read_bodies(context, section);
  measure_tree(context.scene, resources.options().limits.bodies);
  name_parts(context.scene);
  compute_inertias(context);
  lock_massless_joints(context);
  number_joints(context);
  read_contacts(context, sections["contact"]);
  read_equality(context, sections["equality"]);
  read_tendons(context, sections["tendon"]);
  read_actuators(context, sections["actuator"]);

  add_bodies(context, context.loaded.builder);
  add_geoms(context);
  add_sites(context);
  finish(context.loaded, mujoco.place());
  set_initial_state(context);
  read_keyframes(context, sections["keyframe"], mjcf::least_keyframes(sections["size"]));
  context.loaded.mujoco.from_mjcf = true;
  context.loaded.mujoco.complete = !context.scene.incomplete;
  return std::move(context.loaded);
}

}  // namespace lithe::internal
