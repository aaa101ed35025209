#include <algorithm>
#include <utility>

#include "lithe/io/urdf/robot.h"

namespace lithe::internal {

namespace {

constexpr std::string_view kWorld = "world";
constexpr int kMostNamesShown = 8;  // of a cycle
constexpr int kMostDofs = 40'000;
constexpr long kMostAncestors = 20'000'000;  // of all DoFs together: what a model stores grows with them

// The link that the <parent> or <child> of a joint names (`role` says which).
int find_link(const XmlElement& joint, const char* role, const UrdfRobot& parts) {
  const XmlElement end = joint.required(role);
  const std::string name = end.required_attribute("link");
  const auto found = parts.link_index.find(name);
  if (found == parts.link_index.end()) {
    end.fail(fmt::format("joint '{}' has an unknown {} link '{}'{}", joint.required_attribute("name"), role, name,
                         urdf_suggestion(name, parts.link_index)));
  }
  return found->second;
}

// Fails because no root leads to `link`: its way up ends in a cycle. After as many steps upwards as there are links,
// one is in the cycle. The error is at the joint that closes it, which is the last one of them in the file.
[[noreturn]] void fail_at_cycle(const UrdfRobot& parts, int link) {
  const auto above = [&](int l) { return parts.joints[parts.links[l].parent_joint].parent; };
  for (std::size_t i = 0; i < parts.links.size(); ++i) link = above(link);
  int last = parts.links[link].parent_joint;
  for (int l = above(link); l != link; l = above(l)) last = std::max(last, parts.links[l].parent_joint);

  const UrdfJoint& joint = parts.joints[last];
  std::string names = parts.links[joint.child].name;
  int shown = 1;
  for (int l = joint.parent; l != joint.child; l = above(l)) {
    if (++shown <= kMostNamesShown) names += "' → '" + parts.links[l].name;
  }
  joint.element.fail(
      fmt::format("links form a cycle of {} parents: '{}' → {}'{}'; remove one of the joints (a URDF is a tree: "
                  "a closed chain cannot be written in it)",
                  shown, names, shown > kMostNamesShown ? "… → " : "", parts.links[joint.child].name));
}

// Whether the link, or something fixed to it, has an inertia.
bool is_rigidly_heavy(const UrdfRobot& parts, int link) {
  std::vector<int> stack = {link};
  while (!stack.empty()) {
    const UrdfLink& at = parts.links[stack.back()];
    stack.pop_back();
    if (has_inertia(at)) return true;
    for (const int j : at.child_joints) {
      if (parts.joints[j].parts.empty()) stack.push_back(parts.joints[j].child);
    }
  }
  return false;
}

// Refuses links that float without a mass: that of their limbs would not resist every motion.
void check_floating_links(const UrdfRobot& parts) {
  for (const UrdfJoint& joint : parts.joints) {
    if (joint.type != "floating" || joint.parts.empty() || is_rigidly_heavy(parts, joint.child)) continue;
    joint.element.fail(
        fmt::format("joint '{}' lets link '{}' float, but neither it nor what is fixed to it has a mass; "
                    "give it one",
                    joint.name, parts.links[joint.child].name));
  }
}

// Refuses trees that are too large. What a model stores grows with the sum, over all DoFs, of the number of DoFs on the
// way to the root.
void check_size(const UrdfRobot& parts, const std::vector<int>& order) {
  std::vector<int> depth(parts.links.size(), 0);  // in DoFs
  long dofs = 0, ancestors = 0;
  for (const int l : order) {
    const UrdfLink& link = parts.links[l];
    if (link.parent_joint < 0) continue;
    const UrdfJoint& joint = parts.joints[link.parent_joint];
    depth[l] = depth[joint.parent];
    for (const Joint& part : joint.parts) {
      dofs += part.nv();
      depth[l] += part.nv();
      ancestors += static_cast<long>(part.nv()) * depth[l];
    }
    if (dofs > kMostDofs || ancestors > kMostAncestors) {
      joint.element.fail(
          fmt::format("up to joint '{}' there are {} degrees of freedom, {} deep: that is too much for one "
                      "model; split the file",
                      joint.name, dofs, depth[l]));
    }
  }
}

// The names of all joints in the model. A joint that becomes several gives them names of their own ("root.x"), and an
// error tells where another joint has such a name already.
class JointNames {
 public:
  explicit JointNames(const UrdfRobot& parts) {
    for (const UrdfJoint& joint : parts.joints) {
      names_.insert(joint.name);
      for (const Joint& part : joint.parts) {
        if (part.name != joint.name && !names_.insert(part.name).second) fail(joint, part.name);
      }
    }
    for (const UrdfJoint& joint : parts.joints) {
      for (const Joint& part : joint.parts) {
        if (part.name != joint.name && parts.joint_index.contains(part.name)) fail(joint, part.name);
      }
    }
  }

