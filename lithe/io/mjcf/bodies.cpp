#include <algorithm>

#include "lithe/core/internal/suggest.h"
#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/mjcf/parts.h"
#include "lithe/io/mjcf/poses.h"
#include "lithe/io/mjcf/rules.h"

namespace lithe::internal::mjcf {

namespace {

constexpr int kMostDofsOfABody = 6;
// Σ over all DoFs of the DoFs above them: what the model's tree takes to store.
constexpr std::int64_t kMostTreeEntries = 30'000'000;

constexpr AttributeRules kBodyRules = {
    "name childclass pos quat axisangle xyaxes zaxis euler mocap gravcomp user simple sleep fuse"};
constexpr AttributeRules kFrameRules = {"name childclass pos quat axisangle xyaxes zaxis euler"};

// Reads bodies with what they carry, depth first, so that they have the numbers that MuJoCo gives them.
class BodyReader {
 public:
  explicit BodyReader(Context& context) : context_(context), scene_(context.scene) {}

  // Reads the children of a <body>, of <worldbody>, or of a <frame> in one. `frame` is the pose in the body against
  // which the children's poses are written; `inherited_class` is the default class of children that name none.
  void read_children(const XmlElement& parent, int body, int inherited_class, const Pose& frame) {
    for (const XmlElement& child : context_.includes.children(parent)) {
      const std::string_view name = child.name();
      if (name == "body") {
        read_body(child, body, inherited_class, frame);
      } else if (name == "geom") {
        read_geom(context_, child, body, inherited_class, frame);
      } else if (name == "joint") {
        add_joint(body, read_joint(context_, child, inherited_class, frame));
      } else if (name == "freejoint") {
        add_joint(body, read_free_joint(context_, child));
      } else if (name == "site") {
        read_site(child, body, inherited_class, frame);
      } else if (name == "inertial") {
        read_inertial(child, body, frame);
      } else if (name == "frame") {
        read_frame(child, body, inherited_class, frame);
      } else if (name == "camera" || name == "light") {
        // Only to look with.
      } else if (name == "composite" || name == "flexcomp" || name == "attach" || name == "replicate" ||
                 name == "plugin") {
        // MuJoCo would make bodies and joints of these, so its numbers differ from here on.
        scene_.incomplete = true;
        context_.warnings.add(child.place(), fmt::format("mjcf.{}", name),
                              fmt::format("<{}> is not read: what it would add is missing; save the model with MuJoCo, "
                                          "which writes it out",
                                          name));
      } else {
        context_.warn_of_unknown(child, parent);
      }
    }
  }

 private:
  // Reads a <body>, first itself and then its children. Bodies in a <frame> hang on the body around the frame.
  void read_body(const XmlElement& element, int parent, int inherited_class, const Pose& frame) {
    check_attributes(element, kBodyRules, context_.warnings);
    const int limit = context_.resources.options().limits.bodies;
    if (static_cast<int>(scene_.bodies.size()) > limit)
      element.fail(fmt::format("there are more than {} bodies", limit));
    const Attributes attributes(element);
    const int index = static_cast<int>(scene_.bodies.size());
    BodyPart body;
    body.from = element;
    body.parent = parent;
    body.X_PB = frame * read_pose(attributes, context_.compiler, context_.warnings);
    body.X_WB = scene_.bodies[parent].X_WB * body.X_PB;
    if (const char* name = attributes.name()) {
      body.name = name;
      if (body.name == "world") element.fail("the name \"world\" is taken: choose another for this body");
      const auto [known, is_new] = scene_.body_index.emplace(name, index);
      if (!is_new) {
        element.fail(fmt::format("there are two bodies named \"{}\" (the first at line {})", name,
                                 scene_.bodies[known->second].from.line()));
      }
    }
    if (attributes.flag_or("mocap", false)) {
      context_.warnings.add(element.place(), "mjcf.body.mocap",
                            "mocap=\"true\": the body stays where the file puts it");
    }
    if (attributes.number_or("gravcomp", 0) != 0) {
      context_.warnings.add(element.place(), "mjcf.body.gravcomp",
                            "gravcomp is not honoured: nothing compensates gravity");
    }
    scene_.bodies.push_back(std::move(body));
    read_children(element, index, child_class(element, inherited_class), {});
  }

  // The default class for what is inside an element: its childclass, or the one from further out.
  int child_class(const XmlElement& element, int inherited) const {
    const char* name = element.attribute("childclass");
    return name ? context_.defaults.find(name, element.place()) : inherited;
  }

  // Reads a <frame>, which is no body: it moves the poses of its children, and is gone then.
  void read_frame(const XmlElement& element, int body, int inherited_class, const Pose& frame) {
    check_attributes(element, kFrameRules, context_.warnings);
    const Pose inner = frame * read_pose(Attributes(element), context_.compiler, context_.warnings);
    read_children(element, body, child_class(element, inherited_class), inner);
  }

  // Reads a <site>, which becomes a frame of the model.
  void read_site(const XmlElement& element, int body, int inherited_class, const Pose& frame) {
    check_attributes(element, kSiteRules, context_.warnings);
    const Attributes attributes = context_.defaults.attributes(element, Kind::site, inherited_class);
    SitePart site{.from = element, .name = {}, .body = body, .X_BS = {}};
    const std::optional<Segment> line = read_from_to(attributes);
    site.X_BS = frame * (line ? line->middle : read_pose(attributes, context_.compiler, context_.warnings));
    if (const char* name = attributes.name()) {
      site.name = name;
      if (!scene_.site_index.emplace(name, static_cast<int>(scene_.sites.size())).second) {
        element.fail(fmt::format("there are two sites named \"{}\"", name));
      }
    }
    scene_.sites.push_back(std::move(site));
  }

