#include "lithe/io/internal/readers.h"
#include "lithe/io/load_limits.h"
#include "lithe/io/urdf/robot.h"

namespace lithe::internal {

namespace {

// Whether the text holds an expression ${…} or a command $(…) of xacro.
bool has_xacro(std::string_view text) {
  return text.find("${") != std::string_view::npos || text.find("$(") != std::string_view::npos;
}

// Refuses a file that xacro has still to expand: it would be read wrongly, and not just in part. Such a file shows by
// its elements or by expressions in values. The list takes the place of recursion and goes in the order of the file.
void refuse_xacro(const XmlElement& robot) {
  std::vector<XmlElement> stack = {robot};
  while (!stack.empty()) {
    const XmlElement element = stack.back();
    stack.pop_back();
    bool found = element.name().starts_with("xacro:") || has_xacro(element.text());
    for (const auto& [name, value] : element.attributes()) {
      found = found || (has_xacro(value) && !name.starts_with("xmlns"));
    }
    if (found) {
      element.fail(
          fmt::format("<{}> is xacro, which is not URDF yet: run `xacro {} > robot.urdf` first and load the result",
                      element.name(), element.place().file));
    }
    const std::vector<XmlElement> children = element.children();
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
}

// Warns of children and attributes of <robot> that have no effect. Those named here are known to other programs; all
// others may be misspelt.
void warn_of_unused(const XmlElement& robot, UrdfReading& reading) {
  for (const XmlElement& child : robot.children()) {
    const std::string_view name = child.name();
    if (name == "link" || name == "joint" || name == "material" || name == "gazebo" || name == "transmission") continue;
    if (name == "ros2_control" || name == "sensor" || name == "mujoco") {
      reading.warn(child, name, fmt::format("<{}> is not used", name));
    } else {
      reading.warn(child, fmt::format("unknown.{}", name),
                   fmt::format("<{}> in <robot> is not known and was ignored", name));
    }
  }
  for (const auto& [name, value] : robot.attributes()) {
    if (name == "name" || name == "version" || name.starts_with("xmlns")) continue;
    reading.warn(robot, fmt::format("unknown.robot.{}", name),
                 fmt::format("attribute {} of <robot> is not known and was ignored", name));
  }
  if (!robot.attribute("name")) reading.warn(robot, "name", "<robot> has no name");
}

// Remembers where a part stands in its list; two of one name are an error at the second.
void index_name(const XmlElement& element, const std::string& name, std::size_t index,
                std::unordered_map<std::string, int>& names) {
  if (names.emplace(name, static_cast<int>(index)).second) return;
  element.fail(fmt::format("there are two {}s called '{}': rename one of them", element.name(), name));
}

// Reads all links and joints as they stand, each by itself. Who hangs on whom is found out by connect().
UrdfRobot read_parts(const XmlElement& robot, UrdfReading& reading) {
  UrdfRobot parts;
  const int most = reading.resources.options().limits.bodies;
  const std::vector<XmlElement> links = robot.children("link");
  if (static_cast<int>(links.size()) > most) {
    robot.fail(fmt::format("there are {} links; {} are allowed: {}", links.size(), most, raise_load_limit("bodies")));
  }
  for (const XmlElement& element : links) {
    parts.links.push_back(read_urdf_link(element, reading));
    index_name(element, parts.links.back().name, parts.links.size() - 1, parts.link_index);
  }
  for (const XmlElement& element : robot.children("joint")) {
    parts.joints.push_back(read_urdf_joint(element, reading));
    index_name(element, parts.joints.back().name, parts.joints.size() - 1, parts.joint_index);
  }
  return parts;
}

}  // namespace

LoadedModel read_urdf(const XmlElement& robot, Resources& resources, WarningList& warnings) {
  UrdfReading reading{.resources = resources, .warnings = warnings};
  refuse_xacro(robot);
  warn_of_unused(robot, reading);
  if (resources.options().visuals) read_urdf_colors(robot, reading);
  UrdfRobot parts = read_parts(robot, reading);
  // Locking needs the tree, to know what a joint moves; <gazebo> comes afterwards, for a locked joint has no use for a
  // spring.
  const int root = connect(robot, parts);
  lock_joints(parts, root, reading);
  read_urdf_gazebo(robot, parts, reading);

  LoadedModel loaded;
  const char* name = robot.attribute("name");
  loaded.name = name ? name : "";
  assemble(parts, root, loaded, reading);
  loaded.actuators = read_urdf_transmissions(robot, parts, reading);
  finish(loaded, robot.place());
  return loaded;
}

}  // namespace lithe::internal
