#include "lithe/io/urdf/robot.h"

namespace lithe::internal {

namespace {

// Reads <inertial>: the mass, kg, and the inertia about the centre of mass, kg·m², in the axes of its <origin>, which
// lies in the centre of mass. Products of inertia that are absent are 0; mass and moments must be there.
void read_inertial(const XmlElement& inertial, Body& body, UrdfReading& reading) {
  warn_of_unknown(inertial, "urdf", {"origin", "mass", "inertia"}, {}, reading.warnings);
  const XmlElement mass = only_child(inertial, "mass", reading);
  const XmlElement inertia = only_child(inertial, "inertia", reading);
  if (!mass) inertial.fail(fmt::format("<inertial> of link '{}' needs a <mass value=\"…\"/>", body.name));
  if (!inertia) inertial.fail(fmt::format("<inertial> of link '{}' needs an <inertia ixx=\"…\" …/>", body.name));
  warn_of_unknown(mass, "urdf", {}, {"value"}, reading.warnings);
  warn_of_unknown(inertia, "urdf", {}, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}, reading.warnings);

  const double ixx = urdf_number(inertia, "ixx"), iyy = urdf_number(inertia, "iyy"), izz = urdf_number(inertia, "izz");
  const double ixy = urdf_number(inertia, "ixy", 0), ixz = urdf_number(inertia, "ixz", 0);
  const double iyz = urdf_number(inertia, "iyz", 0);
  Mat3 about_centre;
  about_centre << ixx, ixy, ixz,  //
      ixy, iyy, iyz,              //
      ixz, iyz, izz;
  const double kilograms = urdf_number(mass, "value");
  if (kilograms < 0)
    mass.fail(fmt::format("the mass of link '{}' is {:g} kg, but must not be negative", body.name, kilograms));
  set_inertia(body, kilograms, about_centre, read_urdf_origin(inertial, reading), inertia.place(), reading.warnings);
}

// Reads <contact>, PyBullet's surface properties, which many files carry. They hold for all shapes of the link.
// Stiffness and damping of contacts are warned about.
Material read_contact(const XmlElement& contact, UrdfReading& reading) {
  Material material;
  for (const XmlElement& child : contact.children()) {
    if (child.name() == "lateral_friction") {
      if (child.attribute("value")) material.friction = urdf_friction(child, reading);
    } else if (child.name() == "restitution") {
      material.restitution = urdf_number_not_negative(child, "value", 0);
      if (material.restitution > 1) {
        child.fail(fmt::format("the restitution is {:g}, but must lie between 0 and 1", material.restitution));
      }
    } else {
      reading.warn(child, fmt::format("contact.{}", child.name()),
                   fmt::format("<{}> has no counterpart: contacts here are rigid", child.name()));
    }
  }
  return material;
}

}  // namespace

UrdfLink read_urdf_link(const XmlElement& element, UrdfReading& reading) {
  warn_of_unknown(element, "urdf", {"inertial", "collision", "visual", "contact"}, {"name", "type"}, reading.warnings);
  UrdfLink link{.element = element, .name = element.required_attribute("name")};
  if (link.name.empty()) element.fail("a link has an empty name: give each one a name");
  link.body.name = link.name;
  if (const XmlElement inertial = only_child(element, "inertial", reading)) {
    read_inertial(inertial, link.body, reading);
  }
  // The material comes first, because every shape gets a copy of it.
  const XmlElement contact = only_child(element, "contact", reading);
  const Material material = contact ? read_contact(contact, reading) : Material{};
  for (const XmlElement& collision : element.children("collision")) {
    read_urdf_collision(collision, material, link, reading);
  }
  if (!reading.resources.options().visuals) return link;
  for (const XmlElement& visual : element.children("visual")) read_urdf_visual(visual, link, reading);
  return link;
}

}  // namespace lithe::internal