  // Notes the <inertial> of a body. Its numbers are read with those of the geoms, when the compiler's settings say
  // which of them count.
  void read_inertial(const XmlElement& element, int body, const Pose& frame) {
    if (body == 0) element.fail("<inertial> in <worldbody>: the world has no mass");
    if (scene_.bodies[body].inertial) element.fail("a body has one <inertial>, this is the second");
    const bool in_frame = frame.R != Mat3::Identity() || frame.p != Vec3::Zero();
    if (in_frame) element.fail("<inertial> stands in <body> itself, not in a <frame>");
    scene_.bodies[body].inertial = element;
  }

  // Adds a joint to a body, by MuJoCo's rules: a free joint is alone and on a child of the world, and a body has six
  // degrees of freedom at most.
  void add_joint(int index, JointPart joint) {
    const XmlElement from = joint.from;
    BodyPart& body = scene_.bodies[index];
    if (index == 0) from.fail("a joint in <worldbody>: the world does not move, put the joint into a <body>");
    const bool has_free =
        std::ranges::any_of(body.joints, [](const JointPart& j) { return j.type == JointPart::Type::free; });
    const bool is_free = joint.type == JointPart::Type::free;
    if (is_free && body.parent != 0) from.fail("a free joint belongs on a body directly in <worldbody>");
    if (has_free || (is_free && !body.joints.empty())) from.fail("a free joint must be the only joint of its body");
    int dofs = joint.dofs();
    for (const JointPart& other : body.joints) dofs += other.dofs();
    if (dofs > kMostDofsOfABody) from.fail(fmt::format("the body's joints have {} degrees of freedom; 6 is all", dofs));
    if (!joint.name.empty()) {
      const JointPlace place = {index, static_cast<int>(body.joints.size())};
      const auto [known, is_new] = scene_.joint_index.emplace(joint.name, place);
      if (!is_new) {
        from.fail(fmt::format("there are two joints named \"{}\" (the first at line {})", joint.name,
                              scene_.joint(known->second).from.line()));
      }
    }
    body.joints.push_back(std::move(joint));
  }

  Context& context_;
  Scene& scene_;
};

// Looks up what an attribute names; an unknown name is an error with those that may have been meant.
template <class Map>
typename Map::mapped_type find(const Map& index, const XmlElement& element, const char* attribute, const char* kind) {
  const std::string wanted = element.required_attribute(attribute);
  const auto found = index.find(wanted);
  if (found != index.end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& [name, value] : index) {
    if (name.size() < 100 && names.size() < 1000) names.push_back(name);
  }
  std::ranges::sort(names);
  const std::string_view shown = std::string_view(wanted).substr(0, 100);
  element.fail(
      fmt::format("<{}> names an unknown {} \"{}\"{}", element.name(), kind, shown, did_you_mean(shown, names)));
}

}  // namespace

void read_bodies(Context& context, const XmlElement& worldbody) {
  Scene& scene = context.scene;
  // There may be several <worldbody>, which are one.
  if (scene.bodies.empty()) {
    scene.bodies.push_back({.from = worldbody, .name = "world"});
    scene.body_index.emplace("world", 0);
  }
  check_attributes(worldbody, {"childclass name"}, context.warnings);
  const char* name = worldbody.attribute("childclass");
  const int inherited = name ? context.defaults.find(name, worldbody.place()) : Defaults::kMain;
  BodyReader(context).read_children(worldbody, 0, inherited, {});
}

void measure_tree(Scene& scene, int most_joints) {
  // Parents come before their children, so what is known of a parent can be used.
  std::vector<int> dofs_above(scene.bodies.size(), 0);
  std::int64_t entries = 0;
  int joints = 0;  // primitive ones: a free joint is four
  for (std::size_t b = 1; b < scene.bodies.size(); ++b) {
    BodyPart& body = scene.bodies[b];
    body.mover = body.joints.empty() ? scene.bodies[body.parent].mover : static_cast<int>(b);
    dofs_above[b] = dofs_above[body.parent];
    for (const JointPart& joint : body.joints) {
      dofs_above[b] += joint.dofs();
      entries += std::int64_t{joint.dofs()} * dofs_above[b];
      joints += joint.type == JointPart::Type::free ? 4 : 1;
    }
    if (joints > most_joints) body.from.fail(fmt::format("there are more than {} joints (LoadLimits)", most_joints));
    if (entries > kMostTreeEntries) body.from.fail("the tree of joints is too deep and wide to be simulated");
  }
}

int Scene::find_body(const XmlElement& element, const char* attribute) const {
  return find(body_index, element, attribute, "body");
}
int Scene::find_geom(const XmlElement& element, const char* attribute) const {
  return find(geom_index, element, attribute, "geom");
}
int Scene::find_site(const XmlElement& element, const char* attribute) const {
  return find(site_index, element, attribute, "site");
}
JointPlace Scene::find_joint(const XmlElement& element, const char* attribute) const {
  return find(joint_index, element, attribute, "joint");
}

void Context::warn_of_unknown(const XmlElement& element, const XmlElement& inside) {
  const std::string_view name = element.name().substr(0, 60);
  warnings.add(element.place(), fmt::format("mjcf.unknown.{}", name),
               fmt::format("<{}> in <{}> is not known and was ignored", name, inside.name()));
}

}  // namespace lithe::internal::mjcf
