#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/internal/readers.h"
#include "lithe/io/sdf/contents.h"
#include "lithe/io/sdf/joints.h"
#include "lithe/io/sdf/links.h"
#include "lithe/io/sdf/tree.h"
#include "lithe/io/sdf/world.h"
#include "lithe/spatial/rotation.h"

namespace lithe::internal {

namespace {

// A bound on the sum, over all degrees of freedom, of the number of those above: the trees' matrices store that many
// entries.
constexpr std::int64_t kMostPathEntries = 20'000'000;
// A bound on the pairs of links around joints that are looked at one by one; what is welded of so many parts is no
// robot.
constexpr int kMostJoinedPairs = 100'000;

// Makes a model of the parts: reads links and joints, chooses a tree among the joints, and hangs the bodies on it.
class Assembler {
 public:
  Assembler(SdfContext& context, const SdfContents& contents, LoadedModel& loaded)
      : context_(context), contents_(contents), loaded_(loaded) {}

  void assemble();
  // Puts the bodies that float where the file has them. The model must have been built.
  void set_state();

 private:
  void read_joints();
  void read_bodies();
  void build_graph();
  void check_masses() const;
  void check_size() const;
  void add_body(int node);
  void hang_by_joint(int node, Body body);
  void hang_on_world(int node, Body body);
  bool floats(int node) const;
  JointList free_joint_with_free_names(const std::string& body);
  void add_loops();
  void add_mimics();
  void check_mimic_chains() const;
  void add_frames();
  void settle_joined_links();
  void settle_across_joint(int node, const std::vector<int>& weld, const std::vector<std::vector<int>>& welded);
  bool is_solid(int node) const { return static_cast<bool>(link(node).element.child("collision")); }
  bool collides_with_itself(int a, int b) const;

  // Nodes of the graph: 0 is the world, then the links.
  const SdfContents::Link& link(int node) const { return contents_.links[static_cast<std::size_t>(node - 1)]; }
  int frame_of(int node) const { return node == 0 ? 0 : link(node).frame; }
  std::string name_of(int node) const { return node == 0 ? "world" : contents_.name_of(frame_of(node)); }
  const SdfSpanningTree::Hang& hang(int node) const { return tree_.hangs[static_cast<std::size_t>(node)]; }
  const SdfJoint& joint_of_edge(int edge) const {
    return joints_[static_cast<std::size_t>(joint_of_edge_[static_cast<std::size_t>(edge)])];
  }
  const XmlElement& element_of(const SdfJoint& joint) const { return contents_.frames[joint.frame].element; }

