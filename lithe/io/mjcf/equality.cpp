#include <unordered_map>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/mjcf/parts.h"
#include "lithe/io/mjcf/rules.h"

namespace lithe::internal::mjcf {

namespace {

constexpr int kLongestChain = 100;  // of joints that follow one another

// A joint that follows another one. Without a source it is held at its offset.
struct Follower {
  XmlElement from;
  std::string name;
  JointPlace joint;
  std::optional<JointPlace> source;
  double multiplier = 0, offset = 0;
};

// Reads the children of <equality>. Joints that follow others wait for finish(), so that circles can be found.
class EqualityReader {
 public:
  explicit EqualityReader(Context& context) : context_(context), scene_(context.scene) {}

  // Reads one equality. Kinds other than these three are left out, with a warning.
  void read(const XmlElement& element) {
    const std::string_view kind = element.name();
    if (kind != "connect" && kind != "weld" && kind != "joint") {
      context_.warnings.add(
          element.place(), fmt::format("mjcf.equality.{}", kind.substr(0, 60)),
          fmt::format("<{}> in <equality> is not read: known are connect, weld and joint", kind.substr(0, 60)));
      return;
    }
    check_attributes(element, kEqualityRules, context_.warnings);
    const Attributes attributes = context_.defaults.attributes(element, Kind::equality);
    // An equality that can be switched on during the simulation is nothing that a Model can hold.
    if (!attributes.flag_or("active", true)) {
      context_.warnings.add(element.place(), "mjcf.equality.active", "an equality that is not active is left out");
      return;
    }
    if (kind == "joint") {
      read_follower(attributes);
    } else {
      read_loop(attributes, kind == "weld" ? LoopClosure::Kind::weld : LoopClosure::Kind::ball);
    }
  }

  // To be called when all are read. Refuses circles and adds the mimics to the model. A joint without a source is made
  // to follow any other one with the multiplier 0, which holds it at its offset.
  void finish() {
    for (const Follower& follower : followers_) check_chain(follower);
    const std::optional<JointPlace> anything = free_source();
    for (const Follower& follower : followers_) {
      const std::optional<JointPlace> source = follower.source ? follower.source : anything;
      if (!source) {
        lock(follower);
        continue;
      }
      const Mimic mimic{.name = follower.name, .multiplier = follower.multiplier, .offset = follower.offset};
      scene_.follows[key(follower.joint)] = {*source, follower.multiplier, follower.offset};
      at_line(follower.from, [&] {
        context_.loaded.builder.add_mimic(scene_.joint(follower.joint).name, scene_.joint(*source).name, mimic);
      });
    }
  }

 private:
  // Loops and mimics get the name of their element, or one that says what they connect.
  std::string name_of(const Attributes& attributes, std::string_view otherwise) {
    const char* name = attributes.name();
    return names_.unique(name ? std::string(name) : std::string(otherwise));
  }

  // Reads <connect> and <weld>. The first holds a point of one body on a point of another, the second a frame on a
  // frame. The points and frames are two sites, or they follow from the pose of the file.
  void read_loop(const Attributes& attributes, LoopClosure::Kind kind) {
    const XmlElement& element = attributes.element();
    LoopClosure loop{.name = {}, .kind = kind};
    int a = 0, b = 0;
    if (attributes.has("site1") || attributes.has("site2")) {
      const SitePart& first = scene_.sites[scene_.find_site(element, "site1")];
      const SitePart& second = scene_.sites[scene_.find_site(element, "site2")];
      a = first.body;
      b = second.body;
      loop.placement_a = first.X_BS;
      loop.placement_b = second.X_BS;
    } else {
      a = scene_.find_body(element, "body1");
      b = attributes.has("body2") ? scene_.find_body(element, "body2") : 0;
      if (kind == LoopClosure::Kind::ball) {
        if (!attributes.has("anchor")) element.fail("<connect> needs an anchor, or two sites");
        place_connect(*attributes.vector3("anchor"), a, b, loop);
      } else {
        place_weld(attributes, a, b, loop);
      }
    }
    loop.name = name_of(attributes, fmt::format("{}_{}_{}", kind == LoopClosure::Kind::weld ? "weld" : "connect",
                                                scene_.bodies[a].name, scene_.bodies[b].name));
    // No joint lies between the two bodies, so nothing could move to close the loop.
    if (scene_.bodies[a].mover == scene_.bodies[b].mover) {
      context_.warnings.add(element.place(), "mjcf.equality.rigid",
                            fmt::format("<{}> between {} and {} is left out: no joint lies between them",
                                        element.name(), scene_.bodies[a].name, scene_.bodies[b].name));
      return;
    }
    at_line(element, [&] { context_.loaded.builder.add_loop(scene_.bodies[a].name, scene_.bodies[b].name, loop); });
  }

  // The anchor is a point of body 1; in the pose of the file it is also the point of body 2.
  void place_connect(const Vec3& anchor, int a, int b, LoopClosure& loop) const {
    loop.placement_a = Pose::translation(anchor);
    loop.placement_b = Pose::translation(scene_.bodies[b].X_WB.inverse() * (scene_.bodies[a].X_WB * anchor));
  }

