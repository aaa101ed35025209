#include <algorithm>
#include <array>

#include "lithe/io/mesh/cursor.h"
#include "lithe/io/urdf/robot.h"

namespace lithe::internal {

namespace {

struct NamedColor {
  std::string_view name;
  Vec4 rgba;
};

// The colour of a material of Gazebo's ("Gazebo/Red"), if it is one of the plain ones; else null.
const NamedColor* gazebo_color(std::string_view name) {
  static const std::array<NamedColor, 12> kColors = {{{"Red", {1, 0, 0, 1}},
                                                      {"Green", {0, 1, 0, 1}},
                                                      {"Blue", {0, 0, 1, 1}},
                                                      {"Black", {0, 0, 0, 1}},
                                                      {"White", {1, 1, 1, 1}},
                                                      {"Yellow", {1, 1, 0, 1}},
                                                      {"Orange", {1, 0.5, 0, 1}},
                                                      {"Purple", {1, 0, 1, 1}},
                                                      {"Turquoise", {0, 1, 1, 1}},
                                                      {"Grey", {0.7, 0.7, 0.7, 1}},
                                                      {"Gray", {0.7, 0.7, 0.7, 1}},
                                                      {"DarkGrey", {0.2, 0.2, 0.2, 1}}}};
  constexpr std::string_view kPrefix = "Gazebo/";
  if (!name.starts_with(kPrefix)) return nullptr;
  const auto found = std::ranges::find(kColors, name.substr(kPrefix.size()), &NamedColor::name);
  return found == kColors.end() ? nullptr : &*found;
}

// Whether the name is in the list.
bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether the element is there and says something. An empty one says nothing; Gazebo takes it so, too.
bool says_something(const XmlElement& element, UrdfReading& reading) {
  if (!element || !element.text().empty() || element.attribute("value")) return static_cast<bool>(element);
  reading.warn(element, "gazebo.empty", fmt::format("<{}> in <gazebo> is empty and counts as absent", element.name()));
  return false;
}

// Reads a truth value of Gazebo's: 1, true and yes, in any case of letters, are true, and everything else is false. A
// word that is none of the usual ones is warned about.
bool gazebo_flag(const XmlElement& element, UrdfReading& reading) {
  const char* value = element.attribute("value");
  const std::string_view text = value ? value : element.text();
  const auto is = [&](std::string_view word) { return equal_in_any_case(text, word); };
  if (is("true") || is("yes") || is("1")) return true;
  if (!is("false") && !is("no") && !is("0")) {
    reading.warn(element, "gazebo.flag",
                 fmt::format("<{}> says \"{}\", which Gazebo takes for false", element.name(), shortened(text)));
  }
  return false;
}

// The number in an element, which must not be negative.
double value_not_negative(const XmlElement& element) {
  const double x = urdf_value(element);
  if (x < 0) element.fail(fmt::format("<{}> is {:g}, but must not be negative", element.name(), x));
  return x;
}

// Warns of a child of <gazebo> that has no effect here, be it about a link, a joint or the whole robot.
void warn_of_child(const XmlElement& child, UrdfReading& reading) {
  const std::string_view name = child.name();
  if (name == "plugin" || name == "sensor") {
    reading.warn(child, fmt::format("gazebo.{}", name), fmt::format("Gazebo's <{}> is not used", name));
  } else if (is_one_of(name, {"kp", "kd", "minDepth", "min_depth", "maxVel", "max_vel", "maxContacts", "max_contacts",
                              "fdir1", "dampingFactor"})) {
    reading.warn(child, "gazebo.contact", fmt::format("<{}> is not used: contacts here are rigid", name));
  } else if (is_one_of(name, {"stopCfm", "stopErp", "stopKp", "stopKd", "fudgeFactor"})) {
    reading.warn(child, "gazebo.stop", fmt::format("<{}> is not used: joint limits here are rigid", name));
  } else {
    reading.warn(child, fmt::format("unknown.gazebo.{}", name),
                 fmt::format("<{}> in <gazebo> is not known and was ignored", name));
  }
}

// Reads the friction of a link. Gazebo has one coefficient for each of two directions, mu1 and mu2, and a model one for
// all; `mu` is an older way to say both.
void read_friction(const XmlElement& gazebo, UrdfLink& link, UrdfReading& reading) {
  const auto read = [&](const char* name) -> std::optional<double> {
    const XmlElement element = only_child(gazebo, name, reading);
    if (!says_something(element, reading)) return std::nullopt;
    return urdf_friction(element, reading);
  };
  const std::optional<double> mu = read("mu"), mu1 = read("mu1"), mu2 = read("mu2");
  if (mu1 && mu2) {
    link.friction = (*mu1 + *mu2) / 2;
    if (*mu1 != *mu2) {
      reading.warn(gazebo.child("mu2"), "gazebo.mu",
                   fmt::format("friction is the same in all directions: for link '{}' the mean of mu1 = {:g} and mu2 = "
                               "{:g} is taken",
                               link.name, *mu1, *mu2));
    }
  } else if (mu1 || mu2 || mu) {
    link.friction = mu1 ? mu1 : mu2 ? mu2 : mu;
  }
}

// Reads a <gazebo reference="…"> that names a link. Of several about one link, the last one that says something counts.
void read_about_link(const XmlElement& gazebo, UrdfLink& link, UrdfReading& reading) {
  read_friction(gazebo, link, reading);
  for (const XmlElement& child : gazebo.children()) {
    const std::string_view name = child.name();
    if (is_one_of(name, {"mu", "mu1", "mu2", "visual", "laserRetro", "laser_retro", "visualize"})) continue;
    if (name == "material") {
      // Anything but a plain colour is a script of Gazebo's, for the eye only.
      if (const NamedColor* color = gazebo_color(child.text())) link.paint = color->rgba;
    } else if (name == "selfCollide" || name == "self_collide") {
      // Links do collide here unless LoadOptions::self_collision says otherwise: true only permits it, false forbids it.
      if (says_something(child, reading)) link.self_collide = gazebo_flag(child, reading);
    } else if (name == "gravity" || name == "turnGravityOff") {
      if (says_something(child, reading) && gazebo_flag(child, reading) == (name == "turnGravityOff")) {
        reading.warn(child, "gazebo.gravity",
                     fmt::format("link '{}' is to feel no gravity, but all bodies do", link.name));
      }
    } else {
      warn_of_child(child, reading);
    }
  }
}

// Reads a <gazebo reference="…"> that names a joint: its spring, N·m/rad or N/m, and where that rests. Springs of
// joints that do not have one degree of freedom are left out.
void read_about_joint(const XmlElement& gazebo, UrdfJoint& joint, UrdfReading& reading) {
  for (const XmlElement& child : gazebo.children()) {
    const std::string_view name = child.name();
    // Springs and dampers are implicit here, and every link stays a body, whether or not one says so.
    if (is_one_of(name, {"implicitSpringDamper", "cfmDamping", "provideFeedback", "preserveFixedJoint",
                         "disableFixedJointLumping"})) {
      continue;
    }
    if (name != "springStiffness" && name != "springReference") {
      warn_of_child(child, reading);
    } else if (!says_something(child, reading)) {
      continue;
    } else if (!joint.has_one_dof()) {
      reading.warn(child, "gazebo.spring",
                   fmt::format("joint '{}' is {}: its spring is not used", joint.name, joint.kind()));
    } else if (name == "springStiffness") {
      joint.parts.front().stiffness = value_not_negative(child);
    } else {
      joint.parts.front().rest = urdf_value(child);
    }
  }
}

}  // namespace

void read_urdf_gazebo(const XmlElement& robot, UrdfRobot& parts, UrdfReading& reading) {
  for (const XmlElement& gazebo : robot.children("gazebo")) {
    for (const auto& [name, value] : gazebo.attributes()) {
      if (name == "reference") continue;
      reading.warn(gazebo, fmt::format("unknown.gazebo.{}", name),
                   fmt::format("attribute {} of <gazebo> is not known and was ignored", name));
    }
    // A <gazebo> without a reference is about the whole robot: plugins, mostly.
    const char* reference = gazebo.attribute("reference");
    if (!reference) {
      for (const XmlElement& child : gazebo.children()) warn_of_child(child, reading);
      continue;
    }
    const auto link = parts.link_index.find(reference);
    const auto joint = parts.joint_index.find(reference);
    if (link != parts.link_index.end()) {
      read_about_link(gazebo, parts.links[link->second], reading);
    } else if (joint != parts.joint_index.end()) {
      read_about_joint(gazebo, parts.joints[joint->second], reading);
    } else {
      reading.warn(gazebo, "gazebo.reference",
                   fmt::format("<gazebo> refers to '{}', which is neither a link nor a joint", shortened(reference)));
    }
  }
  // What was said about links is applied now, so that it holds for all shapes and visuals, whatever the order in the
  // file.
  for (UrdfLink& link : parts.links) {
    for (Shape& shape : link.shapes) shape.material.friction = link.friction.value_or(shape.material.friction);
    for (const int v : link.unpainted) link.visuals[v].color = link.paint.value_or(link.visuals[v].color);
  }
}

namespace {

// Whether a <mechanicalReduction> says anything but 1. It is not used, so a text that is no number is not worth an
// error.
bool reduces(const XmlElement& reduction) {
  return reduction && reduction.text() != "1" && reduction.text() != "1.0" && !reduction.text().empty();
}

// What the actuator of a transmission is called: by the name of its <actuator>, else by its own, else "".
std::string actuator_name(const XmlElement& transmission, UrdfReading& reading) {
  if (const XmlElement actuator = transmission.child("actuator")) {
    warn_of_unknown(actuator, "urdf", {"hardwareInterface", "mechanicalReduction", "role"}, {"name"}, reading.warnings);
    const char* name = actuator.attribute("name");
    if (name && *name) return name;
  }
  const char* name = transmission.attribute("name");
  return name ? name : "";
}

// Adds an actuator for one <joint> of a <transmission>. Its control is the effort at the joint, within the joint's
// effort limit; another interface than effort is warned about.
void add_actuator(const XmlElement& end, const std::string& actuator, const UrdfRobot& parts, NameSet& names,
                  std::vector<Actuator>& actuators, UrdfReading& reading) {
  warn_of_unknown(end, "urdf", {"hardwareInterface", "mechanicalReduction", "role"}, {"name"}, reading.warnings);
  const char* named = end.attribute("name");
  const std::string name = named ? named : "";
  const auto found = parts.joint_index.find(name);
  if (found == parts.joint_index.end()) {
    reading.warn(end, "transmission.joint",
                 fmt::format("<transmission> drives an unknown joint '{}'", shortened(name)));
    return;
  }
  const UrdfJoint& joint = parts.joints[found->second];
  if (!joint.has_one_dof()) {
    reading.warn(end, "transmission.joint",
                 fmt::format("<transmission> drives joint '{}', which is {}: it is not used", name, joint.kind()));
    return;
  }
  for (const XmlElement& interface : end.children("hardwareInterface")) {
    if (interface.text().find("Effort") != std::string_view::npos) continue;
    reading.warn(interface, "transmission.interface",
                 fmt::format("joint '{}' is driven by its effort, not by {}: add a motor for that", name,
                             shortened(interface.text())));
  }
  const double effort = joint.parts.front().effort_limit;
  actuators.push_back(
      {.name = names.unique(actuator.empty() ? name : actuator), .joint = name, .lower = -effort, .upper = effort});
}

}  // namespace

std::vector<Actuator> read_urdf_transmissions(const XmlElement& robot, const UrdfRobot& parts, UrdfReading& reading) {
  std::vector<Actuator> actuators;
  NameSet names;
  for (const XmlElement& transmission : robot.children("transmission")) {
    warn_of_unknown(transmission, "urdf", {"type", "joint", "actuator", "mechanicalReduction"}, {"name", "type"},
                    reading.warnings);
    // Files have the reduction in any of these places.
    for (const char* owner : {"", "actuator", "joint"}) {
      const XmlElement element = *owner ? transmission.child(owner) : transmission;
      const XmlElement reduction = element ? element.child("mechanicalReduction") : XmlElement();
      if (!reduces(reduction)) continue;
      reading.warn(reduction, "transmission.reduction",
                   "<mechanicalReduction> is not used: controls are efforts at the joint, behind the gears");
    }
    const std::string actuator = actuator_name(transmission, reading);
    for (const XmlElement& end : transmission.children("joint")) {
      add_actuator(end, actuator, parts, names, actuators, reading);
    }
  }
  return actuators;
}

}  // namespace lithe::internal