  SdfContext& context_;
  const SdfContents& contents_;
  LoadedModel& loaded_;
  std::vector<SdfJoint> joints_;  // as SdfContents::joints
  std::vector<Body> bodies_;      // as SdfContents::links
  std::vector<int> joint_of_edge_;
  SdfGraph graph_;
  SdfSpanningTree tree_;
  NameSet joint_names_;
  std::set<std::pair<int, int>> closed_;  // nodes that a joint outside the tree connects
  int joined_pairs_left_ = kMostJoinedPairs;
  bool single_ = false;                            // one body floats
  std::vector<std::pair<std::string, int>> free_;  // of each body that floats: its first joint's name, and its node
};

// The tree is checked before anything is built, and the names of free joints depend on how many bodies float.
void Assembler::assemble() {
  read_joints();
  read_bodies();
  build_graph();
  tree_ = spanning_tree(graph_);
  check_masses();
  check_size();
  int floating = 0;
  for (int node = 1; node < graph_.nodes; ++node) floating += floats(node) ? 1 : 0;
  single_ = floating == 1;
  for (int node = 1; node < graph_.nodes; ++node) add_body(node);
  add_loops();
  add_mimics();
  add_frames();
  forbid_self_collision(context_, contents_, loaded_);
  settle_joined_links();
}

// Reads all joints. One in a static model is left out, with a warning: its links are fixed to the world anyway.
void Assembler::read_joints() {
  for (const SdfContents::Joint& joint : contents_.joints) {
    joints_.push_back(read_sdf_joint(context_, contents_, joint));
    if (!joint.is_static) continue;
    joints_.back().in_use = false;
    context_.warnings.add(joint.element.place(), "sdf.static_joint",
                          "a joint in a static model cannot move: its links are fixed to the world");
  }
  for (const SdfJoint& joint : joints_) {
    for (const Joint& primitive : joint.joints) joint_names_.unique(primitive.name);
  }
}

void Assembler::read_bodies() {
  NameSet shapes, visuals;
  for (const SdfContents::Link& link : contents_.links) {
    bodies_.push_back(read_sdf_body(context_, contents_, link));
    add_sdf_surfaces(context_, contents_, link, loaded_, shapes, visuals);
  }
}

// Makes a graph of links and joints. The nodes of static models count as fixed to the world.
void Assembler::build_graph() {
  graph_.nodes = static_cast<int>(contents_.links.size()) + 1;
  graph_.fixed.assign(static_cast<std::size_t>(graph_.nodes), 0);
  std::vector<int> node_of_frame(static_cast<std::size_t>(contents_.frames.size()), 0);
  for (int node = 1; node < graph_.nodes; ++node) {
    node_of_frame[static_cast<std::size_t>(frame_of(node))] = node;
    graph_.fixed[static_cast<std::size_t>(node)] =
        contents_.models[static_cast<std::size_t>(link(node).model)].is_static ? 1 : 0;
  }
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const SdfJoint& joint = joints_[j];
    if (!joint.in_use) continue;
    graph_.edges.push_back({.parent = node_of_frame[static_cast<std::size_t>(joint.parent)],
                            .child = node_of_frame[static_cast<std::size_t>(joint.child)],
                            .rigid = joint.is_fixed(),
                            .closable = joint.is_fixed() || joint.is_ball()});
    joint_of_edge_.push_back(static_cast<int>(j));
  }
}

// Refuses joints that move no mass, whose acceleration would not be defined. The error is at the link, where it can be
// mended.
void Assembler::check_masses() const {
  std::vector<char> heavy(static_cast<std::size_t>(graph_.nodes), 0);
  for (auto node = tree_.order.rbegin(); node != tree_.order.rend(); ++node) {
    const auto n = static_cast<std::size_t>(*node);
    const SpatialInertia& inertia = bodies_[n - 1].inertia;
    if (inertia.mass > 0 || !inertia.rotational.isZero(0)) heavy[n] = 1;
    if (heavy[n]) heavy[static_cast<std::size_t>(hang(*node).parent)] = 1;
    if (heavy[n] || hang(*node).edge < 0 || joint_of_edge(hang(*node).edge).is_fixed()) continue;
    link(*node).element.fail(fmt::format("link {} and all that hangs on it has no mass, so joint {} moves nothing",
                                         name_of(*node), contents_.name_of(joint_of_edge(hang(*node).edge).frame)));
  }
}

// Refuses models with too many joints, or with too long chains of them. A body that hangs on nothing counts as if it
// floated.
void Assembler::check_size() const {
  std::vector<int> dofs(static_cast<std::size_t>(graph_.nodes), 0);
  std::int64_t entries = 0;
  int joints = 0;
  for (const int node : tree_.order) {
    int above = hang(node).edge < 0 ? 6 : dofs[static_cast<std::size_t>(hang(node).parent)];
    if (hang(node).edge >= 0) {
      for (const Joint& joint : joint_of_edge(hang(node).edge).joints) above += joint.nv();
    }
    dofs[static_cast<std::size_t>(node)] = above;
    joints += floats(node)          ? 4
              : hang(node).edge < 0 ? 0
                                    : static_cast<int>(joint_of_edge(hang(node).edge).joints.size());
    if (joints > context_.resources.options().limits.bodies) {
      link(node).element.fail("there are more joints than LoadLimits::bodies allows; a body that floats has four");
    }
    entries += above;
    if (entries > kMostPathEntries) link(node).element.fail("the joints form too long a chain for one robot; split it");
  }
}

void Assembler::add_body(int node) {
  Body body = bodies_[static_cast<std::size_t>(node - 1)];
  if (hang(node).edge >= 0) {
    hang_by_joint(node, std::move(body));
  } else {
    hang_on_world(node, std::move(body));
  }
}

// Hangs a body on its parent: from the parent to the joint's frame J, along the motion, and from there to the body. A
// joint that is turned round goes the same way from the other end.
void Assembler::hang_by_joint(int node, Body body) {
  const SdfJoint& joint = joint_of_edge(hang(node).edge);
  const int parent = hang(node).parent;
  const Pose X_PJ = contents_.frames.pose_in(frame_of(parent), joint.frame);
  const Pose X_JB = contents_.frames.pose_in(joint.frame, frame_of(node));
  JointList joints = hang(node).reversed ? reversed(joint.joints) : joint.joints;
  if (joints.empty()) {
    body.placement = X_PJ * X_JB;
  } else {
    joints.front().placement = X_PJ;
    body.placement = X_JB;
  }
  loaded_.builder.add_body(name_of(parent), std::move(body), std::move(joints));
}

// Whether a body that hangs on no joint floats. In a static model it is fixed where it is; elsewhere it floats, unless
// it has no mass or the options say otherwise.
bool Assembler::floats(int node) const {
  using Base = LoadOptions::Base;
  if (hang(node).edge >= 0 || graph_.fixed[static_cast<std::size_t>(node)]) return false;
  const Base base = context_.resources.options().base;
  return base == Base::floating ||
         (base == Base::automatic && bodies_[static_cast<std::size_t>(node - 1)].inertia.mass > 0);
}

// The joints by which a body floats. They are called root.x … where one body floats, as in all formats; where there are
// several, each has its body's name. A number follows where a joint of the file has such a name.
JointList Assembler::free_joint_with_free_names(const std::string& body) {
  const std::string wanted = single_ ? "root" : body;
  for (int number = 1;; ++number) {
    JointList joints = free_joint(number == 1 ? wanted : fmt::format("{}_{}", wanted, number));
    const auto is_taken = [&](const Joint& joint) { return joint_names_.contains(joint.name); };
    if (std::any_of(joints.begin(), joints.end(), is_taken)) continue;
    for (const Joint& joint : joints) joint_names_.unique(joint.name);
    return joints;
  }
}

// Hangs a body on the world: by free joints, or fixed at the pose that it has in the file.
void Assembler::hang_on_world(int node, Body body) {
  if (!floats(node)) {
    body.placement = contents_.frames.pose_in(0, frame_of(node));
    loaded_.builder.add_body("world", std::move(body));
    return;
  }
  JointList joints = free_joint_with_free_names(body.name);
  free_.emplace_back(joints.front().name, node);
  loaded_.builder.add_body("world", std::move(body), std::move(joints));
}

// Makes loop closures of the joints that are not in the tree. One between parts that are rigidly connected anyway would
// only repeat what holds already, and is left out.
void Assembler::add_loops() {
  for (const int edge : tree_.redundant) {
    const SdfJoint& joint = joint_of_edge(edge);
    context_.warnings.add(element_of(joint).place(), "sdf.redundant_joint",
                          fmt::format("joint {} connects what is rigidly connected already, and is left out",
                                      contents_.name_of(joint.frame)));
  }
  for (const int edge : tree_.loops) {
    const SdfJoint& joint = joint_of_edge(edge);
    const SdfGraph::Edge& ends = graph_.edges[static_cast<std::size_t>(edge)];
    if (!graph_.edges[static_cast<std::size_t>(edge)].closable) {
      element_of(joint).fail(
          fmt::format("joint {} closes a loop; only a ball or a fixed joint can. Make it, or another joint of "
                      "the loop, type=\"ball\"",
                      contents_.name_of(joint.frame)));
    }
    loaded_.builder.add_loop(name_of(ends.parent), name_of(ends.child),
                             {.name = contents_.name_of(joint.frame),
                              .kind = joint.is_ball() ? LoopClosure::Kind::ball : LoopClosure::Kind::weld,
                              .placement_a = contents_.frames.pose_in(frame_of(ends.parent), joint.frame),
                              .placement_b = contents_.frames.pose_in(frame_of(ends.child), joint.frame)});
    // What a joint connects does not collide, in the tree or not.
    loaded_.builder.set_collision(name_of(ends.parent), name_of(ends.child), false);
  }
}

// Lets joints follow others, as <mimic> says. Leaders are looked up now, when all joints have been read.
void Assembler::add_mimics() {
  check_mimic_chains();
  for (const SdfJoint& joint : joints_) {
    if (!joint.in_use) continue;
    for (const SdfJoint::Follows& follows : joint.follows) {
      const SdfJoint& leader = joints_[static_cast<std::size_t>(follows.leader)];
      const auto axis = static_cast<std::size_t>(follows.leader_axis);
      const bool has_axis = leader.in_use && axis < leader.joints.size() && !leader.is_ball();
      if (!has_axis) {
        throw LoadError(follows.place,
                        fmt::format("joint {} has no such axis to follow", contents_.name_of(leader.frame)));
      }
      loaded_.builder.add_mimic(follows.follower, leader.joints[axis].name, follows.mimic);
    }
  }
}

// Refuses joints that follow themselves by way of others, and chains that would take the builder long to check.
void Assembler::check_mimic_chains() const {
  const auto next = [&](const SdfJoint& joint, int axis) -> const SdfJoint::Follows* {
    const auto a = static_cast<std::size_t>(axis);
    if (a >= joint.joints.size()) return nullptr;
    for (const SdfJoint::Follows& follows : joint.follows) {
      if (follows.follower == joint.joints[a].name) return &follows;
    }
    return nullptr;
  };
  for (const SdfJoint& joint : joints_) {
    for (const SdfJoint::Follows& first : joint.follows) {
      const SdfJoint::Follows* at = &first;
      for (int length = 0; at; ++length) {
        const SdfJoint& leader = joints_[static_cast<std::size_t>(at->leader)];
        at = next(leader, at->leader_axis);
        if (at && (at->follower == first.follower || length >= kLongestMimicChain)) {
          throw LoadError(first.place, fmt::format("joint {} follows itself, or a chain of more than {} joints",
                                                   first.follower, kLongestMimicChain));
        }
      }
    }
  }
}

// Adds each <frame> to the body with which it moves.
void Assembler::add_frames() {
  for (const int frame : contents_.plain_frames) {
    const int link = contents_.frames.link_of(frame);
    loaded_.builder.add_frame(link == 0 ? "world" : contents_.name_of(link),
                              {.name = contents_.name_of(frame), .placement = contents_.frames.pose_in(link, frame)});
  }
}

// Whether the file lets two links of one model collide.
bool Assembler::collides_with_itself(int a, int b) const {
  const auto model_of = [&](int node) -> const SdfContents::Model& {
    return contents_.models[static_cast<std::size_t>(link(node).model)];
  };
  // A link that says nothing does as its model says.
  const auto speaks = [&](int node) {
    return child_flag(link(node).element, "self_collide", model_of(node).self_collide);
  };
  return model_of(a).top == model_of(b).top && (speaks(a) || speaks(b));
}

// Settles which links around joints collide. In SDF the two links of a joint never do. A Model leaves out a moving body
// and what moves on it, where bodies that are welded to one another count as one. The difference is settled here, pair
// by pair.
void Assembler::settle_joined_links() {
  // Per node: the innermost one of those to which it is welded, 0 if that is the world; and the other way round, the
  // solid nodes that are welded to each innermost one.
  std::vector<int> weld(static_cast<std::size_t>(graph_.nodes), 0);
  std::vector<std::vector<int>> welded(static_cast<std::size_t>(graph_.nodes));
  for (const int node : tree_.order) {
    const auto n = static_cast<std::size_t>(node);
    const int edge = hang(node).edge;
    const bool rigid = edge >= 0 && joint_of_edge(edge).is_fixed();
    weld[n] = rigid ? weld[static_cast<std::size_t>(hang(node).parent)] : edge >= 0 || floats(node) ? node : 0;
    if (is_solid(node)) welded[static_cast<std::size_t>(weld[n])].push_back(node);
  }
  for (const int edge : tree_.loops) {
    const SdfGraph::Edge& ends = graph_.edges[static_cast<std::size_t>(edge)];
    closed_.insert({std::min(ends.parent, ends.child), std::max(ends.parent, ends.child)});
  }
  for (const int node : tree_.order) {
    if (hang(node).edge >= 0 && !joint_of_edge(hang(node).edge).is_fixed()) settle_across_joint(node, weld, welded);
  }
}

// Settles the pairs across the joint by which a node hangs. `weld` and `welded` are as in settle_joined_links(). A
// joint on a part that is welded to the world is the other case: there a Model lets all pairs collide.
void Assembler::settle_across_joint(int node, const std::vector<int>& weld,
                                    const std::vector<std::vector<int>>& welded) {
  const int parent = hang(node).parent;
  if (parent == 0) return;
  const int inner = weld[static_cast<std::size_t>(parent)];
  if (inner == 0) {
    if (is_solid(parent) && is_solid(node)) {
      loaded_.builder.set_collision(name_of(parent), name_of(node), false);
    }
    return;
  }
  for (const int a : welded[static_cast<std::size_t>(inner)]) {
    for (const int b : welded[static_cast<std::size_t>(node)]) {
      if (--joined_pairs_left_ < 0) return;
      const bool joined = (a == parent && b == node) || closed_.contains({std::min(a, b), std::max(a, b)});
      if (joined || !collides_with_itself(a, b)) continue;
      loaded_.builder.set_collision(name_of(a), name_of(b), true);
    }
  }
}

// Joints are found by their names, since the builder has numbered them in an order of its own.
void Assembler::set_state() {
  std::unordered_map<std::string_view, int> q_index;
  for (const Joint& joint : loaded_.model.joints()) q_index.emplace(joint.name, joint.q_index);
  for (const auto& [joint, node] : free_) {
    const Pose X_WB = contents_.frames.pose_in(0, frame_of(node));
    const int q = q_index.at(joint);
    loaded_.q.segment<3>(q) = X_WB.p;
    loaded_.q.segment<4>(q + 3) = quaternion_from_rotation(X_WB.R);
  }
}

}  // namespace

LoadedModel read_sdf(const XmlElement& sdf, Resources& resources, WarningList& warnings) {
  SdfContext context{
      .resources = resources, .warnings = warnings, .elements_left = resources.options().limits.elements};
  const SdfContents contents = collect_sdf(context, sdf);
  LoadedModel loaded;
  loaded.name = contents.name;
  if (contents.world) read_sdf_world(context, contents.world, loaded);
  Assembler assembler(context, contents, loaded);
  try {
    assembler.assemble();
  } catch (const LoadError&) {
    throw;
  } catch (const Error& error) {
    sdf.fail(error.what());
  }
  finish(loaded, sdf.place());
  assembler.set_state();
  return loaded;
}

}  // namespace lithe::internal