  // Places a <weld> by bodies. `relpose` says where the anchor, a point of body 2, is in body 1, and how body 2 is
  // turned against it. Without it, or with a quaternion of zeros, the pose of the file counts.
  void place_weld(const Attributes& attributes, int a, int b, LoopClosure& loop) const {
    loop.placement_b = Pose::translation(attributes.vector3("anchor").value_or(Vec3::Zero()));
    loop.placement_a = scene_.bodies[a].X_WB.inverse() * scene_.bodies[b].X_WB * loop.placement_b;
    const std::optional<VecX> pose = attributes.numbers("relpose", 7, 7);
    if (!pose || pose->tail<4>().isZero(0)) return;
    loop.placement_a.p = pose->head<3>();
    loop.placement_a.R = rotation_from_wxyz(pose->tail<4>(), attributes.place(), context_.warnings);
  }

  // Reads a <joint>: q₁ = c₀ + c₁ q₂ + c₂ q₂² …, where both count from the pose of the file, as q does here. Only the
  // linear part is kept.
  void read_follower(const Attributes& attributes) {
    const XmlElement& element = attributes.element();
    const VecX c = attributes.filled("polycoef", (VecX(5) << 0, 1, 0, 0, 0).finished());
    Follower follower{.from = element,
                      .name = {},
                      .joint = scene_.find_joint(element, "joint1"),
                      .source = std::nullopt,
                      .multiplier = 0,
                      .offset = c[0]};
    if (attributes.has("joint2")) {
      follower.source = scene_.find_joint(element, "joint2");
      follower.multiplier = c[1];
      if (!c.tail(3).isZero(0)) {
        context_.warnings.add(element.place(), "mjcf.equality.polycoef",
                              "of polycoef only the first two numbers are honoured: a joint follows another linearly");
      }
      if (!scene_.joint(*follower.source).has_one_dof()) element.fail("joint2 must be a hinge or a slide");
    }
    if (!scene_.joint(follower.joint).has_one_dof()) element.fail("joint1 must be a hinge or a slide");
    if (scene_.joint(follower.joint).locked || (follower.source && scene_.joint(*follower.source).locked)) {
      context_.warnings.add(element.place(), "mjcf.equality.locked",
                            "an equality is left out: one of its joints moves no mass and is locked");
      return;
    }
    follower.name = name_of(attributes, scene_.joint(follower.joint).name + "_follows");
    const auto [known, is_new] = follower_of_.emplace(key(follower.joint), static_cast<int>(followers_.size()));
    if (!is_new) {
      context_.warnings.add(element.place(), "mjcf.equality.second",
                            fmt::format("joint {} follows another joint already (line {}); this one is left out",
                                        scene_.joint(follower.joint).name, followers_[known->second].from.line()));
      return;
    }
    followers_.push_back(std::move(follower));
  }

  // Refuses a chain that comes back to its first joint, and one that is too long. The message shows the way.
  void check_chain(const Follower& first) {
    std::string way = scene_.joint(first.joint).name;
    const Follower* at = &first;
    for (int i = 0; at && at->source; ++i) {
      if (i == kLongestChain) first.from.fail(fmt::format("more than {} joints follow one another", kLongestChain));
      if (way.size() < 1000) way += " → " + scene_.joint(*at->source).name;
      if (key(*at->source) == key(first.joint)) first.from.fail("a joint would follow itself: " + way);
      const auto next = follower_of_.find(key(*at->source));
      at = next == follower_of_.end() ? nullptr : &followers_[next->second];
    }
  }

  // Any joint that follows nothing: a joint that is to be held can follow it with the multiplier 0.
  std::optional<JointPlace> free_source() const {
    for (std::size_t b = 1; b < scene_.bodies.size(); ++b) {
      for (std::size_t j = 0; j < scene_.bodies[b].joints.size(); ++j) {
        const JointPlace place = {static_cast<int>(b), static_cast<int>(j)};
        const JointPart& joint = scene_.bodies[b].joints[j];
        if (joint.has_one_dof() && !joint.locked && !follower_of_.contains(key(place))) return place;
      }
    }
    return std::nullopt;
  }

  // Holds a joint by its limits, where there is no joint that it could follow.
  void lock(const Follower& follower) {
    Joint& joint = scene_.joint(follower.joint).properties;
    joint.lower = joint.upper = follower.offset;
  }

  Context& context_;
  Scene& scene_;
  NameSet names_;
  std::vector<Follower> followers_;
  std::unordered_map<std::int64_t, int> follower_of_;
};

}  // namespace

void read_equality(Context& context, const std::vector<XmlElement>& sections) {
  if (!context.physics.equality) return;
  EqualityReader reader(context);
  for (const XmlElement& section : sections) {
    for (const XmlElement& element : context.includes.children(section)) reader.read(element);
  }
  reader.finish();
}

}  // namespace lithe::internal::mjcf