  // The name of the joint by which a root floats: "root", or root_2, root_3 … where a joint of the file has such a
  // name.
  std::string root() const {
    const auto is_free = [&](const std::string& name) {
      return std::ranges::none_of(std::initializer_list<const char*>{"", ".x", ".y", ".z", ".ball"},
                                  [&](const char* part) { return names_.contains(name + part); });
    };
    std::string name = "root";
    for (int i = 2; !is_free(name); ++i) name = fmt::format("root_{}", i);
    return name;
  }

 private:
  [[noreturn]] static void fail(const UrdfJoint& joint, const std::string& name) {
    joint.element.fail(
        fmt::format("a part of the {} joint '{}' is called '{}', and another joint has that name: rename "
                    "one of them",
                    joint.type, joint.name, name));
  }
  std::unordered_set<std::string> names_;
};

// What a root carries, by which one can guess whether it is bolted down: the mass that is fixed to it, that of all
// links, and the number of joints by which the rest hangs on it.
struct BaseLoad {
  double fixed = 0, all = 0;
  int limbs = 0;
};

// Adds up what the root carries. Links on fixed joints are visited, and the first joint on each way that moves is a
// limb.
BaseLoad load_of(const UrdfRobot& parts, int root) {
  BaseLoad load;
  for (const UrdfLink& link : parts.links) load.all += link.body.inertia.mass;
  std::vector<int> stack = {root};
  while (!stack.empty()) {
    const UrdfLink& link = parts.links[stack.back()];
    stack.pop_back();
    load.fixed += link.body.inertia.mass;
    for (const int j : link.child_joints) {
      if (parts.joints[j].parts.empty()) {
        stack.push_back(parts.joints[j].child);
      } else {
        ++load.limbs;
      }
    }
  }
  return load;
}

// Whether a root floats where the file does not say it. A root that was given a mass floats, as it does in other
// simulators. One without a mass is a frame before the robot, and floats by what is fixed to it. But if there are no
// limbs it is scenery, and if its only limb outweighs what it stands on it is an arm whose pedestal is bolted down:
// these are fixed.
bool floats_by_itself(const UrdfLink& link, const BaseLoad& load, UrdfReading& reading) {
  const bool like_an_arm = load.limbs == 1 && load.all - load.fixed > load.fixed;
  const auto tell = [&](const std::string& what) { reading.warnings.note(link.element.place(), "urdf.base", what); };
  if (link.body.inertia.mass > 0) {
    if (like_an_arm) {
      tell(fmt::format(
          "the root link '{}' floats, for it has a mass of {:g} kg and nothing fixes it to the world; load it "
          "with a fixed base (--fixed-base) if it is an arm that is bolted down",
          link.name, link.body.inertia.mass));
    }
    return true;
  }
  if (!(load.fixed > 0)) return false;
  const bool floats = load.limbs > 0 && !like_an_arm;
  if (floats) {
    tell(fmt::format(
        "the root link '{}' has no mass and floats by the {:g} kg that are fixed to it; load it with a fixed "
        "base (--fixed-base) if it is bolted down",
        link.name, load.fixed));
  } else {
    tell(fmt::format(
        "the root link '{}' has no mass and is fixed to the world: {} the {:g} kg that are fixed to it; load it "
        "with a floating base (--floating-base) if it is not bolted down",
        link.name, like_an_arm ? "its one limb outweighs" : "nothing moves on", load.fixed));
  }
  return floats;
}

// The joints by which the root hangs on the world: none if it is fixed.
JointList root_joints(const UrdfRobot& parts, int root, const JointNames& names, UrdfReading& reading) {
  const UrdfLink& link = parts.links[root];
  const LoadOptions::Base base = reading.resources.options().base;
  const bool floats = base == LoadOptions::Base::automatic ? floats_by_itself(link, load_of(parts, root), reading)
                                                           : base == LoadOptions::Base::floating;
  if (!floats) return weld();
  if (!is_rigidly_heavy(parts, root)) {
    link.element.fail(
        fmt::format("the root link '{}' cannot float: neither it nor what is fixed to it has a mass; give it "
                    "one, or load with a fixed base",
                    link.name));
  }
  return free_joint(names.root());
}

// Adds the <mimic> of a joint. Where the other joint is not there, or has no position to follow, this one moves freely,
// as it does in Pinocchio and Gazebo.
void add_mimic(const UrdfJoint& joint, const UrdfRobot& parts, LoadedModel& loaded, UrdfReading& reading) {
  const XmlElement mimic = only_child(joint.element, "mimic", reading);
  if (!mimic || joint.locked) return;
  warn_of_unknown(mimic, "urdf", {}, {"joint", "multiplier", "offset"}, reading.warnings);
  if (joint.parts.empty()) {
    reading.warn(mimic, "fixed.mimic", fmt::format("joint '{}' is fixed: its <mimic> is not used", joint.name));
    return;
  }
  const std::string name = mimic.required_attribute("joint");
  if (!joint.has_one_dof()) {
    reading.warn(
        mimic, "mimic",
        fmt::format("joint '{}' is {} and moves freely: only one with one degree of freedom can follow another",
                    joint.name, joint.type));
    return;
  }
  const UrdfJoint* source = mimic_source(joint, parts);
  if (!source) {
    const auto known = parts.joint_index.find(name);
    const std::string suggestion = known == parts.joint_index.end() && !std::exchange(reading.suggested_mimic, true)
                                       ? urdf_suggestion(name, parts.joint_index)
                                       : "";
    reading.warn(mimic, "mimic",
                 known == parts.joint_index.end()
                     ? fmt::format("joint '{}' is to follow '{}', which is not there, and moves freely{}", joint.name,
                                   shortened(name), suggestion)
                     : fmt::format("joint '{}' is to follow '{}', which is {}, and moves freely", joint.name,
                                   shortened(name), parts.joints[known->second].type));
    return;
  }
  const Mimic properties{
      .name = joint.name, .multiplier = urdf_number(mimic, "multiplier", 1), .offset = urdf_number(mimic, "offset", 0)};
  at_line(mimic, [&] { loaded.builder.add_mimic(joint.name, source->name, properties); });
}

// Keeps links apart by Gazebo's selfCollide. There two links of a robot may touch if it is true for one of them, so a
// false separates a link from those that do not say true.
void separate_links(const UrdfRobot& parts, LoadedModel& loaded, UrdfReading& reading) {
  constexpr std::size_t kMostExemptPairs = 100'000;
  std::vector<const UrdfLink*> silent, apart;
  for (const UrdfLink& link : parts.links) {
    if (link.shapes.empty() || link.self_collide.value_or(false)) continue;
    (link.self_collide ? apart : silent).push_back(&link);
  }
  if (apart.size() * (silent.size() + apart.size()) > kMostExemptPairs) {
    reading.warn(apart.front()->element, "many_self_collide",
                 "selfCollide is false for so many links that it is not used");
    return;
  }
  for (std::size_t i = 0; i < apart.size(); ++i) {
    for (const UrdfLink* other : silent) loaded.builder.set_collision(apart[i]->name, other->name, false);
    for (std::size_t k = 0; k < i; ++k) loaded.builder.set_collision(apart[i]->name, apart[k]->name, false);
  }
}

}  // namespace

// Children are put on the stack in reverse, so that they come off it in the order of the file.
std::vector<int> depth_first(const UrdfRobot& parts, int root) {
  std::vector<int> order, stack = {root};
  while (!stack.empty()) {
    const int link = stack.back();
    stack.pop_back();
    order.push_back(link);
    const std::vector<int>& joints = parts.links[link].child_joints;
    for (auto j = joints.rbegin(); j != joints.rend(); ++j) stack.push_back(parts.joints[*j].child);
  }
  return order;
}

int connect(const XmlElement& robot, UrdfRobot& parts) {
  for (std::size_t j = 0; j < parts.joints.size(); ++j) {
    UrdfJoint& joint = parts.joints[j];
    joint.parent = find_link(joint.element, "parent", parts);
    joint.child = find_link(joint.element, "child", parts);
    UrdfLink& child = parts.links[joint.child];
    if (joint.parent == joint.child) {
      joint.element.fail(fmt::format("joint '{}' connects link '{}' with itself", joint.name, child.name));
    }
    if (child.parent_joint >= 0) {
      const UrdfJoint& first = parts.joints[child.parent_joint];
      joint.element.fail(
          fmt::format("link '{}' is already the child of joint '{}' (line {}): a link has one parent, and a "
                      "closed chain cannot be written in URDF",
                      child.name, first.name, first.element.line()));
    }
    child.parent_joint = static_cast<int>(j);
    parts.links[joint.parent].child_joints.push_back(static_cast<int>(j));
  }

  // A link without a parent is a root. If the only root does not reach every link, the others hang on one another in a
  // cycle.
  std::vector<int> roots;
  for (std::size_t l = 0; l < parts.links.size(); ++l) {
    if (parts.links[l].parent_joint < 0) roots.push_back(static_cast<int>(l));
  }
  if (parts.links.empty()) robot.fail("the robot has no <link>");
  if (roots.empty()) fail_at_cycle(parts, 0);
  if (roots.size() > 1) {
    const UrdfLink &first = parts.links[roots[0]], &second = parts.links[roots[1]];
    second.element.fail(
        fmt::format("links '{}' (line {}) and '{}' are both roots{}: a URDF is one tree; connect them by a "
                    "joint",
                    first.name, first.element.line(), second.name,
                    roots.size() > 2 ? fmt::format(", and {} more are", roots.size() - 2) : ""));
  }
  const std::vector<int> reached = depth_first(parts, roots[0]);
  if (reached.size() < parts.links.size()) {
    std::vector<char> is_reached(parts.links.size(), 0);
    for (const int link : reached) is_reached[link] = 1;
    fail_at_cycle(parts, static_cast<int>(std::ranges::find(is_reached, 0) - is_reached.begin()));
  }
  return roots[0];
}

void assemble(const UrdfRobot& parts, int root, LoadedModel& loaded, UrdfReading& reading) {
  const std::vector<int> order = depth_first(parts, root);
  check_size(parts, order);
  check_floating_links(parts);
  const JointNames names(parts);
  for (const int l : order) {
    const UrdfLink& link = parts.links[l];
    if (l != root && link.name == kWorld) {
      link.element.fail("a link called 'world' hangs on a joint; that name is the fixed world's: rename the link");
    }
    if (link.name == kWorld) {
      if (has_inertia(link)) {
        reading.warn(link.element, "world_inertia", "the link 'world' is the fixed world: its <inertial> is not used");
      }
    } else if (l == root) {
      const JointList joints = root_joints(parts, root, names, reading);
      at_line(link.element, [&] { loaded.builder.add_body(std::string(kWorld), link.body, joints); });
    } else {
      const UrdfJoint& joint = parts.joints[link.parent_joint];
      Body body = link.body;
      // A joint carries its placement itself; a weld leaves it to the body.
      if (joint.parts.empty()) body.placement = joint.origin;
      at_line(link.element, [&] { loaded.builder.add_body(parts.links[joint.parent].name, body, joint.parts); });
    }
    for (const Shape& shape : link.shapes) {
      at_line(link.element, [&] { loaded.builder.add_shape(link.name, shape); });
    }
    for (const Visual& visual : link.visuals) loaded.visuals.push_back(visual);
  }
  for (const UrdfJoint& joint : parts.joints) add_mimic(joint, parts, loaded, reading);
  separate_links(parts, loaded, reading);
}

}  // namespace lithe::internal
