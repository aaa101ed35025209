#include "lithe/model/model_builder.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/core/suggest.h"
#include "lithe/model/validation.h"

namespace lithe {

namespace {

constexpr std::string_view kWorld = "world";

void check_unique(std::unordered_set<std::string_view>& seen, const std::string& name, const char* kind) {
  LITHE_CHECK(seen.insert(name).second, "there are two {} named '{}': names must be unique", kind, name);
}

}  // namespace

ModelBuilder& ModelBuilder::set_gravity(const Vec3& gravity) {
  gravity_ = validated_gravity(gravity);
  return *this;
}

ModelBuilder& ModelBuilder::add_body(std::string parent, Body body, JointList joints) {
  body = validated(std::move(body));
  LITHE_CHECK(body.name != kWorld, "a body cannot be named 'world': that name is taken");
  for (Joint& joint : joints) joint = validated(std::move(joint));
  bodies_.push_back({std::move(parent), std::move(body), std::move(joints)});
  return *this;
}

ModelBuilder& ModelBuilder::add_shape(std::string body, Shape shape) {
  shapes_.push_back({std::move(body), validated(std::move(shape))});
  return *this;
}

ModelBuilder& ModelBuilder::add_frame(std::string body, Frame frame) {
  frames_.push_back({std::move(body), validated(std::move(frame))});
  return *this;
}

ModelBuilder& ModelBuilder::set_collision(std::string body_a, std::string body_b, bool collide) {
  pairs_.push_back({std::move(body_a), std::move(body_b), collide});
  return *this;
}

ModelBuilder& ModelBuilder::add(const ModelBuilder& other, const std::string& prefix, const std::string& parent,
                                const Pose& placement) {
  const ModelBuilder source = other;  // `other` may be this very builder
  const auto renamed = [&](const std::string& name) { return name == kWorld ? parent : prefix + name; };
  for (PendingBody pending : source.bodies_) {
    if (pending.parent == kWorld) {
      Pose& first = pending.joints.empty() ? pending.body.placement : pending.joints.front().placement;
      first = placement * first;
    }
    pending.parent = renamed(pending.parent);
    pending.body.name = prefix + pending.body.name;
    for (Joint& joint : pending.joints) joint.name = prefix + joint.name;
    add_body(pending.parent, pending.body, pending.joints);
  }
  for (PendingShape pending : source.shapes_) {
    if (pending.body == kWorld) pending.shape.placement = placement * pending.shape.placement;
    pending.shape.name = prefix + pending.shape.name;
    add_shape(renamed(pending.body), pending.shape);
  }
  for (PendingFrame pending : source.frames_) {
    if (pending.body == kWorld) pending.frame.placement = placement * pending.frame.placement;
    pending.frame.name = prefix + pending.frame.name;
    add_frame(renamed(pending.body), pending.frame);
  }
  for (const PendingPair& pair : source.pairs_) set_collision(renamed(pair.a), renamed(pair.b), pair.collide);
  return *this;
}

std::vector<int> ModelBuilder::depth_first_order() const {
  std::unordered_map<std::string_view, int> index;
  std::vector<std::string_view> names = {kWorld};
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const std::string& name = bodies_[b].body.name;
    LITHE_CHECK(index.emplace(name, static_cast<int>(b)).second,
                "there are two bodies named '{}': names must be unique", name);
    names.push_back(name);
  }
  std::vector<std::vector<int>> children(bodies_.size() + 1);  // the last list is the world's
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const std::string& parent = bodies_[b].parent;
    const auto found = index.find(parent);
    LITHE_CHECK(parent == kWorld || found != index.end(), "body '{}' has an unknown parent '{}'{}",
                bodies_[b].body.name, parent, did_you_mean(parent, names));
    children[parent == kWorld ? bodies_.size() : static_cast<std::size_t>(found->second)].push_back(
        static_cast<int>(b));
  }
  std::vector<int> order;
  std::vector<char> reached(bodies_.size(), 0);
  std::vector<int> stack(children.back().rbegin(), children.back().rend());
  while (!stack.empty()) {
    const int b = stack.back();
    stack.pop_back();
    reached[b] = 1;
    order.push_back(b);
    stack.insert(stack.end(), children[b].rbegin(), children[b].rend());
  }
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (reached[b]) continue;
    // Its way up never meets the world, so it ends in a cycle: walk up often enough to stand in it, then once around.
    const auto parent_of = [&](std::size_t i) { return static_cast<std::size_t>(index.at(bodies_[i].parent)); };
    std::size_t at = b;
    for (std::size_t i = 0; i < bodies_.size(); ++i) at = parent_of(at);
    std::string cycle = bodies_[at].body.name;
    for (std::size_t i = parent_of(at); i != at; i = parent_of(i)) cycle += "' → '" + bodies_[i].body.name;
    LITHE_CHECK(false, "bodies form a cycle of parents: '{}' → '{}'", cycle, bodies_[at].body.name);
  }
  return order;
}

Model ModelBuilder::build() const {
  Model model;
  model.gravity_ = gravity_;
  model.bodies_.push_back({.name = std::string(kWorld)});

  std::unordered_map<std::string_view, BodyIndex> body_index = {{kWorld, Model::world()}};
  std::unordered_set<std::string_view> joint_names;
  int nq = 0;
  int nv = 0;
  for (const int b : depth_first_order()) {
    const PendingBody& pending = bodies_[b];
    const BodyIndex index(static_cast<int>(model.bodies_.size()));
    body_index.emplace(pending.body.name, index);
    Body body = pending.body;
    body.parent = body_index.at(pending.parent);
    body.joints.clear();
    for (Joint joint : pending.joints) {
      check_unique(joint_names, bodies_[b].joints[body.joints.size()].name, "joints");
      joint.body = index;
      joint.q_index = nq;
      joint.v_index = nv;
      nq += joint.nq();
      nv += joint.nv();
      body.joints.push_back(JointIndex(static_cast<int>(model.joints_.size())));
      model.joints_.push_back(std::move(joint));
    }
    model.bodies_.push_back(std::move(body));
  }
  check_joints_move_mass(model.bodies_, model.joints_);

  std::vector<std::string_view> names;
  for (const Body& body : model.bodies_) names.push_back(body.name);
  const auto body_named = [&](const std::string& name, const std::string& owner) {
    const auto found = body_index.find(name);
    LITHE_CHECK(found != body_index.end(), "{} is on an unknown body '{}'{}", owner, name, did_you_mean(name, names));
    return found->second;
  };
  std::unordered_set<std::string_view> shape_names;
  for (const PendingShape& pending : shapes_) {
    check_unique(shape_names, pending.shape.name, "shapes");
    model.shapes_.push_back(pending.shape);
    model.shapes_.back().body = body_named(pending.body, "shape '" + pending.shape.name + "'");
  }
  std::unordered_set<std::string_view> frame_names;
  for (const PendingFrame& pending : frames_) {
    check_unique(frame_names, pending.frame.name, "frames");
    model.frames_.push_back(pending.frame);
    model.frames_.back().body = body_named(pending.body, "frame '" + pending.frame.name + "'");
  }
  for (const PendingPair& pair : pairs_) {
    const std::string owner = "the collision exception for '" + pair.a + "' and '" + pair.b + "'";
    model.pair_exceptions_.push_back({body_named(pair.a, owner), body_named(pair.b, owner), pair.collide});
  }

  model.tree_ = compile_tree(model.bodies_, model.joints_);
  return model;
}

}  // namespace lithe
